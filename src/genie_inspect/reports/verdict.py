"""What a comparison comes to: one sentence, and what to beware of."""

import math
from collections.abc import Iterator
from dataclasses import astuple, fields
from typing import Any

from genie_inspect.files.tables import csv_text, plain
from genie_inspect.logs.reading import are_unlike, cut_at_limit, unlike_lengths
from genie_inspect.reports.charts import in_words
from genie_inspect.reports.comparison import Comparison, Row, pooled
from genie_inspect.reports.pairing import units_of
from genie_inspect.reports.study_verdict import listed
from genie_inspect.reports.summary import FEW_SHARED, UNLIKE
from genie_inspect.statistics.differences import LEVEL, Difference, pairs_that_find
from genie_inspect.statistics.effect import USUAL_POWER, paired_power

MOST_NAMED = 6  # differences that one sentence can name and still be read
CORRECTED = {"holm": "after Holm's correction", "bonferroni": "after Bonferroni's correction", "none": "uncorrected"}
ENOUGH = 0.5  # power below which a test is more likely to miss a difference than to find it
MANY_LOST = 0.1  # share of a run's documents without a score from which it is pointed out


def verdict(comparison: Comparison) -> str:
    rows = [row for row in comparison.rows if row.tested]
    holding = [row for row in rows if row.finding.differs]
    # NaN: fewer than two prompts with scores on both sides
    measured = [row for row in rows if not math.isnan(row.finding.p_value)]
    # a tiny difference of many prompts can hold and lie within the margin: it is counted as holding
    repeated = [row for row in measured if row.run in comparison.repeated and not row.finding.differs]
    alike = [row for row in measured if row.finding.is_equivalent and not row.finding.differs and row not in repeated]
    same = sum(row.finding.difference.margin == 0 for row in alike)
    constant = f" ({same} constant and the same in both)" if same else ""
    baselines = comparison.called(*comparison.baselines)
    if not measured:
        return (
            f"None of {len(rows)} differences from {baselines} could be tested: that takes two {comparison.units} or "
            "more with scores on both sides."
        )
    # names of what is a family of its own: where there is one of each, nothing need be said
    families = {"measure": {row.scorer for row in measured}, "run": {row.family for row in measured}}
    scopes = [name for name, of in families.items() if len(of) > 1 and comparison.options.correction != "none"]
    within = f" within each {' and '.join(scopes)}" if scopes else ""
    named = " named beforehand" if comparison.options.keys else ""
    hold = "none is significant"
    if holding:
        # of a single run it is clear whose they are
        runs = dict.fromkeys((row.run for row in rows), "")
        if len(runs) > 1:
            runs = {run: f"{run} " for run in runs}
        each = [f"{runs[row.run]}{in_words(row.key)} {row.finding.difference.delta:+.3f}" for row in holding]
        more = f" and {len(each) - MOST_NAMED} more" if len(each) > MOST_NAMED else ""
        hold = f"{len(each)} {'is' if len(each) == 1 else 'are'} significant ({', '.join(each[:MOST_NAMED])}{more})"
    parts = [
        f"Of {len(measured)} difference{'s' * (len(measured) > 1)} from {baselines}{named}, {hold} "
        f"{CORRECTED[comparison.options.correction]}{within} at {LEVEL:.0%}"
    ]
    others = {
        f"equivalent within the margin{constant}": len(alike),
        "undecided": len(measured) - len(holding) - len(alike) - len(repeated),
        "between identical documents": len(repeated),
    }
    parts += [f"{count} {'is' if count == 1 else 'are'} {what}" for what, count in others.items() if count]
    if len(rows) > len(measured):
        parts.append(f"{len(rows) - len(measured)} could not be tested")
    sentence = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    if untested := len(comparison.rows) - len(rows):
        sentence += f"; {untested} more {'is' if untested == 1 else 'are'} shown beside them and not tested"
    # a difference between texts of unlike length may be one of length alone, see LIKE
    unlike = sorted({row.run for row in holding} & _of_unlike_length(comparison).keys())
    if unlike:
        see = "" if comparison.options.length_matched else ", see --length-matched"
        who = " and ".join(filter(None, (", ".join(unlike[:-1]), unlike[-1])))
        sentence += f"; what {who} gained or lost may be length alone{see}"
    return sentence + "."


