"""The table of a summary, and where its means stand among the population's own documents."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie
from tests.recorded import TELLER, recorded_starter
from tests.reports.made_logs import made_log, scored
from tests.scripted import FOX, OWL, scores
from tests.tasks.runs import run

from genie_inspect.graders.protocols import SMOKE_TEST
from genie_inspect.logs.scores import scores_of
from genie_inspect.reports.page import page
from genie_inspect.reports.report import build_report


def called(*arguments: object, width: int = 80) -> str:
    result = genie(*arguments, columns=width)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_refusals_have_a_row_of_their_own_where_there_are_any(tmp_path: Path) -> None:
    told, refused = {"genie": scored({"plot": 0.5})}, {"genie": scored({"plot": math.nan}, reason="refusal")}
    assert "refused │ 2" in " ".join(called("summary", made_log(tmp_path / "a", [told, refused, refused])).split())
    assert "refused" not in called("summary", made_log(tmp_path / "b", [told]))


@pytest.mark.parametrize(("bias", "shown"), [(2.0, "+2.00 biased"), (0.0, "+0.00"), (-0.5, "-0.50 biased")])
def test_a_judges_preference_for_a_place_has_a_row_and_is_pointed_out(bias: float, shown: str, tmp_path: Path) -> None:
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, position_bias=bias)}])
    (row,) = (line for line in called("summary", log).splitlines() if "standing first" in line)
    assert row.rstrip(" │").endswith(shown)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("offline(static,anchors=starter)", SMOKE_TEST),
        ("embedding(static@1,fit=2,spearman=0.63,kendall=0.47)", "use it to screen, not to report"),
        ("embedding(static@1,fit=2,spearman=0.63,kendall=0.47)", "Spearman 0.63, Kendall's tau-b 0.47."),
    ],
)
def test_what_a_judge_without_a_model_is_worth_stands_here_too(judge: str, said: str, tmp_path: Path) -> None:
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, f"measure:genie|judge:{judge}|reader:x")}])
    assert said in " ".join(called("summary", log, width=200).split())
    assert said not in called("summary", made_log(tmp_path, [{"genie": scored({"plot": 0.5})}]), width=200)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_four_runs_keep_their_names_and_intervals_whole_in_any_width(width: int, tmp_path: Path) -> None:
    signature = "measure:genie|judge:list(provider/grader@0123456789ab)|population:starter-1@0123|version:0"
    labels = [f"provider/a-long-name-of-model-{number}" for number in range(4)]
    samples = [{"genie": scored({"plot": value}, signature, coverage={"plot": "3/4"})} for value in (0.2, 0.5, 0.6)]
    logs = [made_log(tmp_path, samples, model=label) for label in labels]
    text = called("summary", *logs, width=width)
    table = text[: text.rindex("version:0")].splitlines()
    assert all(sum(label in line for line in table) == 1 for label in labels)
    assert len(re.findall(r"0\.43 \[\d\.\d\d, \d\.\d\d\] 75%", text)) == 4
    assert max(map(len, text.splitlines())) <= width
    # each part of the signature stands whole in one line
    assert all(any(part in line for line in text.splitlines()) for part in signature.split("|"))


def metadata(score: Score) -> dict[str, Any]:
    assert score.metadata is not None
    return score.metadata


def told(folder: Path, judge: str = "list") -> EvalLog:
    return run("synthetic_prompts", folder, TELLER, "bundled/grader", task_args={"judge": judge}, epochs=1)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[EvalLog, EvalLog, EvalLog]:
    """A log before the population has reference scores, one with it, and one by another judge."""
    folder = tmp_path_factory.mktemp("standing")
    with recorded_starter(folder / "population"):
        before = told(folder / "logs")
        called("population", "reference-scores", "starter", "--grader", "bundled/grader")
        return before, told(folder / "logs"), told(folder / "logs", "pairwise")


# Grey barn at night: first words grey, and of grey, white and old one is equal: similarities 1, 0, 0, novelty 2/3;
# second words barn against owl, owl, owl: 1; plot (2/3 + 1) / 2 = 5/6
# with it the grey owl has (2/3 + 1/3) / 2, the others (1 + 1/3) / 2: percentile 100; without it 1/2 each: mean 1/2
# tone grey against grey and old: 1/2; with it the grey owl has 1/2, too, the old one 1: percentile 25; without it 1, 1
# Green fox in the sea: green against red and lame: 1 among 1, 1: percentile 50, mean 1; nothing is asked about style
PLOTS, MEANS = {OWL: 100.0, FOX: 50.0}, {OWL: 0.5, FOX: 1.0}


def test_each_score_says_where_it_falls_among_the_documents_of_its_prompt(logs: tuple[EvalLog, ...]) -> None:
    by_prompt = {str(sample.input): (sample.scores or {})["genie"] for sample in logs[1].samples or []}
    facts = {prompt: metadata(score)["standing"] for prompt, score in by_prompt.items()}
    assert {prompt: found["plot"]["percentile"] for prompt, found in facts.items()} == PLOTS
    assert {prompt: found["plot"]["mean"] for prompt, found in facts.items()} == MEANS
    assert facts[OWL]["style"] == {"percentile": 25.0, "mean": 1.0, "low": 1.0, "high": 1.0}
    assert "style" not in facts[FOX]


@pytest.mark.parametrize("which", [0, 2], ids=["before", "another judge"])
def test_without_a_reference_scores_of_the_same_instrument_nothing_is_shown(
    logs: tuple[EvalLog, ...], which: int
) -> None:
    for score in scores(logs[which]):
        assert "standing" not in metadata(score)
        assert "percentile" not in (score.explanation or "")
    shown = " ".join(called("summary", logs[which].location).split())
    assert "percentile" not in shown.lower()
    judge = "list" if which == 0 else "pairwise"
    # the population that the task was given by default stands in the log too
    command = f"genie population reference-scores starter --judge {judge} --grader bundled/grader"
    assert f"Where means fall among the population's own documents: {command}, then score again." in shown
    assert command in page(build_report([logs[which].location]))
    (column,) = as_json("summary", logs[which].location)[0]["columns"]
    assert column["standing"] == {}


def test_summary_report_and_json_show_the_same_means_over_prompts(logs: tuple[EvalLog, ...]) -> None:
    file = logs[1].location
    # plot: 100 and 50, 1/2 and 1; style: the owls alone
    expected = {
        "plot": {"percentile": 75.0, "mean": 0.75, "low": 0.75, "high": 0.75},
        "style": {"percentile": 25.0, "mean": 1.0, "low": 1.0, "high": 1.0},
    }
    (column,) = as_json("summary", file)[0]["columns"]
    (measure,) = as_json("report", file)["measures"]
    assert column["standing"] == {key: cell["standing"] for key, cell in measure["rows"][0].items()} == expected
    assert measure["population"] == expected
    shown = called("summary", file)
    assert "percentile 75, mean 0.75" in shown
    assert "percentile 25, mean 1.00" in shown
    assert "Percentile: the share of the population's own documents" in " ".join(shown.split())
    assert "genie population reference-scores" not in shown
    html = " ".join(page(build_report([file])).split())
    assert "percentile 75</span>" in html
    assert "percentile 25</span>" in html
    assert '<b>0.75</b> <span class="ends">0.75 to 0.75</span>' in html, "the population's own"
    assert "the middle half of the population's documents. Features by" in html
    assert "is not shown: no log here holds them" not in html


def test_what_stands_there_in_another_form_is_no_standing(logs: tuple[EvalLog, ...]) -> None:
    (score, *_) = scores(logs[1])
    raw: list[Any] = [{"percentile": "x"}, 3, None, {"percentile": 5.0}, {"percentile": math.inf, "mean": 1, "low": 1}]
    for one in raw:
        changed = score.model_copy(update={"metadata": {**metadata(score), "standing": {"plot": one}}})
        assert scores_of("genie", changed).standing == {}
