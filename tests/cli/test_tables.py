"""The table of a summary, and where its means stand among the population's own documents."""

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.scorer import Score
from rich.console import Console
from tests.recorded import TELLER, recorded_starter
from tests.scripted import FOX, OWL, scores

from genie_inspect.cli import main
from genie_inspect.cli.tables import summary_notes, summary_tables
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.graders.protocols import SMOKE_TEST
from genie_inspect.logs.evidence import Share
from genie_inspect.logs.results import Results
from genie_inspect.logs.scores import scores_of
from genie_inspect.populations.yardstick import YARDSTICK
from genie_inspect.reports.page import page
from genie_inspect.reports.report import build_report
from genie_inspect.reports.summary import Column, Summary
from genie_inspect.statistics.intervals import Interval


def shown(found: Summary) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        for table in summary_tables(found, console):
            console.print(table)
    return " ".join(captured.get().split())


def results(
    cells: Mapping[str, Interval],
    unscored: Mapping[str, int] | None = None,
    pairs: Mapping[str, Share] | None = None,
    faults: Mapping[str, int] | None = None,
    refusals: int = 0,
    warnings: Sequence[str] = (),
) -> Results:
    """Results of nine documents, with 3 of 4 questions about the plot used and none of 4 about the style."""
    return Results(
        cells=cells,
        coverage={"plot": (3, 4), "style": (0, 4)},
        pairs=pairs or {},
        documents=9,
        unscored=unscored or {},
        faults=faults or {},
        refusals=refusals,
        position_bias=math.nan,
        warnings=warnings,
    )


def summary(
    label: str = "mockllm/model", signature: str = "measure:genie|judge:list(m)", reason: str = "no"
) -> Summary:
    cells = {"plot": Interval(0.5, 0.25, 0.75, 8, 4), "style": Interval(math.nan, math.nan, math.nan, 0, 0)}
    column = Column(label, "x.eval", results(cells, {reason: 1}))
    return Summary("genie", signature, ("plot", "style"), (column,))


def test_a_cell_holds_mean_interval_and_the_share_of_questions_used() -> None:
    text = shown(summary())
    # 3 of 4 questions
    assert "0.50 [0.25, 0.75] 75%" in text
    assert "not measured" in text
    assert "8 of 9, 1 no" in text


def test_beside_the_share_of_questions_stands_that_of_the_ratings_where_the_scorer_says_it() -> None:
    cells = {"plot": Interval(0.5, 0.25, 0.75, 8, 4), "style": Interval(0.5, math.nan, math.nan, 1, 1)}
    own = results(cells, pairs={"plot": (45, 60), "style": (0, 48)})
    text = shown(Summary("genie", "s", ("plot", "style"), (Column("m/m", "x.eval", own),)))
    # 3 of 4 questions and 45 of 60 ratings; none of 4 questions, none of 48 ratings
    assert "0.50 [0.25, 0.75] 75/75%" in text
    assert "0.50 0/0%" in text


def test_refusals_have_a_row_of_their_own_where_there_are_any() -> None:
    cells = {"plot": Interval(0.5, 0.25, 0.75, 8, 4)}
    refusing = Column("m/m", "x.eval", results(cells, {"refusal": 2}, refusals=2))
    assert "refused │ 2" in shown(Summary("genie", "s", ("plot",), (refusing,)))
    assert "refused" not in shown(summary())


def test_what_is_missing_and_what_to_beware_of_are_lines_that_name_the_log() -> None:
    own = results({}, faults={"unreadable": 3, "unspecified": 1}, warnings=["nothing was asked"])
    assert summary_notes(
        Summary("genie", "s", (), (Column("[m]", "x.eval", own), Column("n", "y.eval", results({}))))
    ) == [
        "Missing in [m]: 3 unreadable, 1 unspecified.",
        "Beware: [m]: nothing was asked.",
    ]


def test_names_that_look_like_markup_show_as_they_are() -> None:
    text = shown(
        summary(label="local/[/bold]", signature="measure:genie|judge:list([red]m[/])", reason="[/] [b]no[/b]")
    )
    assert "local/[/bold]" in text
    assert "judge:list([red]m[/])" in text
    assert "1 [/] [b]no[/b]" in text


def test_the_embedded_judge_is_called_a_smoke_test_here_too() -> None:
    assert SMOKE_TEST in shown(summary(signature="measure:genie|judge:embedded(static,anchors=starter)|reader:x"))
    assert SMOKE_TEST not in shown(summary())


def test_the_vectors_judge_is_called_a_screen_with_its_figures_here_too() -> None:
    text = shown(summary(signature="measure:genie|judge:vectors(static@1,fit=2,spearman=0.63,kendall=0.47)|reader:x"))
    assert "a screen, no verdict" in text
    assert "Spearman 0.63, Kendall's tau-b 0.47." in text


