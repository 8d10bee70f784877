import itertools
import math
import re

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from genie_inspect.statistics.agreement import Level, cohen_kappa, fleiss_kappa, krippendorff_alpha, randolph_kappa

LEVELS: list[Level] = ["nominal", "ordinal", "interval"]
RATINGS = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([1.0, 2.0, 3.0, 5.0, math.nan]), min_size=raters, max_size=raters),
        min_size=1,
        max_size=8,
    )
)
"""Units of as many ratings each, some missing."""


@given(RATINGS, st.sampled_from(LEVELS))
def test_alpha_equals_that_of_the_krippendorff_package(units: list[list[float]], level: Level) -> None:
    table = np.array(units).T
    pairable = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    assume(len(np.unique(pairable[~np.isnan(pairable)])) > 1)
    theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
    assert krippendorff_alpha(table, level) == pytest.approx(theirs, abs=1e-9)


def test_alpha_by_hand() -> None:
    # two raters, units (1, 1), (1, 2), (2, 2), (2, 2): coincidences o11 = 2, o12 = o21 = 1, o22 = 4;
    # totals 3 and 5 of 8. Nominal: observed 2, by chance 2 * 3 * 5 / 7 = 30 / 7: 1 - 2 * 7 / 30 = 16 / 30
    table = [[1, 1, 2, 2], [1, 2, 2, 2]]
    assert krippendorff_alpha(table, "nominal") == pytest.approx(16 / 30)
    # with two values every distance but 0 cancels, on any scale
    assert krippendorff_alpha(table, "ordinal") == pytest.approx(16 / 30)
    assert krippendorff_alpha(table, "interval") == pytest.approx(16 / 30)


def test_interval_alpha_weighs_large_disagreements_by_hand() -> None:
    # units (1, 2), (4, 4): coincidences o12 = o21 = 1, o44 = 2; totals n1 = n2 = 1, n4 = 2 of 4.
    # observed 2 * 1^2 = 2; by chance 2 * (n1 n2 * 1 + n1 n4 * 9 + n2 n4 * 4) / 3 = 2 * (1 + 18 + 8) / 3 = 18:
    # 1 - 2 / 18 = 8 / 9
    assert krippendorff_alpha([[1, 4], [2, 4]], "interval") == pytest.approx(8 / 9)


@pytest.mark.parametrize("table", [[[1, 1], [1, 1]], [[1, math.nan], [math.nan, 2]], [[1, 2]], [[], []]], ids=str)
def test_alpha_without_anything_to_disagree_on_is_nan(table: list[list[float]]) -> None:
    assert math.isnan(krippendorff_alpha(table))


def test_alpha_refuses_a_table_that_is_none_and_an_unknown_level() -> None:
    with pytest.raises(ValueError, match=r"^ratings have 1 dimensions, expected 2: \(raters, units\)$"):
        krippendorff_alpha([1, 2])
    with pytest.raises(ValueError, match="level is 'ratio', expected nominal, ordinal or interval"):
        krippendorff_alpha([[1, 2], [1, 3]], "ratio")  # type: ignore[arg-type]  # what a config file may hold


def test_fleiss_kappa_by_hand() -> None:
    # three raters, units 3-0, 2-1, 0-3: agreeing pairs 6 + 2 + 6 of 6 each = 14 / 18;
    # shares 5 / 9 and 4 / 9, by chance 41 / 81: (63 - 41) / (81 - 41) = 22 / 40
    assert fleiss_kappa([[3, 0], [2, 1], [0, 3]]) == pytest.approx(22 / 40)


def test_randolph_kappa_by_hand() -> None:
    # the same units: 14 / 18 observed, by chance 1 / 2: (14 / 18 - 9 / 18) / (9 / 18) = 5 / 9;
    # with an unused third category chance is 1 / 3: (14 - 6) / (18 - 6) = 2 / 3
    assert randolph_kappa([[3, 0], [2, 1], [0, 3]]) == pytest.approx(5 / 9)
    assert randolph_kappa([[3, 0, 0], [2, 1, 0], [0, 3, 0]]) == pytest.approx(2 / 3)


def test_a_rare_category_lowers_fleiss_kappa_but_not_randolphs() -> None:
    # nine units 2-0 and one 1-1: 9 / 10 observed; Fleiss: shares 19 / 20, 1 / 20, by chance 362 / 400, so
    # (360 - 362) / (400 - 362) = -1 / 19; Randolph: (9 / 10 - 1 / 2) / (1 / 2) = 4 / 5
    counts = [[2, 0]] * 9 + [[1, 1]]
    assert fleiss_kappa(counts) == pytest.approx(-1 / 19)
    assert randolph_kappa(counts) == pytest.approx(4 / 5)