def findings(comparison: Comparison) -> list[str]:
    """What a comparison found, a plain sentence per run and measure; nothing of what could not be tested."""
    copies = comparison.repeated
    who = f"{len(copies)} runs wrote" if len(copies) > 1 else f"{''.join(copies)} wrote"
    lines = [f"{who} the same documents as the baseline: this compares nothing."] if copies else []
    needed = prompts_needed(comparison)
    least = {(scorer, family): lowest for scorer, family, *lowest in _least(comparison)}
    measured = [row for row in comparison.rows if row.tested and not math.isnan(row.finding.p_value)]
    tested = [row for row in measured if row.run not in copies]
    decided = {row.run for row in tested if row.finding.differs or row.finding.is_equivalent}
    # several runs of which nothing is known share one line, the last
    undecided = [row for row in tested if row.run not in decided]
    last: list[str] = []
    if len(runs := dict.fromkeys(row.run for row in undecided)) > 1:
        tested = [row for row in tested if row.run in decided]
        counts = [needed[key] for key in needed if key[0] in runs]
        found = f" ({max(counts)} would find any difference of {DIFFERENCE})" if counts else ""
        most = max(row.prompts for row in undecided)
        last = [f"Undecided with {most} {undecided[0].units}{found}: {', '.join(runs)}."]
    for run, scorer in dict.fromkeys((row.run, row.scorer) for row in tested):
        rows = [row for row in tested if (row.run, row.scorer) == (run, scorer)]
        higher, lower = ("more novel than", "less novel than") if scorer == "genie" else ("higher than", "lower than")
        groups: dict[str, list[Row]] = {}
        for row in rows:
            if row.finding.differs:
                said = f"{higher if row.finding.difference.delta > 0 else lower} {row.baseline}"
            elif row.finding.is_equivalent:
                said = f"equivalent to {row.baseline}"
            else:
                said = f"undecided with {row.prompts} {row.units}"
            groups.setdefault(said, []).append(row)
        every = f"all {len(rows)} features" if len(groups) == 1 < len(rows) else ""
        parts = []
        for said, own in groups.items():
            sure, enough = "", [count for row in own if (count := needed.get((row.run, row.scorer, row.key)))]
            if own[0].finding.differs:
                sizes = sorted((abs(row.finding.difference.delta), in_words(row.key)) for row in own)
                by = [f"{size:.2f} ({key})" if len(own) > 1 else f"{size:.2f}" for size, key in sizes]
                p, (pairs, lowest, tests) = max(row.finding.p_value for row in own), least[scorer, own[0].family]
                corrected = f"after correction for {tests} tests" if tests > 1 else "of one test"
                if comparison.options.correction == "none":
                    corrected = "uncorrected"
                told = f"p at most {p:.2g} {corrected}"
                # a larger effect could not have a smaller one
                if math.isclose(p, min(1.0, lowest * tests), rel_tol=1e-3):
                    told = f"p = {p:.2g} {corrected}, the smallest possible with {pairs} {comparison.units}"
                sized = " to ".join(dict.fromkeys((by[0], by[-1])))
                sure = f" by {sized} (significant, {'each with ' if len(own) > 1 else ''}{told})"
            elif not own[0].finding.is_equivalent and enough:
                sure = f" ({max(enough)} would find a difference of {DIFFERENCE})"
            parts.append(f"{said} in {every or listed([in_words(row.key) for row in own])}{sure}")
        lines.append(f"{f'{run} is' if scorer == 'genie' else f'{run}, {in_words(scorer)}:'} {'; '.join(parts)}.")
    return lines + last


def advice(comparison: Comparison) -> str:
    """How many prompts it would take where the power is under half; empty where it is nowhere."""
    # NaN: the deltas have no spread
    weak = [row for row in comparison.rows if row.finding.power < ENOUGH and not math.isnan(row.finding.needed)]
    if not weak:
        return ""
    least, *_, most = sorted([*weak, *weak], key=lambda row: row.finding.needed)
    prompts = [f"{row.finding.needed:,.0f} ({row.run} {in_words(row.key)})" for row in (least, most)]
    return (
        f"{len(weak)} of {sum(row.tested for row in comparison.rows)} tests miss a difference as large as their margin "
        f"more often than not: to find it in {USUAL_POWER:.0%} of runs takes {' to '.join(dict.fromkeys(prompts))} "
        f"{comparison.units} of this spread, or fewer with a wider --margin, if it is one that does not matter."
    )


def warnings(comparison: Comparison) -> list[str]:
    return [*_on_runs(comparison), *_on_pairs(comparison), *_on_samples(comparison), *_on_scores(comparison)]


