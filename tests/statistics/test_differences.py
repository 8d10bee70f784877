import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.corrections import holm
from genie_inspect.statistics.differences import differences, findings
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.power import paired_power

RANDOM = np.random.default_rng(0)
BEFORE = RANDOM.uniform(0.4, 0.8, (12, 3))
AFTER = BEFORE + RANDOM.normal([0.1, 0.0, 0.02], 0.03, (12, 3))
SCORES = arrays(float, (8, 2), elements=st.floats(0, 1))


def test_each_column_is_what_the_single_estimates_say() -> None:
    bootstrap = paired_bootstrap(BEFORE, AFTER, studentised=True)
    for column, difference in enumerate(differences(BEFORE, AFTER)):
        before, after = BEFORE[:, column], AFTER[:, column]
        assert difference.pairs == 12
        assert (difference.before, difference.after) == pytest.approx((before.mean(), after.mean()))
        assert (difference.low, difference.high) == (bootstrap.low[column], bootstrap.high[column])
        assert difference.p_value == bootstrap.p_value[column]
        assert difference.effect == cohens_d(before, after)
        assert difference.spread == pytest.approx((after - before).std(ddof=1))
        assert (difference.p_unlike, difference.margin) == (tost(before, after).p_value, tost(before, after).margin)


def test_p_values_are_corrected_together_and_power_is_at_the_corrected_level() -> None:
    found = differences(BEFORE, AFTER)
    judged = findings(found, "holm")
    assert [f.p_value for f in judged] == pytest.approx(list(holm([d.p_value for d in found])))
    assert [f.differs for f in judged] == [True, False, judged[2].p_value < 0.05]
    expected = paired_power(found[0].margin, found[0].spread, 12, 0.05 / 3)
    assert judged[0].power == pytest.approx(expected)


def test_uncorrected_power_is_at_the_level_itself() -> None:
    found = differences(BEFORE, AFTER)
    assert findings(found, "none")[0].power == pytest.approx(paired_power(found[0].margin, found[0].spread, 12, 0.05))


def test_a_column_without_pairs_is_no_finding_and_costs_the_others_nothing() -> None:
    missing = np.full((12, 1), np.nan)
    judged = findings(differences(np.hstack([BEFORE, missing]), np.hstack([AFTER, missing])), "bonferroni")
    assert math.isnan(judged[3].p_value)
    assert (judged[3].differs, judged[3].is_equivalent) == (False, False)
    assert math.isnan(judged[3].power)
    alone = findings(differences(BEFORE, AFTER), "bonferroni")
    assert [f.p_value for f in judged[:3]] == [f.p_value for f in alone]


@settings(max_examples=25)
@given(SCORES)
def test_equal_sides_never_differ(scores: np.ndarray) -> None:
    for finding in findings(differences(scores, scores, resamples=200), "none"):
        assert (finding.difference.delta, finding.p_value, finding.differs) == (0, 1, False)


@settings(max_examples=25)
@given(SCORES, SCORES)
def test_swapping_the_sides_turns_the_sign_alone(before: np.ndarray, after: np.ndarray) -> None:
    there, back = (differences(*sides, margin=0.1, resamples=200) for sides in ((before, after), (after, before)))
    for forth, reverse in zip(there, back, strict=True):
        assert forth.delta == pytest.approx(-reverse.delta)
        assert forth.p_value == pytest.approx(reverse.p_value)
        assert forth.p_unlike == pytest.approx(reverse.p_unlike)


def test_differences_too_small_for_a_spread_are_no_error() -> None:
    tiny = 5e-324  # its square is 0
    (found,) = differences([[0.0]] * 8, [[tiny]] * 4 + [[0.0]] * 4, resamples=200)
    assert (found.spread, found.low <= 0 <= found.high) == (0, True)


def test_an_unknown_correction_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        findings([], "fdr")


def test_an_interval_ends_where_no_difference_can_lie() -> None:
    (found,) = differences([[0.0], [0.1], [0.9], [0.2]], [[1.0], [0.1], [0.8], [0.5]])
    assert 1 < found.high < math.inf
    assert (found.within(1).high, found.within(1).delta) == (1, found.delta)
    assert found.within(1).low == max(found.low, -1)


def test_an_end_that_few_pairs_leave_open_stays_open() -> None:
    (found,) = differences([[0.1], [0.2]], [[0.2], [0.7]])
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert found.within(1) == found
