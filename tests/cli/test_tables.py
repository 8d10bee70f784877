import math
from collections.abc import Mapping, Sequence

import pytest
from rich.console import Console

from genie_inspect.cli.tables import summary_notes, summary_tables
from genie_inspect.graders.protocols import SMOKE_TEST
from genie_inspect.logs.evidence import Share
from genie_inspect.logs.results import Results
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
