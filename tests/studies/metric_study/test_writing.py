from collections.abc import Sequence

import pytest
from tests.scripted import DOCUMENTS, FEATURES, QUESTIONS, Script
from tests.scripted import OWL as WRITING_OWL
from tests.studies.metric_study.scripts import editing

from genie_inspect.graders.reader import GraderReader
from genie_inspect.populations.interventions import Edit, Original, Paraphrase, drawn
from genie_inspect.populations.schema import Document, Question, document_id, question_id
from genie_inspect.studies.metric_study.writing import (
    Editor,
    InterventionWriter,
    Material,
    Written,
    length_ratio,
    visible_fault,
    words_changed,
)

ASKED = tuple(
    Question(id=question_id(WRITING_OWL, text), prompt=WRITING_OWL, feature=name, text=text)
    for name, text in QUESTIONS[WRITING_OWL]
)
TEXT = DOCUMENTS[WRITING_OWL][0]
DOCUMENT = Document(id=document_id(WRITING_OWL, TEXT), prompt=WRITING_OWL, text=TEXT, model="openai/x")
ON_RECORD = {question.id: f"answer {place}" for place, question in enumerate(ASKED)}


async def written(script: Script, materials: Sequence[Material] | None = None, paraphrases: int = 2) -> Written:
    model = script.model()
    writer = InterventionWriter(Editor(model), GraderReader(model), FEATURES, "openai/editor", paraphrases)
    return await writer.write(materials or [Material(DOCUMENT, ASKED, ON_RECORD)])


async def test_each_document_is_edited_along_every_feature_and_paraphrased() -> None:
    result = await written(editing())
    original, plot, style, *again = result.texts
    assert original == Original(kind="original", id=DOCUMENT.id, prompt=WRITING_OWL, text=TEXT, writer="openai/x")
    assert isinstance(plot, Edit)
    assert isinstance(style, Edit)
    proposals = tuple(f"plot {number}" for number in range(1, 6))
    assert plot.alternatives == proposals
    assert plot.alternative == drawn(proposals, DOCUMENT.id, "plot", 0)
    assert plot.text == f"{TEXT} Now {plot.alternative}."
    assert [text.text for text in again if isinstance(text, Paraphrase)] == [f"{TEXT} Again 1.", f"{TEXT} Again 2."]
    assert {text.writer for text in (plot, style, *again)} == {"openai/editor"}
    assert result.rejected == []


async def test_who_proposes_sees_the_documents_own_answers_and_no_other_document() -> None:
    script = editing()
    await written(script)
    proposal = next(data for data in script.data if data.get("feature") == "plot" and "count" in data)
    assert proposal["reader"] == {"What happens?": "answer 0", "How does it end?": "answer 1"}
    assert proposal["definition"] == "What happens."
    edit = next(data for data in script.data if data.get("feature") == "plot" and "value" in data)
    assert edit["reader"] == proposal["reader"]
    everything = "\n".join(script.requests)
    assert not any(other in everything for other in DOCUMENTS[WRITING_OWL][1:])


async def test_what_nobody_has_read_is_read_once_and_what_a_document_does_not_say_is_told() -> None:
    script = editing(answer=lambda document, question: "[not said]" if "end" in question else "new")
    known = {ASKED[2].id: "grim"}
    await written(script, [Material(DOCUMENT, ASKED, known)])
    readings = [data["questions"] for data in script.data if "questions" in data]
    assert readings == [{"1": "What happens?", "2": "How does it end?"}]
    proposals = {data["feature"]: data["reader"] for data in script.data if "count" in data and "reader" in data}
    assert proposals["plot"] == {"What happens?": "new", "How does it end?": "the document does not say"}
    assert proposals["style"] == {"What is the tone?": "grim"}


async def test_what_is_no_edit_or_no_prose_is_rejected_with_the_reason() -> None:
    same_plot = editing(
        edit=lambda data: TEXT if data["feature"] == "plot" else f"{TEXT} 1. 2. 3.",
        verdict=lambda data: "no prose" if "1. 2." in data["changed"] else "keep",
    )
    result = await written(same_plot, paraphrases=0)
    assert [type(text) for text in result.texts] == [Original]
    assert result.reasons == {"plot: no edit": 1, "style: no prose": 1}
    assert [row.text for row in result.rejected] == [TEXT, f"{TEXT} 1. 2. 3."]
    # what can be seen costs no call
    assert sum("changed" in data for data in same_plot.data) == 1


async def test_a_verdict_that_cannot_be_read_keeps_nothing() -> None:
    result = await written(editing(verdict=lambda data: "perhaps"), paraphrases=1)
    assert result.reasons == {
        "plot: unreadable verdict": 1,
        "style: unreadable verdict": 1,
        "paraphrase: unreadable verdict": 1,
    }


async def test_an_editor_that_says_nothing_leaves_no_text_and_no_crash() -> None:
    silent = Script(lambda request: "")
    result = await written(silent, paraphrases=1)
    assert result.reasons == {
        "plot: no alternative proposed": 1,
        "style: no alternative proposed": 1,
        "paraphrase: no text in the reply": 1,
    }


async def test_a_paraphrase_that_comes_twice_counts_once() -> None:
    script = editing()
    constant = Script(lambda request: f"{TEXT} Same." if '"version"' in request else str(script.reply(request)))
    result = await written(constant, paraphrases=3)
    assert sum(isinstance(text, Paraphrase) for text in result.texts) == 1
    assert result.reasons == {"paraphrase: stands twice": 2}


async def test_progress_counts_documents() -> None:
    model = editing().model()
    told: list[int] = []
    writer = InterventionWriter(Editor(model), GraderReader(model), FEATURES[:1], "x", 0)
    documents = [Document(id=f"d{n}", prompt=WRITING_OWL, text=f"{TEXT} {n}") for n in range(20)]
    await writer.write([Material(document, ASKED, ON_RECORD) for document in documents], told.append)
    assert told == [16, 20]


OWL = "The old owl flew home over the barns at night."


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (f" {OWL} ", "no edit"),
        ("Owl home, at once.", "too short"),
        (OWL * 3, "too long"),
        ("...", "no_response"),
        ("I'm sorry, but I cannot help with that request.", "refusal"),
        ("The young owl flew home over the barns at night.", ""),
    ],
)
def test_what_is_no_edit_or_no_text_of_about_the_length_is_seen_without_a_model(changed: str, reason: str) -> None:
    assert visible_fault(OWL, changed) == reason


def test_half_and_twice_the_words_are_the_same_text_and_one_word_more_is_not() -> None:
    assert visible_fault("a b c d", "a x") == ""
    assert visible_fault("a b c d", "a b c d e f g x") == ""
    assert visible_fault("a b c d", "a b c d e f g x y") == "too long"
    assert visible_fault("a b c d e", "a x") == "too short"


def test_a_paraphrase_that_stands_there_already_is_none() -> None:
    assert visible_fault(OWL, "Home flew the owl that was old.", ["Home flew the  owl that was old."]) == "stands twice"


def test_words_changed_and_length_are_shares_of_words() -> None:
    assert words_changed(OWL, OWL) == 0
    assert words_changed("a b c d", "a b x d") == 0.25
    assert words_changed("a b", "x y z w") == 1
    assert length_ratio("a b c d", "a b c d e") == 1.25
