"""The scorer `genie` with several models in the grader role: a jury."""

import json
import math
import warnings
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.scorer import Score
from tests.scripted import (
    DOCUMENTS,
    OWL,
    Script,
    evaluated,
    grading,
    is_unscored,
    metadata,
    numbered,
    output,
    saying,
    scored,
    scores,
    small_population,
    values,
)

from genie_inspect.building.interviewing import left_out
from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import GenieWarning
from genie_inspect.graders.embedding_judge import NO_VECTOR
from genie_inspect.graders.instrument import Instrument
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.results import results_of
from genie_inspect.populations.reference_scores import (
    REFERENCE_SCORES,
    reference_scores_of,
    with_measured,
    write_reference_scores,
)
from genie_inspect.prompting.templates import unfenced
from genie_inspect.reports.summary import wide_rows
from genie_inspect.scorers.assessor import assessor_of
from genie_inspect.scorers.coherence import coherence
from genie_inspect.scorers.explanation import MOST_BYTES
from genie_inspect.scorers.genie import genie
from genie_inspect.signature import Signature

STORY = "A blue owl flew."


def rating(by_question: dict[str, int]) -> Script:
    """A grader that answers with the question and a word of the document, and rates each question in its own way."""
    return grading(
        answer=lambda document, question: f"{question} {document.split()[1]}",
        rating=lambda answer, other: next(
            (points for question, points in by_question.items() if answer.startswith(question)), 1
        ),
    )


def failing(request: str) -> ModelOutput:
    """What a provider says that has given up."""
    made = output("")
    made.error = "overloaded"
    return made


HAPPENS, ENDS, TONE = "What happens?", "How does it end?", "What is the tone?"
# plot has two questions, style one; novelty is 1 - (rating - 1) / 3: of 4 it is 0, of 3 1/3, of 2 2/3, of 1 it is 1
FIRST = {HAPPENS: 4, ENDS: 2, TONE: 3}  # plot (0 + 2/3) / 2 = 1/3, style 1/3
SECOND = {HAPPENS: 3, ENDS: 2, TONE: 3}  # plot (1/3 + 2/3) / 2 = 1/2, style 1/3
OPPOSED = {HAPPENS: 1, ENDS: 4, TONE: 1}  # plot (1 + 0) / 2 = 1/2, style 1


def named(script: Script, name: str) -> Model:
    return get_model(f"mockllm/{name}", custom_outputs=script, memoize=False)


def judged(folder: Path, *graders: Model) -> Score:
    population = small_population(folder / "population").folder
    return scored(genie(str(population), cache=False), saying(STORY), list(graders), folder)


def test_the_score_is_the_mean_over_the_graders_by_feature_and_keeps_each_graders_own(tmp_path: Path) -> None:
    score = judged(tmp_path, named(rating(FIRST), "one"), named(rating(SECOND), "two"), named(rating(OPPOSED), "three"))
    # plot (1/3 + 1/2 + 1/2) / 3 = 4/9, style (1/3 + 1/3 + 1) / 3 = 5/9
    assert score.value == {"plot": 0.444, "style": 0.556}
    graders = metadata(score)["graders"]
    assert {name: part["novelty"] for name, part in graders.items()} == {
        "mockllm/one": {"plot": 0.3333, "style": 0.3333},
        "mockllm/two": {"plot": 0.5, "style": 0.3333},
        "mockllm/three": {"plot": 0.5, "style": 1.0},
    }
    assert graders["mockllm/two"]["questions"] == {"plot": [0.3333, 0.6667], "style": [0.3333]}
    assert graders["mockllm/two"]["coverage"] == {"plot": "2/2", "style": "1/1"}
    assert graders["mockllm/two"]["pairs"] == {"plot": "6/6", "style": "3/3"}
    assert graders["mockllm/two"]["ratings"] == {"count": 9, "lowest": 2, "highest": 3}
    # of style there is one question: nothing to agree on
    assert metadata(score)["agreement"]["style"] is None
    assert metadata(score)["shown"] == "mockllm/one", "the first by name"
    assert metadata(score)["length"]["matched"] == pytest.approx({"plot": 4 / 9, "style": 5 / 9})
    assert metadata(score)["nearest_novelty"]["plot"] == pytest.approx(4 / 9, abs=1e-4)
    assert len(json.dumps(metadata(score)).encode()) <= MOST_BYTES


