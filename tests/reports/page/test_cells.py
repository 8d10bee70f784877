import pytest

from genie_inspect.reports.page.cells import in_words, number, places, shade
from genie_inspect.reports.page.report import Cell, Measure, Range, Spread
from genie_inspect.statistics.intervals import Interval

NAN = float("nan")


def measure(low: float, high: float) -> Measure:
    return Measure("genie", "", ("plot",), {"plot": Range(low, high, known=True)}, (), (), (), ())


@pytest.mark.parametrize(
    ("low", "high", "decimals"),
    [
        (0, 1, 2),
        (0, 14, 2),
        (0, 999, 2),
        (0, 1_000, 0),
        (0.3, 0.30000001, 6),
        (0.01, 0.05, 3),
        (0.3, 0.3004, 5),
        (3, 3, 2),
        (NAN, NAN, 2),
    ],
)
def test_as_many_decimals_are_shown_as_tell_values_apart(low: float, high: float, decimals: int) -> None:
    assert places(measure(low, high), "plot") == decimals


@pytest.mark.parametrize(("mean", "shown"), [(1.0, "0%"), (2.5, "75%"), (9.0, "100%"), (NAN, "0%")])
def test_the_shade_is_where_the_mean_stands_in_its_range(mean: float, shown: str) -> None:
    cell = Cell(Interval(mean, NAN, NAN, 1, 1), Spread(NAN, NAN, NAN), 0, 0, 0, 0)
    assert shade(measure(1, 3), "plot", cell) == shown


def test_what_is_no_number_is_said_in_words() -> None:
    assert number(NAN) == "not measured"
    assert number(0.98765, 3) == "0.988"
    assert number(0.98765) == "0.99"
    assert in_words("plot_twist_late") == "plot twist late"


def test_one_value_of_an_unknown_range_is_neither_low_nor_high() -> None:
    cell = Cell(Interval(3, NAN, NAN, 1, 1), Spread(NAN, NAN, NAN), 0, 0, 0, 0)
    assert [shade(measure(*ends), "plot", cell) for ends in ((3, 3), (NAN, NAN))] == ["50%", "50%"]