def _on_runs(comparison: Comparison) -> Iterator[str]:
    way_out = "; --length-matched keeps documents and population of like length"
    if comparison.options.length_matched:
        way_out = "; each is within the band of the population's, at opposite ends"
    for label, (words, where, others) in _of_unlike_length(comparison).items():
        yield unlike_lengths(f"{label} writes", words, others, where) + way_out
    yield from filter(None, (cut_at_limit(run.label, run.cut, run.documents) for run in comparison.runs))
    for run in comparison.runs:
        if (lost := run.documents - run.scored) > MANY_LOST * run.documents:
            yield f"{run.label} lost {lost} of {run.documents} documents: what is left may be a selection"
        if run.fewer_responses[0]:
            yield "{} of {} samples gave fewer responses than asked for ({})".format(*run.fewer_responses, run.label)
    for label in comparison.repeated:
        yield (
            f"{label} wrote the same documents as its baseline, word for word: that does not show equivalence; the "
            "prompting method did not reach the model, or the model replays"
        )
    if comparison.unlike_coherence:
        yield f"coherence is not shown: {comparison.unlike_coherence}"


def _on_pairs(comparison: Comparison) -> Iterator[str]:
    for label in dict.fromkeys(row.run for row in comparison.rows):
        if max(row.finding.difference.pairs for row in comparison.rows if row.run == label) == 1:
            without = "without a second there is neither interval nor p-value"
            unit = comparison.units.removesuffix("s")
            yield f"{label} has one {unit} in common with its baseline: {without}"
    for label, own in comparison.pairs.items():
        if 1 < len(own.names) < FEW_SHARED * own.prompts:
            yield (
                f"{label} and its baseline share {len(own.names)} of {own.prompts} {units_of(own.by)}: "
                "their differences are about these alone"
            )
    for scorer, family, pairs, least, tests in _least(comparison):
        if least * tests >= LEVEL:
            corrected = f", over {tests} tests {min(1, least * tests):.2g} {CORRECTED[comparison.options.correction]}"
            units = comparison.units
            yield (
                f"{', '.join(filter(None, (scorer, family)))}: with {pairs} {units} no p-value lies "
                f"below {least:.2g}{corrected if tests > 1 else ''}: no difference could be significant, "
                f"however large; take more {units}, or fewer tests: name those that matter (--keys), or correct each "
                "run by itself (--family run)"
            )
    for label, own in comparison.pairs.items():
        if own.strays:
            yield (
                f"{label} has {own.strays} documents written after one that its baseline's log lacks, so prompts are "
                "paired; for pairs of documents run both with --cache true --max-tasks 1 (vLLM: and -M lazy_init=false)"
            )


def _least(comparison: Comparison) -> Iterator[tuple[str, str, int, float, int]]:
    """By scorer and family: most pairs of a test, the smallest p-value before correction, and tests to correct for."""
    for (scorer, family), differences in comparison.families.items():
        # of Holm's steps the first is the strictest: that of Bonferroni
        tests = tests_of(comparison, scorer, family)
        yield scorer, family, max(one.pairs for one in differences), min(one.least_p for one in differences), tests


def _on_samples(comparison: Comparison) -> Iterator[str]:
    """Samples that are not compared, of evaluations that are paired by sample or cluster."""
    for row in (row for row in comparison.rows if row.units != "prompts"):
        both, *only = comparison.pairs[row.run].samples
        lost = both - (row.finding.difference.pairs if row.instances is None else row.instances)
        if lost or any(only):
            yield (
                f"{row.run} {in_words(row.key)}: {both - lost} of {both + sum(only)} samples are compared: {only[0]} "
                f"are only in {row.baseline}, {only[1]} only in {row.run}, and {lost} have no score in one of the two"
            )
    for label, own in comparison.pairs.items():
        if own.shared_inputs:
            yield (
                f"{label}: {own.shared_inputs} samples share their input with another, and each counts as a question "
                "of its own; if they repeat one question, add --cluster prompt"
            )


def _on_scores(comparison: Comparison) -> Iterator[str]:
    for run in comparison.runs:
        for scorer, results in run.measures.items():
            where = f"{run.label}, {scorer}" if len(run.measures) > 1 else run.label
            yield from (f"{where}: {line}" for line in results.warnings)
    for row in comparison.rows:
        before, after = (part / whole if whole else 1.0 for part, whole in row.coverage)
        if abs(after - before) > UNLIKE and not row.questions[1]:
            yield (
                f"{row.run} {in_words(row.key)}: {after:.0%} of its questions were used, of its baseline's "
                f"{before:.0%}, and nothing says which: the difference may be one of questions"
            )
    for name in comparison.unmatched:
        yield f"{name} has no figures against population documents of like length: only what it scores is matched"