def test_a_row_of_figures_near_0_gets_a_third_decimal_whatever_stands_beside_it() -> None:
    cells = {
        "compression": Interval(-0.0102, -0.0151, -0.0064, 8, 4),
        "other": Interval(math.nan, math.nan, math.nan, 0, 0),
    }
    column = Column("m/m", "x.eval", results(cells))
    assert "-0.010 [-0.015, -0.006]" in shown(Summary("compression", "s", ("compression", "other"), (column,)))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_four_runs_keep_their_names_and_intervals_whole_in_any_width(width: int) -> None:
    cells = {"plot": Interval(0.5, 0.25, 0.75, 8, 4), "style": Interval(0.25, 0.2, 0.3, 8, 4)}
    labels = [f"provider/a-long-name-of-model-{number}" for number in range(4)]
    columns = tuple(Column(label, "x.eval", results(cells)) for label in labels)
    signature = "measure:genie|judge:list(provider/grader@0123456789ab)|population:starter-1@0123|version:0"
    console = Console(width=width)
    with console.capture() as captured:
        for table in summary_tables(Summary("genie", signature, ("plot", "style"), columns), console):
            console.print(table)
    lines = captured.get().splitlines()
    assert all(sum(label in line for line in lines) == 1 for label in labels)
    assert "\n".join(lines).count("0.50 [0.25, 0.75] 75%") == 4
    assert max(map(len, lines)) <= width
    # each part of the signature stands whole in one line
    assert all(any(part in line for line in lines) for part in signature.split("|"))


GRADER = ("--grader", "bundled/grader")


def called(*arguments: object, width: int = 80) -> str:
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.stdout


def metadata(score: Score) -> dict[str, Any]:
    assert score.metadata is not None
    return score.metadata


def told(folder: Path, judge: str = "list") -> EvalLog:
    """The storyteller's two stories, scored by the bundled grader."""
    (log,) = evaluate(
        "genie_inspect/synthetic_prompts",
        model=TELLER,
        model_roles={"grader": "bundled/grader"},
        task_args={"judge": judge},
        epochs=1,
        log_dir=str(folder),
        display="none",
    )
    assert log.status == "success", log.error
    return log


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[EvalLog, EvalLog, EvalLog]:
    """A log before the population has a yardstick, one with it, and one by another judge."""
    folder = tmp_path_factory.mktemp("standing")
    with recorded_starter(folder / "population"):
        before = told(folder / "logs")
        called("population", "yardstick", "starter", *GRADER)
        return before, told(folder / "logs"), told(folder / "logs", "pairwise")


# Grey barn at night: first words grey, and of grey, white and old one is equal: similarities 1, 0, 0, novelty 2/3;
# second words barn against owl, owl, owl: 1; plot (2/3 + 1) / 2 = 5/6
# with it the grey owl has (2/3 + 1/3) / 2, the others (1 + 1/3) / 2: percentile 100; without it 1/2 each: mean 1/2
# tone grey against grey and old: 1/2; with it the grey owl has 1/2, too, the old one 1: percentile 25; without it 1, 1
# Green fox in the sea: green against red and lame: 1 among 1, 1: percentile 50, mean 1; nothing is asked about style
PLOTS, MEANS = {OWL: 100.0, FOX: 50.0}, {OWL: 0.5, FOX: 1.0}


def columns(explanation: str, feature: str) -> list[str]:
    """The first four cells of a feature's row in an explanation's table."""
    (row,) = [line for line in explanation.splitlines() if line.startswith(f"| {feature} ")]
    return [part.strip() for part in row.split("|")][1:5]


def test_each_score_says_where_it_falls_among_the_documents_of_its_prompt(logs: tuple[EvalLog, ...]) -> None:
    by_prompt = {str(sample.input): (sample.scores or {})["genie"] for sample in logs[1].samples or []}
    facts = {prompt: metadata(score)["standing"] for prompt, score in by_prompt.items()}
    assert {prompt: found["plot"]["percentile"] for prompt, found in facts.items()} == PLOTS
    assert {prompt: found["plot"]["mean"] for prompt, found in facts.items()} == MEANS
    assert facts[OWL]["style"] == {"percentile": 25.0, "mean": 1.0, "low": 1.0, "high": 1.0}
    assert "style" not in facts[FOX]
    explained = by_prompt[OWL].explanation or ""
    assert columns(explained, "feature") == ["feature", "novelty", "percentile (mean)", "nearest"]
    assert columns(explained, "plot") == ["plot", "0.833", "100 (0.500)", "0.500"]
    assert columns(by_prompt[FOX].explanation or "", "style") == ["style", "not measured", "not known", "not measured"]


@pytest.mark.parametrize("which", [0, 2], ids=["before", "another judge"])
def test_without_a_yardstick_of_the_same_instrument_nothing_is_shown(logs: tuple[EvalLog, ...], which: int) -> None:
    for score in scores(logs[which]):
        assert "standing" not in metadata(score)
        assert "percentile" not in (score.explanation or "")
    shown = " ".join(called("summary", logs[which].location).split())
    assert "percentile" not in shown.lower()
    judge = "list" if which == 0 else "pairwise"
    # the population that the task was given by default stands in the log too
    command = f"genie population yardstick starter --judge {judge} --grader bundled/grader"
    assert f"Where means fall among the population's own documents: {command}, then score again." in shown
    assert command in called_report(logs[which])
    (column,) = json.loads(called("summary", logs[which].location, "--json"))[0]["columns"]
    assert column["standing"] == {}


