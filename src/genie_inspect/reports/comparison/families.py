"""The rows of a comparison, and which of their tests are corrected together."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from genie_inspect.logs.evidence import NO_SHARE
from genie_inspect.logs.measures import UNIT, keys_to_test
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.reports.comparison.compared import Options, Row
from genie_inspect.reports.comparison.pairing import Key, Pairs
from genie_inspect.statistics.paired.differences import Difference, Finding, differences, findings


def rows_of(
    runs: Sequence[ScoredLog],
    base_of: Mapping[int, int],
    pairs: Mapping[int, Pairs],
    signatures: Mapping[str, str],
    options: Options,
) -> Iterator[Row]:
    """A row for each key of each run.

    Args:
        runs: All runs.
        base_of: By the place of a run, that of its baseline.
        pairs: By the place of a run, its pairs with its baseline.
        signatures: By scorer.
        options: How differences are tested.
    """
    keys = {scorer: list(dict.fromkeys(key for run in runs for key in run.keys(scorer))) for scorer in signatures}
    tested = {(scorer, key) for scorer, names in keys.items() for key in keys_to_test(runs[0].declared(scorer), names)}
    columns = [
        (place, key, difference)
        for place, prompt_pairs in pairs.items()
        for key, difference in zip(prompt_pairs.keys, _differences(prompt_pairs, options, runs[place]), strict=True)
    ]
    # all tests of one scorer over all runs are corrected together, so they are made together
    corrected = families([(key, difference) for _, key, difference in columns], tested, options.correction)
    for (place, (scorer, key), _), instances, finding in zip(
        columns, [count for prompt_pairs in pairs.values() for count in prompt_pairs.instances], corrected, strict=True
    ):
        before, after = pairs[place].evidence[scorer]
        yield Row(
            run=runs[place].label,
            baseline=runs[base_of[place]].label,
            scorer=scorer,
            key=key,
            tested=(scorer, key) in tested,
            paired_by=pairs[place].by,
            prompts=pairs[place].prompts,
            instances=instances,
            coverage=(before.coverage.get(key, NO_SHARE), after.coverage.get(key, NO_SHARE)),
            ratings=(before.pairs.get(key, NO_SHARE), after.pairs.get(key, NO_SHARE)),
            finding=finding,
            is_unit=runs[place].known_range(scorer, key) == UNIT,
        )


def _differences(pairs: Pairs, options: Options, run: ScoredLog) -> list[Difference]:
    measured = differences(pairs.before, pairs.after, options.margin, equivalence=options.equivalence)
    # no difference is larger than the scale leaves above or below the baseline, whatever an interval of few pairs says
    ends = (run.known_range(*key) for key in pairs.keys)
    return [difference.within(*own) if own else difference for difference, own in zip(measured, ends, strict=True)]


def families(columns: Sequence[tuple[Key, Difference]], tested: Container[Key], correction: str) -> list[Finding]:
    """The finding of each difference: what is tested of one scorer, over all runs, is one family of tests.

    What is not tested has no p-value and holds nothing.

    Args:
        columns: Each with the key that it is of.
        tested: Keys that are tested.
        correction: As in `Options`.
    """
    families: dict[str, list[int]] = {}
    for place, (key, _) in enumerate(columns):
        if key in tested:
            families.setdefault(key[0], []).append(place)
    finding_of: dict[int, Finding] = {}
    for places in families.values():
        finding_of |= dict(zip(places, findings([columns[place][1] for place in places], correction), strict=True))
    return [
        finding_of[place] if place in finding_of else _untested(difference)
        for place, (_, difference) in enumerate(columns)
    ]


def _untested(difference: Difference) -> Finding:
    # the interval stays: it describes, and claims nothing
    bare = replace(difference, p_value=math.nan, p_unlike=math.nan)
    return Finding(bare, math.nan, math.nan, math.nan, math.nan, differs=False, is_equivalent=False)