def _of_unlike_length(comparison: Comparison) -> dict[str, tuple[float, str, float]]:
    """Runs that write more or less than 1.5x the words of their baseline, or of the population."""
    facts = {run.label: run for run in comparison.runs}
    # baselines among them
    unlike = {
        run.label: (run.words, "the population has", run.population_words)
        for run in comparison.runs
        if are_unlike(run.words, run.population_words)
    }
    for row in comparison.rows:
        run, base = facts[row.run], facts[row.baseline]
        # answers to questions may be of any length
        if row.units == "prompts" and are_unlike(run.words, base.words):
            unlike[run.label] = (run.words, f"{base.label} writes", base.words)
    return unlike


DIFFERENCE = 0.05  # on a scale from 0 to 1


def prompts_needed(comparison: Comparison) -> dict[tuple[str, str, str], int]:
    """By run, scorer and key of the tested differences from 0 to 1: prompts that find 0.05 four times in five.

    At the correction's strictest level, with the spread between prompts that was seen; without any it is left out.
    """
    needed = {}
    for row in comparison.rows:
        spread, level = row.finding.difference.spread, LEVEL / tests_of(comparison, row.scorer, row.family)
        if row.is_unit and row.tested and spread > 0:
            needed[row.run, row.scorer, row.key] = pairs_that_find(DIFFERENCE, spread, level)
    return needed


def tests_of(comparison: Comparison, scorer: str, family: str) -> int:
    tests = comparison.families.get((scorer, family))
    return len(tests) if tests and comparison.options.correction != "none" else 1


def powers(comparison: Comparison, effect: float) -> Iterator[dict[str, Any]]:
    """For each tested difference the power of a two-sided paired t test, at 5% and at the correction's strictest level.

    The effect is given and not the observed one: power at the observed effect repeats the p-value. NaN with fewer than
    two pairs. `prompts` are those that either run was given, `pairs` those of them that have a score on both sides.

    Source: Genie (arXiv 2606.12790), table 5: at least .9 where 44 pairs or more survive, which is that of d = 0.5.
    """
    for row in filter(lambda row: row.tested, comparison.rows):
        pairs, tests = row.finding.difference.pairs, tests_of(comparison, row.scorer, row.family)
        told = {"run": row.run, "scorer": row.scorer, "key": row.key, "prompts": row.prompts, "pairs": pairs}
        for name, level in (("power", LEVEL), ("corrected", LEVEL / tests)):
            told[name] = paired_power(effect, 1.0, pairs, level) if pairs > 1 else math.nan
        yield told


COLUMNS = (
    *("run", "baseline", "scorer", "key", "tested", "paired_by", "prompts", "instances"),
    *(field.name for field in fields(Difference)),
    *("p_value_corrected", "p_unlike_corrected", "power_at_margin", "pairs_needed", "differs", "is_equivalent"),
    *("questions_used_before", "questions_asked_before", "questions_used_after", "questions_asked_after"),
    *("ratings_usable_before", "ratings_due_before", "ratings_usable_after", "ratings_due_after"),
    *("questions_common", "questions_asked"),
)


def as_values(comparison: Comparison, effect: float | None = None, *, with_pooled: bool = False) -> dict[str, Any]:
    options = comparison.options
    values = {
        "verdict": verdict(comparison),
        "advice": advice(comparison),
        "warnings": warnings(comparison),
        "baselines": comparison.baselines,
        "signatures": comparison.signatures,
        **{name: getattr(options, name) for name in ("correction", "keys", "family")},
        "test": comparison.test,
        **{name: getattr(options, name) for name in ("equivalence", "length_matched", "min_coherence")},
        "runs": comparison.runs,
        "differences": [dict(zip(COLUMNS, _values(row), strict=True)) for row in comparison.rows],
        **({} if effect is None else {"effect": effect, "power": list(powers(comparison, effect))}),
        **({"pooled": list(pooled(comparison))} if with_pooled else {}),
    }
    return {name: plain(value) for name, value in values.items()}


def as_csv(comparison: Comparison) -> str:
    return csv_text(COLUMNS, [plain(_values(row)) for row in comparison.rows])


def _values(row: Row) -> tuple[object, ...]:
    finding = row.finding
    return (
        *(row.run, row.baseline, row.scorer, row.key, row.tested, row.paired_by, row.prompts, row.instances),
        # the test's own p-values, before correction; those after it follow under other names
        *astuple(finding.difference),
        *(finding.p_value, finding.p_unlike, finding.power, finding.needed, finding.differs, finding.is_equivalent),
        *(count for share in (*row.coverage, *row.ratings) for count in share),
        # by prompt and question, where those above are counted by document
        *row.questions,
    )
