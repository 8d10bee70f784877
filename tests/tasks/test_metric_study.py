"""The task `metric_study`, run as a user runs it."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, get_model
from tests.critics import better, comparing
from tests.pairs import GREY, OWL_AGAIN, OWL_EDIT, RED, TEXTS, pairs
from tests.recorded import lines, recorded_starter
from tests.scripted import DOCUMENTS, OWL, Script, grading, scores, small_population
from tests.tasks.runs import run

from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.measures.compression import compression_ratio
from genie_inspect.populations.interventions import FOLDER, LEFT_OUT, Edit, LeftOut, Original
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import write_rows
from genie_inspect.providers.replay import RATINGS, READINGS
from genie_inspect.samples import InterventionFacts
from genie_inspect.scorers.cosine import cosine

OWN, OTHER, THIRD = DOCUMENTS[OWL]


def study(folder: Path, grader: Script | Model | None = None, **options: Any) -> EvalLog:
    options = {"population": str(folder / "population"), "pairs": str(folder / "pairs"), "judge": "none", **options}
    return run("metric_study", folder, grader=grader, task_args=options)


@pytest.fixture
def population(tmp_path: Path) -> Population:
    return small_population(tmp_path / "population")


def of_the_population(folder: Path) -> None:
    """An original that stands in the population, with an edit."""
    edit = Edit(kind="edit", id="i", original="d", feature="plot", alternative="rain", text="Grey owl over wet barns.")
    pairs(folder / "pairs", (Original(kind="original", id="d", prompt=OWL, text=OWN), edit))


@pytest.mark.usefixtures("population")
def test_every_text_is_a_sample_that_says_what_was_done_to_it(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    log = study(tmp_path, panel="cosine")
    facts = {str(sample.id): InterventionFacts.of(sample.metadata) for sample in log.samples or []}
    assert set(facts) == {"d-owl", "i-owl", "i-again", "d-fox", "i-fox"}
    assert facts["d-owl"] == InterventionFacts("original", "d-owl")
    assert facts["i-owl"] == InterventionFacts("edit", "d-owl", "plot", "a fire", GREY)
    assert facts["i-again"] == InterventionFacts("paraphrase", "d-owl", "", "", GREY)
    assert {s.id: s.output.completion for s in log.samples or []}["i-again"] == OWL_AGAIN
    assert (log.eval.metadata or {})["left_out"] == 0
    assert (log.eval.metadata or {})["edits"].startswith("pairs@")


def test_a_text_is_compared_neither_with_itself_nor_with_what_it_was_made_of(
    population: Population, tmp_path: Path
) -> None:
    of_the_population(tmp_path)
    log = study(tmp_path, grading(), judge="list", panel="cosine,creativity_index,expression_novelty")
    original, edit = log.samples or []
    own = next(document.id for document in population.documents(OWL) if document.text == OWN)
    first, *_ = sorted((d.id, d.text) for d in population.documents(OWL) if d.text != OWN)
    assert original.target == edit.target == first[1]
    for scorer in ("genie", "cosine", "creativity_index", "expression_novelty"):
        before, after = ((sample.scores or {})[scorer].metadata or {} for sample in (original, edit))
        assert (before["documents"], after["documents"]) == (2, 2), scorer
        assert (before["left_out"], before.get("made_of")) == ([own], None), scorer
        assert (after["left_out"], after["made_of"]) == ([], [own]), scorer
        note = "The text of which it was made is in the population"
        assert note in ((edit.scores or {})[scorer].explanation or ""), scorer


def test_a_corpus_of_the_population_is_without_the_original_too(population: Population, tmp_path: Path) -> None:
    # six words of the original stand in its edit, and nowhere else
    long = "Once an old owl went over the grey barns and never came back"
    folder = small_population(tmp_path / "long", {OWL: (long, OTHER, THIRD)}).folder
    edit = Edit(kind="edit", id="i", original="d", feature="plot", alternative="rain", text=f"{long} in rain")
    pairs(tmp_path / "pairs", (Original(kind="original", id="d", prompt=OWL, text=long), edit))
    log = study(tmp_path, population=str(folder), panel="creativity_index")
    values = [score.value["creativity_index_mean"] for score in scores(log, "creativity_index")]  # type: ignore[index,call-overload]  # a dict score
    assert values == [1, 1]


@pytest.mark.usefixtures("population")
def test_genie_is_taken_once_with_each_judge_by_answers_as_long_as_is_wanted(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    logs = [
        study(tmp_path, grading(), judge="list,embedding", **options) for options in ({}, {"answer_length": "free"})
    ]
    for name, judge in (("genie", "list"), ("genie1", "embedding")):
        concise, free = (scores(log, name)[0].metadata or {} for log in logs)
        assert concise["judge"].startswith(f"{judge}(")
        assert concise["signature"] != free["signature"], name


def counting(folder: Path) -> str:
    (folder / "mine.py").write_text(
        "from inspect_ai.scorer import Score, Scorer, mean, scorer\n\n\n"
        "@scorer(metrics=[mean()])\n"
        "def words(times: int = 1) -> Scorer:\n"
        "    async def score(state, target) -> Score:\n"
        "        return Score(value=times * len(state.output.completion.split()))\n\n"
        "    return score\n"
    )
    return f"{folder}/mine.py@words"


@pytest.mark.usefixtures("population")
def test_any_scorer_is_taken_by_its_name_with_its_options_and_what_inspect_shows_of_it_counts_the_originals(
    tmp_path: Path,
) -> None:
    pairs(tmp_path / "pairs")
    alone = study(tmp_path, scorer=counting(tmp_path))
    assert {"words", "document"} == set((alone.samples or [])[0].scores or {})
    named = {counting(tmp_path): {"times": 2}, "genie_inspect/cosine": {"population": str(tmp_path / "population")}}
    log = study(tmp_path, panel="compression", scorer=named)
    assert log.results
    assert {"compression", "words", "cosine", "document"} == set((log.samples or [])[0].scores or {})
    counts = {sample.id: (sample.scores or {})["words"].value for sample in log.samples or []}
    assert (counts["d-owl"], counts["i-owl"]) == (2 * len(GREY.split()), 2 * len(OWL_EDIT.split()))
    shown = {(score.scorer, score.name): score.metrics for score in log.results.scores}
    assert len(GREY.split()) != len(OWL_AGAIN.split())
    assert shown["words", "words"]["mean"].value == len(GREY.split()) + len(RED.split())
    by_text = {sample.id: (sample.scores or {})["cosine"].as_dict() for sample in log.samples or []}
    values = [float(by_text[name]["cosine_mean"] or 0) for name in ("d-owl", "d-fox")]
    assert shown["cosine", "cosine_mean"]["mean"].value == pytest.approx(sum(values) / 2)
    # two prompts: the standard error is half of their distance
    assert shown["cosine", "cosine_mean"]["stderr"].value == pytest.approx(abs(values[0] - values[1]) / 2)
    ratio = next(own["compression_ratio"].value for own in shown.values() if "compression_ratio" in own)
    assert ratio == compression_ratio([GREY, RED])


def test_ttcw_scores_each_text_beside_a_document_of_the_population_or_alone(
    population: Population, tmp_path: Path
) -> None:
    of_the_population(tmp_path)
    critic = comparing(better(1, "wet"))
    log = study(tmp_path, critic, panel="compression", scorer="genie_inspect/ttcw")
    totals = {sample.id: (sample.scores or {})["ttcw"].value["ttcw_total"] for sample in log.samples or []}  # type: ignore[index,call-overload]  # a dict score
    # the critic prefers the wet barns in both orders; the original beside another story is as good as that
    assert totals == {"d": 14, "i": 14}
    points = {s.id: ((s.scores or {})["ttcw"].metadata or {})["tests"] for s in log.samples or []}
    assert points["d"] != points["i"]


def test_an_old_study_is_scored_again_by_inspect_with_what_it_was_made_of_left_out(
    population: Population, tmp_path: Path
) -> None:
    of_the_population(tmp_path)
    log = study(tmp_path, panel="compression")
    (again,) = [score(log, cosine(str(population.folder)), action="append", display="none")]
    facts = [(sample.scores or {})["cosine"].metadata or {} for sample in again.samples or []]
    assert [fact["documents"] for fact in facts] == [2, 2]


@pytest.mark.usefixtures("population")
def test_what_a_check_left_out_is_not_scored_and_counted(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    write_rows(tmp_path / "pairs" / LEFT_OUT, [LeftOut(id="i-owl", reason="the new value is not there")])
    log = study(tmp_path, panel="cosine")
    assert "i-owl" not in {sample.id for sample in log.samples or []}
    assert (log.eval.metadata or {})["left_out"] == 1


@pytest.mark.usefixtures("population")
@pytest.mark.filterwarnings("ignore:.*without their original")
def test_a_study_of_nothing_is_one_line(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs", (TEXTS[0], TEXTS[4]))
    write_rows(tmp_path / "pairs" / LEFT_OUT, [LeftOut(id="i-owl", reason="no good")])
    with pytest.raises(PrerequisiteError, match="no usable edit or paraphrase: 1 are left out, 1 lack their original"):
        study(tmp_path, panel="cosine")


@pytest.mark.usefixtures("population")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge": "list,tarot"}, "judge is 'tarot', expected"),
        ({"judge": "none,list"}, "judge is 'none', expected alone"),
        ({"judge": "none"}, "judge is 'none', expected a judge, or measures in Genie's place"),
    ],
)
def test_a_wrong_option_is_one_line_before_anything_is_scored(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    pairs(tmp_path / "pairs")
    with pytest.raises((PrerequisiteError, AssertionError), match=message):
        study(tmp_path, **options)


def test_an_original_of_the_population_is_read_anew_by_whoever_reads_its_edits(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        own, *others = population.documents(OWL)
        happens, *rest = population.questions(OWL)
        edit = Edit(kind="edit", id="i", original=own.id, feature="plot", alternative="rain", text="Wet owl on barns.")
        folder = population.folder / FOLDER
        pairs(folder, (Original(kind="original", id=own.id, prompt=OWL, text=own.text), edit))
        read = {own.id: "an owl flies", edit.id: "an owl swims"}
        lines(
            folder / READINGS,
            [
                {"document": text, "question": question.id, "text": answer if question == happens else None}
                for text, answer in read.items()
                for question in (happens, *rest)
            ],
        )
        lines(
            folder / RATINGS,
            [{"question": happens.id, "answer": answer, "ratings": {"white": 2, "old": 1}} for answer in read.values()],
        )
        grader = get_model("bundled/grader", memoize=False)
        log = study(tmp_path, grader, population="starter", pairs="starter", judge="list")
        left_out = run("leave_one_out", tmp_path, grader=grader)
    facts = [score.metadata or {} for score in scores(log)]
    assert [each["questions"][0]["answer"] for each in facts] == ["an owl flies", "an owl swims"]
    assert [each["documents"] for each in facts] == [len(others)] * 2
    # where it stands among the others, and is one of them, it answers as on record
    recorded = next(sample for sample in left_out.samples or [] if sample.id == own.id)
    assert ((recorded.scores or {})["genie"].metadata or {})["questions"][0]["answer"] == "grey"
