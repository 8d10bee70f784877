"""The rows of a comparison, and which of their tests are corrected together."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from genie_inspect.logs.evidence import NO_SHARE
from genie_inspect.logs.files import LogError
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

    Raises:
        LogError: If a key that is to be tested is none of them.
    """
    keys = {scorer: list(dict.fromkeys(key for run in runs for key in run.keys(scorer))) for scorer in signatures}
    tested = set(_tested(keys, runs[0], options.keys))
    columns = [
        (place, key, difference)
        for place, prompt_pairs in pairs.items()
        for key, difference in zip(prompt_pairs.keys, _differences(prompt_pairs, options, runs[place]), strict=True)
    ]
    of_family = [runs[place].label if options.family == "run" else "" for place, _, _ in columns]
    # tests that are corrected together are made together
    corrected = families([column[1:] for column in columns], of_family, tested, options.correction)
    counts = [count for own in pairs.values() for count in zip(own.instances, own.questions, strict=True)]
    for (place, (scorer, key), _), (instances, questions), family, finding in zip(
        columns, counts, of_family, corrected, strict=True
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
            questions=questions,
            family=family,
        )


def _differences(pairs: Pairs, options: Options, run: ScoredLog) -> list[Difference]:
    measured = differences(pairs.before, pairs.after, options.margin, equivalence=options.equivalence)
    # no difference is larger than the scale leaves above or below the baseline, whatever an interval of few pairs says
    ends = (run.known_range(*key) for key in pairs.keys)
    return [difference.within(*own) if own else difference for difference, own in zip(measured, ends, strict=True)]


def _tested(keys: Mapping[str, Sequence[str]], run: ScoredLog, named: Sequence[str]) -> Iterator[Key]:
    """The keys that are tested: those that were named, else each measure's headline.

    Raises:
        LogError: If one that was named is none of them.
    """
    wanted = [name.strip().replace(" ", "_") for name in named]
    known = dict.fromkeys(key for names in keys.values() for key in names)
    for name in wanted:
        if name not in known:
            raise LogError(f"keys names {name!r}, expected some of: {', '.join(known)}")
    for scorer, names in keys.items():
        for key in [key for key in names if key in wanted] if wanted else keys_to_test(run.declared(scorer), names):
            yield scorer, key


def families(
    columns: Sequence[tuple[Key, Difference]], of_family: Sequence[str], tested: Container[Key], correction: str
) -> list[Finding]:
    """The finding of each difference: what is tested of one scorer, in one family, is corrected together.

    What is not tested has no p-value and holds nothing.

    Args:
        columns: Each with the key that it is of.
        of_family: Of each column.
        tested: Keys that are tested.
        correction: As in `Options`.
    """
    families: dict[tuple[str, str], list[int]] = {}
    for place, ((key, _), family) in enumerate(zip(columns, of_family, strict=True)):
        if key in tested:
            families.setdefault((key[0], family), []).append(place)
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