def called_report(log: EvalLog) -> str:
    return page(build_report([log.location]))


def test_the_scores_themselves_are_the_same_with_and_without(logs: tuple[EvalLog, ...]) -> None:
    before, after = ([(metadata(score)["signature"], str(score.value)) for score in scores(log)] for log in logs[:2])
    assert before == after


def test_summary_report_and_json_show_the_same_means_over_prompts(logs: tuple[EvalLog, ...]) -> None:
    file = logs[1].location
    # plot: 100 and 50, 1/2 and 1; style: the owls alone
    expected = {
        "plot": {"percentile": 75.0, "mean": 0.75, "low": 0.75, "high": 0.75},
        "style": {"percentile": 25.0, "mean": 1.0, "low": 1.0, "high": 1.0},
    }
    (column,) = json.loads(called("summary", file, "--json"))[0]["columns"]
    (measure,) = json.loads(called("report", file, "--json"))["measures"]
    assert column["standing"] == {key: cell["standing"] for key, cell in measure["rows"][0].items()} == expected
    assert measure["population"] == expected
    shown = called("summary", file)
    assert "percentile 75, mean 0.75" in shown
    assert "percentile 25, mean 1.00" in shown
    assert "Percentile, mean: of the population's own documents" in " ".join(shown.split())
    assert "genie population yardstick" not in shown
    html = " ".join(called_report(logs[1]).split())
    assert "percentile 75</span>" in html
    assert "percentile 25</span>" in html
    assert '<b>0.75</b> <span class="ends">[0.75, 0.75]</span>' in html, "the population's own"
    assert "The band behind them is the middle half of the population's own documents" in html
    assert "is not shown: no log here holds them" not in html


def test_two_logs_side_by_side_fit_eighty_columns(logs: tuple[EvalLog, ...], tmp_path: Path) -> None:
    again = shutil.copy(logs[1].location, tmp_path / "again.eval")
    lines = called("summary", logs[1].location, again, "--nearest").splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.count("percentile 75, mean 0.75") for line in lines) == 2


def test_the_demo_shows_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.cli.results.STORYTELLERS", (TELLER,))
    with recorded_starter(tmp_path / "population"):
        without = called("demo", "--log-dir", tmp_path / "logs")
        called("population", "yardstick", "starter", *GRADER)
        shown = called("demo", "--log-dir", tmp_path / "logs2")
    assert "percentile 75, mean 0.75" in shown
    assert "of the population's own documents" in shown
    assert "ercentile" not in without


def test_a_mean_of_which_a_part_has_no_standing_has_none(logs: tuple[EvalLog, ...], tmp_path: Path) -> None:
    log = read_eval_log(logs[1].location)
    for sample in log.samples or []:
        if sample.input == FOX:
            (sample.scores or {})["genie"].metadata = {**metadata((sample.scores or {})["genie"]), "standing": None}
    write_eval_log(log, str(tmp_path / "part.eval"))
    (column,) = json.loads(called("summary", tmp_path / "part.eval", "--json"))[0]["columns"]
    assert list(column["standing"]) == ["style"]


def test_what_stands_there_in_another_form_is_no_standing(logs: tuple[EvalLog, ...]) -> None:
    (score, *_) = scores(logs[1])
    raw: list[Any] = [{"percentile": "x"}, 3, None, {"percentile": 5.0}, {"percentile": math.inf, "mean": 1, "low": 1}]
    for one in raw:
        changed = score.model_copy(update={"metadata": {**metadata(score), "standing": {"plot": one}}})
        assert scores_of("genie", changed).standing == {}


def test_the_populations_own_documents_stand_at_its_middle(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population"):
        called("population", "yardstick", "starter", *GRADER)
        (log,) = evaluate(
            "genie_inspect/leave_one_out",
            model="mockllm/model",
            model_roles={"grader": "bundled/grader"},
            log_dir=str(tmp_path / "logs"),
            display="none",
        )
    (column,) = json.loads(called("summary", log.location, "--json"))[0]["columns"]
    assert {key: standing["percentile"] for key, standing in column["standing"].items()} == {"plot": 50, "style": 50}
    assert {key: standing["mean"] for key, standing in column["standing"].items()} == {
        key: cell["mean"] for key, cell in column["cells"].items()
    }


def test_a_changed_yardstick_ends_a_run_in_one_line_before_anything_is_asked(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        called("population", "yardstick", "starter", *GRADER)
        path = population.folder / YARDSTICK
        path.write_text(path.read_text(encoding="utf-8").replace("[[2.0,2,2]]", "[[3.0,2,2]]"), encoding="utf-8")
        with pytest.raises(PrerequisiteError, match=r"yardstick\.json was changed after it was made; remove it"):
            told(tmp_path / "logs")