def test_what_one_grader_could_not_measure_has_no_jury_mean_and_each_graders_own_value_is_told(tmp_path: Path) -> None:
    score = judged(tmp_path, named(rating(FIRST), "one"), named(rating(OPPOSED), "two"), named(Script(failing), "down"))
    assert is_unscored(score)
    assert score.reason == "grader_failed"
    facts = metadata(score)
    assert facts["coverage"] == {"plot": "4/6", "style": "2/3"}
    assert facts["pairs"] == {"plot": "12/12", "style": "6/6"}
    assert facts["faults"] == {"grader failed": 3}
    assert facts["graders"]["mockllm/one"]["novelty"] == {"plot": 0.3333, "style": 0.3333}
    down = facts["graders"]["mockllm/down"]
    assert down["novelty"] == {"plot": None, "style": None}
    assert down["coverage"] == {"plot": "0/2", "style": "0/1"}
    assert down["faults"] == {"grader failed": 3}
    # the two that measured agree on nothing here, and the third takes no part
    assert facts["agreement"]["plot"] is not None
    assert facts["shown"] == "mockllm/one"
    said = score.explanation or ""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines() if line.startswith("| ")]
    assert rows[1][:2] == ["plot", "not measured"]
    assert ["feature", "mockllm/down", "mockllm/one", "mockllm/two", "alpha"] in rows
    assert ["style", "not measured", "0.333", "1.000", "not measured"] in rows
    assert "as mockllm/one read and rated them" in said


def silent_on_style(request: str) -> str | ModelOutput:
    data = unfenced(request)
    if "questions" in data:
        return numbered({n: "[not said]" if q == TONE else f"{q} bell" for n, q in data["questions"].items()})
    return rating(SECOND).reply(request)


def test_a_feature_that_one_grader_could_not_measure_has_no_mean_and_the_others_have(tmp_path: Path) -> None:
    score = judged(tmp_path, named(rating(FIRST), "one"), named(Script(silent_on_style), "two"))
    assert not math.isnan(values(score)["plot"])
    assert math.isnan(values(score)["style"])
    assert score.reason is None
    assert metadata(score)["graders"]["mockllm/one"]["novelty"]["style"] == 0.3333


def failing_on(story: str, by_question: dict[str, int]) -> Script:
    """A grader that cannot be reached for one story."""
    able = rating(by_question)
    return Script(lambda request: failing(request) if story in request else able.reply(request))


def test_a_jury_that_loses_one_grader_on_half_of_the_documents_keeps_its_mean_in_every_room(tmp_path: Path) -> None:
    population = str(small_population(tmp_path / "population").folder)
    stories = [f"A {colour} owl flew." for colour in ("blue", "green")]
    high, low = dict.fromkeys(FIRST, 1), dict.fromkeys(FIRST, 4)  # novelty 1 and 0
    whole = [named(rating(high), "one"), named(rating(low), "two")]
    half = [named(rating(high), "one"), named(failing_on("green", low), "two")]
    means = {}
    for name, graders in (("whole", whole), ("half", half)):
        log = evaluated(genie(population, cache=False), saying(*stories), graders, tmp_path / name, epochs=2)
        assert log.results
        (view,) = (score.metrics["mean"].value for score in log.results.scores if score.name == "plot")
        (row,) = wide_rows([log.location])
        results = results_of(read_scored_log(log.location), "genie")
        means[name] = (view, row["score_genie_plot"], results.mean("plot"))
    # of the story that "two" did not measure the mean was that of "one" alone: (1/2 + 1) / 2
    assert means["half"] == means["whole"] == (0.5, 0.5, 0.5)
    assert [grader.cells["plot"].values for grader in results.graders.values()] == [2, 1]
    lost = "grader mockllm/two did not measure every document that another grader did (plot 1 of 2, style 1 of 2): the "
    assert f"{lost}jury's means leave out the documents that it did not measure" in results.warnings


