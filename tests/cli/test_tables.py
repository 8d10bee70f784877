import math

from rich.console import Console

from genie_inspect.cli.tables import summary_table
from genie_inspect.reports.summary import Column, Summary
from genie_inspect.scorers.explanation import SMOKE_TEST
from genie_inspect.statistics.intervals import Interval


def shown(found: Summary) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(summary_table(found))
    return " ".join(captured.get().split())


def summary(
    label: str = "mockllm/model", signature: str = "measure:genie|judge:list(m)", reason: str = "no"
) -> Summary:
    cells = {"plot": Interval(0.5, 0.25, 0.75, 8, 4), "style": Interval(math.nan, math.nan, math.nan, 0, 0)}
    column = Column(label, "x.eval", cells, {"plot": (3, 4), "style": (0, 4)}, 9, {reason: 1})
    return Summary("genie", signature, ("plot", "style"), (column,))


def test_a_cell_holds_mean_interval_and_the_share_of_questions_used() -> None:
    text = shown(summary())
    # 3 of 4 questions
    assert "0.50 [0.25, 0.75] 75%" in text
    assert "not measured" in text
    assert "8 of 9, 1 no" in text


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


def test_a_row_of_figures_near_0_gets_a_third_decimal_whatever_stands_beside_it() -> None:
    cells = {
        "compression": Interval(-0.0102, -0.0151, -0.0064, 8, 4),
        "other": Interval(math.nan, math.nan, math.nan, 0, 0),
    }
    column = Column("m/m", "x.eval", cells, {}, 8, {})
    assert "-0.010 [-0.015, -0.006]" in shown(Summary("compression", "s", ("compression", "other"), (column,)))
