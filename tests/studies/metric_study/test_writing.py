"""A model that edits, paraphrases, screens, reads and rates by what stands in a request."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.building.scripts import write_log
from tests.cli.called import genie
from tests.pairs import GREY, OWL_AGAIN, OWL_EDIT, TEXTS, pairs
from tests.scripted import DOCUMENTS, FEATURES, FOX, OWL, QUESTIONS, Data, Script, numbered, small_population

from genie_inspect.building.interviewing import no_progress
from genie_inspect.errors import GenieError, InterventionsError
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.reader import GraderReader
from genie_inspect.populations.interventions import Edit, Interventions, Original, Paraphrase, StudyText, drawn
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import AnswerRow, Document, Question, document_id, question_id, write_rows
from genie_inspect.prompting.templates import unfenced
from genie_inspect.studies.metric_study.checking import (
    CHECKS,
    CRITERIA,
    PAIRS_AT_ONCE,
    Checked,
    check_texts,
    faults,
    people_figures,
    read_table,
    write_tables,
)
from genie_inspect.studies.metric_study.writing import (
    Editor,
    Material,
    Rejected,
    materials,
    visible_fault,
    write_texts,
)


def editing(
    edit: Callable[[Data], str] = lambda data: f"{data['text']} Now {data['value']}.",
    verdict: Callable[[Data], str] = lambda data: "keep",
    value: Callable[[Data], str] = lambda data: "yes",
    answer: Callable[[str, str], str] = lambda document, question: f"{question} {document}"[:60],
) -> Script:
    """Edits by appending the new value, unless told otherwise."""

    def reply(request: str) -> str:
        data = unfenced(request)
        if "questions" in data:
            return numbered({number: answer(data["document"], asked) for number, asked in data["questions"].items()})
        if "others" in data:
            # 3 is the same general idea, and 2 another answer
            same = {number: 3 if data["answer"].startswith(other) else 2 for number, other in data["others"].items()}
            return numbered(same)
        if "changed" in data:
            return numbered({1: verdict(data)})
        if "version" in data:
            return f"{data['text']} Again {data['version']}."
        if "count" in data:
            return numbered({number: f"{data['feature']} {number}" for number in range(1, data["count"] + 1)})
        return edit(data) if "reader" in data else numbered({1: value(data)})

    return Script(reply)


ASKED = tuple(Question(id=question_id(OWL, text), prompt=OWL, feature=name, text=text) for name, text in QUESTIONS[OWL])
TEXT = DOCUMENTS[OWL][0]
DOCUMENT = Document(id=document_id(OWL, TEXT), prompt=OWL, text=TEXT, model="openai/x")
ON_RECORD = {question.id: f"answer {place}" for place, question in enumerate(ASKED)}


async def written(
    script: Script, materials: Sequence[Material] | None = None, paraphrases: int = 2
) -> tuple[list[StudyText], list[Rejected]]:
    model = script.model()
    given = materials or [(DOCUMENT, ASKED, ON_RECORD)]
    return await write_texts(Editor(model), GraderReader(model), given, FEATURES, paraphrases)


async def test_each_document_is_edited_along_every_feature_by_its_own_answers_alone_and_paraphrased() -> None:
    script = editing()
    (original, plot, style, *again), rejected = await written(script)
    assert original == Original(kind="original", id=DOCUMENT.id, prompt=OWL, text=TEXT, writer="openai/x")
    assert isinstance(plot, Edit)
    assert isinstance(style, Edit)
    proposals = tuple(f"plot {number}" for number in range(1, 6))
    assert plot.alternatives == proposals
    assert plot.alternative == drawn(proposals, DOCUMENT.id, "plot", 0)
    assert plot.text == f"{TEXT} Now {plot.alternative}."
    assert [text.text for text in again if isinstance(text, Paraphrase)] == [f"{TEXT} Again 1.", f"{TEXT} Again 2."]
    assert {text.writer for text in (plot, style, *again)} == {str(script.model())}
    assert rejected == []
    proposal, edit = (data for data in script.data if data.get("feature") == "plot")
    assert proposal["reader"] == edit["reader"] == {"What happens?": "answer 0", "How does it end?": "answer 1"}
    assert proposal["definition"] == "What happens."
    everything = "\n".join(script.requests)
    assert not any(other in everything for other in DOCUMENTS[OWL][1:])


async def test_what_nobody_has_read_is_read_once_and_what_a_document_does_not_say_is_told() -> None:
    script = editing(answer=lambda document, question: "[not said]" if "end" in question else "new")
    known = {ASKED[2].id: "grim"}
    await written(script, [(DOCUMENT, ASKED, known)])
    readings = [data["questions"] for data in script.data if "questions" in data]
    assert readings == [{"1": "What happens?", "2": "How does it end?"}]
    proposals = {data["feature"]: data["reader"] for data in script.data if "count" in data and "reader" in data}
    assert proposals["plot"] == {"What happens?": "new", "How does it end?": "the document does not say"}
    assert proposals["style"] == {"What is the tone?": "grim"}


def reasons(rejected: Sequence[Rejected]) -> list[str]:
    return [f"{row.feature or row.kind}: {row.reason}" for row in rejected]


async def test_what_is_no_edit_or_no_prose_is_rejected_with_the_reason() -> None:
    same_plot = editing(
        edit=lambda data: TEXT if data["feature"] == "plot" else f"{TEXT} 1. 2. 3.",
        verdict=lambda data: "no prose" if "1. 2." in data["changed"] else "keep",
    )
    texts, rejected = await written(same_plot, paraphrases=0)
    assert [type(text) for text in texts] == [Original]
    assert reasons(rejected) == ["plot: no edit", "style: no prose"]
    assert [row.text for row in rejected] == [TEXT, f"{TEXT} 1. 2. 3."]
    assert all(row.alternative for row in rejected)
    # what can be seen costs no call
    assert sum("changed" in data for data in same_plot.data) == 1


async def test_replies_that_cannot_be_read_keep_nothing() -> None:
    _, unclear = await written(editing(verdict=lambda data: "perhaps"), paraphrases=1)
    assert reasons(unclear) == [f"{what}: unreadable verdict" for what in ("plot", "style", "paraphrase")]
    _, silent = await written(Script(lambda request: ""), paraphrases=1)
    nothing = "no alternative proposed"
    assert reasons(silent) == [f"plot: {nothing}", f"style: {nothing}", "paraphrase: no text in the reply"]


async def test_a_paraphrase_that_comes_twice_counts_once() -> None:
    script = editing()
    constant = Script(lambda request: f"{TEXT} Same." if '"version"' in request else str(script.reply(request)))
    texts, rejected = await written(constant, paraphrases=3)
    assert sum(isinstance(text, Paraphrase) for text in texts) == 1
    assert reasons(rejected) == ["paraphrase: is there twice"] * 2


FLOWN = "The old owl flew home over the barns at night."


@pytest.mark.parametrize(
    ("original", "changed", "reason"),
    [
        (FLOWN, f" {FLOWN} ", "no edit"),
        (FLOWN, "...", "no_response"),
        (FLOWN, "I'm sorry, but I cannot help with that request.", "refusal"),
        (FLOWN, "The young owl flew home over the barns at night.", ""),
        # half and twice the words are the same text, and one word more is not
        ("a b c d", "a x", ""),
        ("a b c d e", "a x", "too short"),
        ("a b c d", "a b c d e f g x", ""),
        ("a b c d", "a b c d e f g x y", "too long"),
    ],
)
def test_what_is_no_edit_or_no_text_of_about_the_length_is_seen_without_a_model(
    original: str, changed: str, reason: str
) -> None:
    assert visible_fault(original, changed) == reason


ANSWERS = {
    (GREY, "What happens?"): "it sits",
    (GREY, "How does it end?"): "calm",
    (GREY, "What is the tone?"): "plain",
    (OWL_EDIT, "What happens?"): "it burns",
    (OWL_EDIT, "How does it end?"): "calm and quiet",
    (OWL_EDIT, "What is the tone?"): "grim",
    (OWL_AGAIN, "What is the tone?"): "solemn",
}


def by_table(document: str, question: str) -> str:
    return ANSWERS.get((document, question), ANSWERS.get((GREY, question), "the same"))


async def checked(script: Script, folder: Path, study: Interventions | None = None) -> dict[str, Checked]:
    model = script.model()
    population = small_population(folder / "population")
    reader, judge = Instrument("list", cache=False).reader_and_judge(model, FEATURES)
    rows = await check_texts(study or pairs(folder / "pairs"), population, reader, judge, Editor(model))
    return {row.id: row for row in rows}


async def test_an_edit_is_valid_effective_and_invasive_by_what_is_read_and_a_paraphrase_invasive_alone(
    tmp_path: Path,
) -> None:
    script = editing(answer=by_table)
    rows = await checked(script, tmp_path)
    edit = rows["i-owl"]
    # one of two answers about the plot is another, and the one about style
    assert (edit.kind, edit.feature, edit.valid, edit.effect, edit.invasiveness) == ("edit", "plot", True, 0.5, 1.0)
    assert (round(edit.words_changed, 3), round(edit.length_ratio, 3)) == (0.286, 1.0)
    again = rows["i-again"]  # all of its answers are held against the original's
    assert (again.valid, again.effect) == (None, None)
    assert again.invasiveness == pytest.approx(1 / 3)
    question = next(data for data in script.data if data.get("value") == "a fire")
    assert question == {"text": OWL_EDIT, "feature": "plot", "definition": "What happens.", "value": "a fire"}
    # a verdict that cannot be read is none
    assert (await checked(editing(value=lambda data: "maybe"), tmp_path / "b"))["i-owl"].valid is None
    assert (await checked(editing(value=lambda data: "no"), tmp_path / "c"))["i-owl"].valid is False


@pytest.mark.parametrize(
    ("edited", "original", "invasiveness"),
    [
        ("[not said]", "[not said]", 0),
        # what a text says and its original did not is another answer
        ("grim", "[not said]", 1),
        # not read
        ("", "same", None),
    ],
)
async def test_silence_on_both_sides_is_no_change_and_what_could_not_be_read_counts_nowhere(
    tmp_path: Path, edited: str, original: str, invasiveness: float | None
) -> None:
    tones = {OWL_EDIT: edited}
    script = editing(answer=lambda d, q: tones.get(d, original) if "tone" in q else "The  same.")
    row = (await checked(script, tmp_path))["i-owl"]
    assert (row.effect, row.invasiveness) == (0, invasiveness)
    # equal answers are not asked about
    assert not any("others" in data for data in script.data)


def row(**changes: object) -> Checked:
    seen = {"valid": True, "effect": 0.5, "invasiveness": 0.0, "words_changed": 0.2, "length_ratio": 1.0}
    return Checked.model_validate({"id": "i-owl", "kind": "edit", "feature": "plot", **seen, **changes})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"valid": None, "effect": None, "invasiveness": None}, ""),
        ({"valid": False}, "the new value is not there"),
        ({"effect": 0.0}, "no answer about the feature changed"),
        ({"invasiveness": 0.5}, ""),
        ({"invasiveness": 0.51}, "51% of the answers about other features changed, more than 50%"),
        ({"words_changed": 0.0}, "it says what its original says, word for word"),
        ({"feature": "", "effect": None, "invasiveness": 0.25}, ""),
        ({"feature": "", "invasiveness": 0.3}, "30% of the answers about any feature changed, more than 25%"),
    ],
)
def test_what_is_no_good_is_left_out_with_the_first_reason(changes: dict[str, object], reason: str) -> None:
    assert [left.reason for left in faults([row(**changes)], 0.5, 0.25)] == ([reason] if reason else [])


def filled(path: Path, **cells: tuple[str, str, str]) -> Path:
    """A table with what a person wrote for each edit, `i_owl` for i-owl."""
    rows = [(name.replace("_", "-"), *said) for name, said in cells.items()]
    path.write_text("\n".join([",".join(("id", *CRITERIA)), *map(",".join, rows)]) + "\n", encoding="utf-8")
    return path


def test_people_see_the_edits_in_an_order_that_the_seed_shuffles(tmp_path: Path) -> None:
    study = pairs(tmp_path / "pairs")
    orders = set()
    for seed in range(8):
        assert write_tables(tmp_path / f"{seed}.csv", study, seed) == 2
        written = (tmp_path / f"{seed}.csv").read_text()
        assert f"{GREY},{OWL_EDIT},plot,a fire,,,," in written
        orders.add(written.find("i-owl") < written.find("i-fox"))
    assert len(orders) == 2
    with pytest.raises(InterventionsError, match="has no edit that people could check"):
        write_tables(tmp_path / "t.csv", pairs(tmp_path / "a", (TEXTS[0], TEXTS[2])))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["i-owl,perhaps,,"], "row 2, column valid: 'perhaps', expected yes, no or nothing"),
        (["i-cat,yes,,"], "row 2: id 'i-cat' is not an edit of"),
        (["i-owl,yes,,", "i-owl,no,,"], "row 3: id 'i-owl' appears twice"),
    ],
)
def test_a_row_that_cannot_be_is_named(rows: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\n".join(["id,valid,effective,invasive", *rows]))
    with pytest.raises(InterventionsError, match=message):
        read_table(tmp_path / "t.csv", pairs(tmp_path / "pairs"))


def test_people_agree_by_criterion_and_with_the_check(tmp_path: Path) -> None:
    study = pairs(tmp_path / "pairs")
    ann = read_table(filled(tmp_path / "a.csv", i_owl=("yes", "No", "1"), i_fox=("n", "", "")), study)
    bob = read_table(filled(tmp_path / "b.csv", i_owl=("yes", "yes", "no")), study)
    cat = read_table(filled(tmp_path / "c.csv", i_owl=("y", "yes", "no")), study)
    assert ann == {"i-owl": {"valid": True, "effective": False, "invasive": True}, "i-fox": {"valid": False}}
    write_rows(tmp_path / "pairs" / CHECKS, [row(valid=False, invasiveness=0.6)])
    figures = {(row.pop("feature"), row.pop("criterion")): row for row in people_figures([ann, bob, cat], study, 0.5)}
    # of the others two of three say so: observed agreement 1/3, by chance 1/2; most say that it is not invasive, which
    # is good, and the check says it is
    assert [figures["plot", criterion] for criterion in CRITERIA] == [
        {"edits": 1, "good": 1, "kappa": 1, "agreement": 0},
        {"edits": 1, "good": 1, "kappa": pytest.approx(-1 / 3), "agreement": 1},
        {"edits": 1, "good": 1, "kappa": pytest.approx(-1 / 3), "agreement": 0},
    ]
    # a split vote is good for no criterion
    split = [{"i-owl": dict.fromkeys(CRITERIA, said)} for said in (True, False)]
    assert [row["good"] for row in people_figures(split, study, 0.5)][:3] == [0.0, 0.0, 0.0]
    nothing = pytest.approx(math.nan, nan_ok=True)
    assert figures["style", "valid"] == {"edits": 1, "good": 0, "kappa": nothing, "agreement": nothing}


async def test_an_original_is_read_once_however_many_texts_are_checked_against_it(tmp_path: Path) -> None:
    again = [
        Paraphrase(kind="paraphrase", id=f"i-{number}", original="d-owl", text=f"{OWL_AGAIN} {number}.")
        for number in range(PAIRS_AT_ONCE + 1)
    ]
    script = editing(answer=by_table)
    rows = await checked(script, tmp_path, pairs(tmp_path / "many", (TEXTS[0], *again)))
    assert list(rows) == [text.id for text in again]
    read = Counter(data["document"] for data in script.data if "questions" in data)
    assert read == Counter([GREY, *(text.text for text in again)])


@pytest.mark.parametrize(
    ("editor", "fault"),
    [
        ("bundled/grader", "--editor bundled/grader only replays recorded texts. Name a model that can edit"),
        ("nobody/x", "--editor: 'nobody/x' is not a model of Inspect"),
    ],
)
def test_who_cannot_edit_is_named_with_the_option(tmp_path: Path, editor: str, fault: str) -> None:
    small_population(tmp_path / "p")
    result = genie("edits", "write", tmp_path / "p", "-o", tmp_path / "out", "--editor", editor)
    assert result.exit_code
    assert fault in result.output
    assert not (tmp_path / "out.work").exists()


def test_one_way_of_checking_is_asked_for_at_a_time_and_of_questions_of_other_prompts_nothing(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    for options in ((), ("--grader", "openai/x"), ("--to", tmp_path / "a.csv", "--from", tmp_path / "a.csv")):
        result = genie("edits", "check", tmp_path / "pairs", *options)
        assert result.exit_code == 2
        assert "give one of --grader MODEL with --output FOLDER, --to TABLE, and --from TABLE" in result.output
    result = genie("edits", "check", tmp_path / "pairs", "-o", tmp_path / "out", "--grader", "bundled/grader")
    assert result.exit_code == 1
    assert "has no question for any prompt of" in result.output


def taken(folder: Path, source: object, asks: Population | None = None, limit: int | None = None) -> list[Material]:
    return materials([str(source)], asks, limit, folder, no_progress)


def test_a_population_gives_its_documents_with_its_questions_and_of_several_readers_the_first_one_s_answers(
    tmp_path: Path,
) -> None:
    given = [
        AnswerRow(document=DOCUMENT.id, question=ASKED[place].id, reader=reader, text=f"{reader} says")
        for reader, place in (("first", 0), ("second", 0), ("second", 1))
    ]
    population = small_population(tmp_path / "p", answers=given)
    found = taken(tmp_path, tmp_path / "p")
    assert sorted(document.text for document, *_ in found) == sorted(DOCUMENTS[OWL] + DOCUMENTS[FOX])
    assert list(found[0][1]) == list(population.questions(OWL))
    answers = {document.id: own for document, _, own in found if own}
    assert answers == {DOCUMENT.id: {ASKED[0].id: "first says", ASKED[1].id: "second says"}}
    # a limit takes the first documents of each prompt by their ids
    every = [document.id for document, *_ in found]
    limited = [document.id for document, *_ in taken(tmp_path, tmp_path / "p", limit=1)]
    assert limited == [min(every[:3]), min(every[3:])]


def test_documents_of_logs_need_a_population_whose_questions_are_asked(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", "a/one", {OWL: ["An owl went out at night and came home again."]})
    with pytest.raises(GenieError, match="documents of logs need --population"):
        taken(tmp_path, log)
    ((document, questions, answers),) = taken(tmp_path, log, small_population(tmp_path / "p"))
    assert document.text == "An owl went out at night and came home again."
    assert ([question.prompt for question in questions], answers) == ([OWL] * 3, {})