def refusing(request: str) -> str:
    return '{"attempt": "no"}'


def test_one_graders_refusal_leaves_no_mean_and_where_all_refuse_or_fail_that_is_the_reason(tmp_path: Path) -> None:
    one = judged(tmp_path / "one", named(rating(FIRST), "one"), named(Script(refusing), "two"))
    # not counted as a document that the model refused to write: one grader read it
    assert one.reason == "nothing to compare: refusal"
    assert metadata(one)["faults"] == {"refusal": 3}
    assert metadata(one)["graders"]["mockllm/one"]["novelty"] == {"plot": 0.3333, "style": 0.3333}
    for first, second, reason in (
        (refusing, refusing, "refusal"), (refusing, failing, "grader_failed"), (failing, failing, "grader_failed")
    ):  # fmt: skip
        score = judged(tmp_path / reason, named(Script(first), "one"), named(Script(second), "two"))
        assert is_unscored(score)
        assert score.reason == reason
        assert "mockllm/two" in metadata(score)["signature"]
    # of one that measured least, whatever the others lost
    able = grading()

    def leaving_out(request: str) -> str | ModelOutput:
        others = unfenced(request).get("others")
        return numbered(dict.fromkeys(list(others)[:-1], 2)) if others else able.reply(request)

    least = judged(tmp_path / "least", named(Script(leaving_out), "able"), named(Script(failing), "down"))
    assert (least.reason, metadata(least)["faults"]) == ("grader_failed", {"unreadable reply": 3, "grader failed": 3})


def test_the_signature_names_every_grader_whatever_their_order(tmp_path: Path) -> None:
    def signed(*names: str) -> dict[str, str]:
        score = judged(tmp_path / names[0], *(named(rating(FIRST), name) for name in names))
        return dict(Signature(metadata(score)["signature"]).facts)

    one, two = signed("one"), signed("two")
    both = {part: f"{one[part]}+{two[part]}" for part in ("judge", "reader")}
    assert signed("one", "two") == signed("two", "one") == one | both | {"version": "3-A"}


def test_each_grader_rates_what_it_has_read_itself(tmp_path: Path) -> None:
    one, two = rating(FIRST), grading(answer=lambda document, question: f"two says {document.split()[1]}")
    judged(tmp_path, named(one, "one"), named(two, "two"))
    compared = [data for data in two.data if "others" in data]
    assert compared
    assert all(data["answer"].startswith("two says") for data in compared)
    assert not any("two says" in request for request in one.requests)


def test_graders_of_one_name_and_other_arguments_are_told_apart_and_the_same_twice_is_refused(tmp_path: Path) -> None:
    cold, warm = (
        get_model("mockllm/one", custom_outputs=rating(FIRST), memoize=False, revision=revision) for revision in "ab"
    )
    graders = metadata(judged(tmp_path / "apart", cold, warm))["graders"]
    assert len(graders) == 2
    assert all(name.startswith("mockllm/one@") for name in graders)
    population = small_population(tmp_path / "again").folder
    twice = [named(rating(FIRST), "one"), named(rating(SECOND), "one")]
    with pytest.raises(AssertionError, match="named twice in the role"):
        evaluated(genie(str(population)), saying(STORY), twice, tmp_path)


def test_a_measure_of_one_grader_asks_the_first_and_says_so_and_genie_alone_says_nothing(tmp_path: Path) -> None:
    first, second = saying("Rating: 5"), saying("Rating: 1")
    models = [named(first, "first"), named(second, "second")]
    with pytest.warns(GenieWarning, match="role grader has 2 models: the measure genie asks each .* mockllm/first$"):
        log = evaluated(coherence(), saying(STORY), models, tmp_path)
    assert "mockllm/first@" in metadata(scores(log, "coherence")[0])["signature"]
    assert first.requests
    assert not second.requests
    with warnings.catch_warnings():
        warnings.simplefilter("error", GenieWarning)
        judged(tmp_path, named(rating(FIRST), "one"), named(rating(SECOND), "two"))


