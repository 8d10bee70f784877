"""What is refused names the argument, its value and what would do, in one line."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from genie_inspect.statistics.descriptive import chance_of_seeing
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.effect import bonferroni, cohens_d, holm
from genie_inspect.statistics.equivalence import tost
from genie_inspect.statistics.intervals import prompt_interval
from genie_inspect.statistics.mixed import mixed_logistic
from genie_inspect.statistics.power import margin, minimum_population, paired_power, pairs_needed
from genie_inspect.statistics.ranking import position_effect

NAN, INF = math.nan, math.inf
COIN, SHARE = [0, 1, 1, 0], "expected a number between 0 and 1"
GROUPS = {"g": "aabb"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cohens_d([1, 2], [1, 2, 3]), "values of shape (2,) against (3,), expected as many on each side"),
        (lambda: cohens_d([[1, 2]], [[2, 3]]), "values have shape (1, 2), expected one column of pairs"),
        (
            lambda: paired_permutation([[[1]]], [[[2]]]),
            "values have 3 dimensions, expected 1 (pairs) or 2 (pairs, columns)",
        ),
        (lambda: paired_permutation(1, 2), "values have 0 dimensions, expected 1 (pairs) or 2 (pairs, columns)"),
        *[
            (
                lambda sides=sides: cohens_d(*sides),
                "a value is infinite, expected finite numbers, or NaN where a side is missing",
            )
            for sides in (([1, INF], [1, 2]), ([1, 2], [1, -INF]))
        ],
        (lambda: paired_permutation([1, 2], [2, 3], 0), "resamples is 0, expected at least 1"),
        *[
            (lambda level=level: paired_permutation([1, 2], [2, 3], level=level), f"level is {level}, {SHARE}")
            for level in (0, 1)
        ],
        (lambda: tost([1, 2], [2, 3], method="z"), "method is 'z', expected t or bootstrap"),
        (lambda: tost([1, 2], [2, 3], 0), "margin is 0, expected a number above 0"),
        (lambda: tost([1, 2], [2, 3], resamples=0), "resamples is 0, expected at least 1"),
        *[
            (lambda correct=correct: correct([[0.5]]), "p-values have 2 dimensions, expected 1")
            for correct in (bonferroni, holm)
        ],
        *[
            (
                lambda correct=correct, p=p: correct([0.5, p]),
                f"a p-value is {p}, expected 0 to 1, or NaN where there is none",
            )
            for correct in (bonferroni, holm)
            for p in (-0.1, 1.5)
        ],
        *[(lambda sd=sd: minimum_population(sd), f"sd is {sd}, expected a number of at least 0") for sd in (-0.1, INF)],
        *[
            (lambda wanted=wanted: minimum_population(0.3, wanted), f"margin is {wanted}, expected a number above 0")
            for wanted in (0, -0.1, INF, NAN)
        ],
        *[(lambda chance=chance: margin(0.3, 5, chance), f"confidence is {chance}, {SHARE}") for chance in (0, 1, NAN)],
        (lambda: margin(0.3, 0), "n is 0, expected at least 1"),
        *[
            (lambda delta=delta: paired_power(delta, 0.1, 5), f"delta is {delta}, expected a finite number")
            for delta in (NAN, INF)
        ],
        (
            lambda: paired_power(0.1, 0, 5),
            "sd is 0, expected a number above 0: deltas without spread need no test",
        ),
        (lambda: paired_power(0.1, 0.1, 1), "n is 1, expected at least 2 pairs"),
        *[
            (lambda level=level: paired_power(0.1, 0.1, 5, level), f"level is {level}, {SHARE}")
            for level in (0, 1, NAN)
        ],
        *[
            (
                lambda delta=delta, power=power: pairs_needed(delta, 1, power, 0.02),
                f"delta is {delta} and power {power}, expected a delta other than 0 and a power in (0.02, 1)",
            )
            for delta, power in ((0, 0.8), (0.5, 0.02), (0.5, 1))
        ],
        (
            lambda: position_effect([1, 2], [0], "aa"),
            "values (2,), positions (1,) and 2 lists, expected as many of each",
        ),
        (lambda: prompt_interval([1, 2], ["a"]), "2 values but 1 prompts, expected as many of each"),
        (
            lambda: chance_of_seeing(0, 4, 1),
            "count is 0 of 4 in 1 draws, expected 1 <= count <= total and draws >= 0",
        ),
        (lambda: mixed_logistic([0, 1, 2, 0], {}, GROUPS), "outcome holds 2.0, expected one 0 or 1 a row"),
        (lambda: mixed_logistic([COIN], {}, GROUPS), "outcome has shape (1, 4), expected one 0 or 1 a row"),
        (
            lambda: mixed_logistic(COIN, {"intercept": COIN}, GROUPS),
            "a predictor is named 'intercept', expected another name: the intercept is added",
        ),
        *[
            (
                lambda column=column: mixed_logistic(COIN, {"x": column}, GROUPS),
                f"predictor 'x' has shape {shape}, expected (4,): one value a row",
            )
            for column, shape in (([1], "(1,)"), ([[1]] * 4, "(4, 1)"))
        ],
        *[
            (
                lambda strange=strange: mixed_logistic(COIN, {"x": [1, 2, strange, 3]}, GROUPS),
                f"predictor 'x' is {strange} in row 2, expected a number",
            )
            for strange in (NAN, INF)
        ],
        (lambda: mixed_logistic(COIN, {}, {"g": "aab"}), "grouping 'g' has 3 rows, expected 4"),
    ],
)
def test_what_is_out_of_range_is_told_with_what_would_do(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole message is compared
        call()
    assert str(caught.value) == said