def test_cohen_kappa_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no of 50: observed 35 / 50; by chance (25 * 30 + 25 * 20) / 2500 = 1 / 2
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4)


def test_cohen_kappa_leaves_out_units_that_a_rater_left_out() -> None:
    assert cohen_kappa(["Y", "N", None, "Y"], ["Y", "N", "N", math.nan]) == cohen_kappa("YN", "YN") == 1


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=10))
def test_kappas_do_not_mind_the_order_of_raters_units_or_categories(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    counts = [[pair.count(category) for category in (1, 2, 3)] for pair in pairs]
    turned = [row[::-1] for row in reversed(counts)]
    assert cohen_kappa(b, a) == pytest.approx(cohen_kappa(a, b), nan_ok=True)
    assert fleiss_kappa(turned) == pytest.approx(fleiss_kappa(counts), nan_ok=True)
    assert randolph_kappa(turned) == pytest.approx(randolph_kappa(counts))


@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=2, max_size=10))
def test_fleiss_kappa_is_nominal_alpha_less_its_small_sample_term(units: list[list[int]]) -> None:
    """alpha = 1 - (1 - kappa) * (N n - 1) / (N n) for N units of n ratings."""
    assume(len(set(itertools.chain(*units))) > 1)
    counts = [[unit.count(0), unit.count(1)] for unit in units]
    ratings = 3 * len(units)
    expected = 1 - (1 - fleiss_kappa(counts)) * (ratings - 1) / ratings
    assert krippendorff_alpha(np.array(units).T, "nominal") == pytest.approx(expected)


def test_perfect_agreement_is_1_and_perfect_disagreement_of_two_is_minus_1() -> None:
    assert fleiss_kappa([[2, 0], [0, 2]]) == randolph_kappa([[2, 0], [0, 2]]) == cohen_kappa("ab", "ab") == 1
    assert fleiss_kappa([[1, 1], [1, 1]]) == randolph_kappa([[1, 1], [1, 1]]) == cohen_kappa("ab", "ba") == -1


def test_kappas_that_chance_explains_fully_or_that_nobody_rated_are_nan() -> None:
    assert math.isnan(fleiss_kappa([[2, 0], [2, 0]]))
    assert math.isnan(cohen_kappa("aa", "aa"))
    assert math.isnan(cohen_kappa([], []))
    assert math.isnan(randolph_kappa([[2], [2]]))
    for kappa in (fleiss_kappa, randolph_kappa):
        assert math.isnan(kappa([[1, 0], [0, 1]]))  # one rater
        assert all(math.isnan(kappa(np.zeros(shape))) for shape in ((0, 2), (0, 0), (3, 0)))


@pytest.mark.parametrize("kappa", [fleiss_kappa, randolph_kappa])
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], "counts have 1 dimensions, expected 2: (units, categories)"),
        *[
            ([[2.0, strange]], "counts hold a value that is no count, expected whole numbers of at least 0")
            for strange in (-1, 0.5, math.nan, math.inf)
        ],
        ([[2, 0], [2, 1], [4, 0]], "units have 2 to 4 ratings, expected as many for every unit"),
    ],
)
def test_a_table_that_is_not_one_of_counts_is_refused(kappa: object, counts: list[list[float]], message: str) -> None:
    assert callable(kappa)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kappa(counts)


def test_raters_of_different_units_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^2 ratings against 1, expected as many from each rater$"):
        cohen_kappa("ab", "a")


def test_alpha_is_ordinal_unless_said_otherwise() -> None:
    table = [[1, 2, 3, 3, 5], [1, 3, 3, 5, 5]]
    assert krippendorff_alpha(table) == krippendorff_alpha(table, "ordinal")
    assert len({krippendorff_alpha(table, level) for level in LEVELS}) == 3


def test_units_that_one_rater_left_out_do_not_count_in_cohens_kappa() -> None:
    # as "YYNN" and "YNNN": observed 3/4, by chance 1/2
    assert cohen_kappa(["Y", "Y", "N", "N", None, "Y"], ["Y", "N", "N", "N", "Y", None]) == pytest.approx(0.5)


def test_values_that_lie_close_together_have_an_alpha_too() -> None:
    assert krippendorff_alpha([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]], "interval") == 1