def test_a_reference_scores_by_a_jury_says_where_that_jurys_novelty_falls(tmp_path: Path) -> None:
    population = small_population(tmp_path / "population")
    models = [named(rating(FIRST), "one"), named(rating(SECOND), "two")]
    measured = anyio.run(left_out, assessor_of(population, Instrument("list", cache=False), models)).measured
    write_reference_scores(
        population.folder / REFERENCE_SCORES, with_measured(reference_scores_of(population.folder), measured)
    )
    log = evaluated(genie(str(population.folder), cache=False), saying(STORY), models, tmp_path)
    facts = metadata(scores(log)[0])
    assert facts["signature"] == measured.signature
    # these graders rate by question alone: every owl is as novel as the story, and of equal ones half count
    assert facts["standing"]["plot"]["percentile"] == 50
    assert facts["standing"]["plot"]["mean"] == pytest.approx(5 / 12, abs=1e-3)
    alone = metadata(
        scores(evaluated(genie(str(population.folder), cache=False), saying(STORY), models[0], tmp_path))[0]
    )
    assert "standing" not in alone


def test_the_grader_reads_once_a_document_and_embedding_judge(folder: Path, tmp_path: Path) -> None:
    # the same answer to every question is interchangeable; one that is unlike has a rating between 1 and 4
    script = grading(answer=lambda document, question: "an old clock" if "clock" in document else "a barn in snow")
    score = scored(genie(str(folder), judge="embedding"), saying("The owl in the barn."), script, tmp_path)
    assert len(script.requests) == 1 + len(DOCUMENTS[OWL])
    assert all("questions" in data for data in script.data)
    novelty = values(score)
    # two of three are equal: at most a third is new
    assert 0 < novelty["plot"] <= 1 / 3 + 1e-9
    assert "use it to screen, not to report" in str(score.explanation)
    assert metadata(score)["ratings"]["highest"] == 4
    assert Signature(metadata(score)["signature"]).facts["judge"].startswith(f"embedding({embedder().identity},fit=")
    assert Signature(metadata(score)["signature"]).facts["reader"].startswith("grader(mockllm/model@")


def test_answers_that_no_vector_stands_for_leave_the_document_unscored(folder: Path, tmp_path: Path) -> None:
    def answer(document: str, question: str) -> str:
        return "ⵣⵣ" if document == STORY else "a barn"

    score = scored(genie(str(folder), judge="embedding"), saying(STORY), grading(answer=answer), tmp_path)
    assert score.reason == f"nothing to compare: {NO_VECTOR}"
    assert is_unscored(score)


def test_several_wordings_of_one_grader_are_a_jury(tmp_path: Path) -> None:
    """The terse instruction makes it rate one higher: 2 instead of 1 is a novelty of 2/3 instead of 1."""
    usual, terse = rating({}), rating({HAPPENS: 2, ENDS: 2, TONE: 2})
    script = Script(lambda request: (terse if request.startswith("Rate how alike") else usual).reply(request))
    population = small_population(tmp_path / "population").folder
    scorer = genie(str(population), templates=["original", "terse"], cache=False)
    score = scored(scorer, saying(STORY), [named(script, "one")], tmp_path)
    assert values(score) == pytest.approx({"plot": (1 + 2 / 3) / 2, "style": (1 + 2 / 3) / 2}, abs=1e-3)
    graders = metadata(score)["graders"]
    assert {name: part["novelty"]["plot"] for name, part in graders.items()} == pytest.approx(
        {"mockllm/one (original)": 1, "mockllm/one (terse)": 2 / 3}, abs=1e-3
    )
    signature = Signature(metadata(score)["signature"])
    assert signature.facts["judge"].count("template=") == signature.facts["reader"].count("template=") == 2
    assert "mean over the 2 members of the jury" in str(score.explanation)
