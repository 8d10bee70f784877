"""`genie compare`: strategies against a baseline."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import click

from genie_inspect.cli.options import LOGS, SIGNATURE, Answer, answering, flag, option
from genie_inspect.cli.tables import Column, counted, figure, lines_table, ranged, starred, used
from genie_inspect.files.tables import Table
from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.charts import comparison_chart
from genie_inspect.reports.comparison import PooledRow, check_copies, pooled
from genie_inspect.reports.comparison import compare as compared
from genie_inspect.reports.pairing import Comparison, Facts, Options, Row
from genie_inspect.reports.verdict import advice, as_csv, as_values, powers, verdict, warnings
from genie_inspect.statistics.differences import LEVEL, TEST
from genie_inspect.statistics.equivalence import METHODS


def legend(comparison: Comparison) -> str:
    tests = Counter({family: len(differences) for family, differences in comparison.families.items()})
    each = "each measure and run" if any(family for _, family in tests) else "each measure"
    several = ", ".join(f"{' '.join(filter(None, family))} {count}" for family, count in tests.items())
    over = f"the tests of {each} ({several})" if len(tests) > 1 else f"{tests.total()} tests"
    rated = any(due for row in comparison.rows for _, due in row.ratings)
    keys = comparison.options.keys
    tested = f"tests were named beforehand ({', '.join(keys)})" if keys else "of a measure its headline is"
    by_instance = any(row.instances is not None for row in comparison.rows)
    return (
        f"p raw: {TEST}; p: corrected ({comparison.options.correction}) over {over}. equivalence p: of a difference "
        f"beyond the margin, two one-sided {METHODS[comparison.options.equivalence]}, corrected likewise; small where "
        "both are equivalent. *: holds."
        + (f" -: not tested; {tested}." if any(not row.tested for row in comparison.rows) else "")
        + " power: a paired t test's chance of finding a difference as large as the margin; 0% where no p of so few "
        "pairs could hold. pairs: prompts"
        + (" (pairs of documents in them)" if by_instance else "")
        + f". used: share of questions{' / of the ratings due that count' if rated else ''}, baseline → run."
        " Means are over the prompts that both have, and of these over the questions that both answered (common: how"
        f" many of those asked, prompt by prompt). Intervals are of the same test, uncorrected: 0 is outside where "
        f"its p is below {LEVEL:.0%} by itself; [-, -]: too few pairs."
    )


Pooled = Mapping[tuple[str, str], PooledRow]  # a strategy's, by scorer and key


def pooled_table(comparison: Comparison) -> Table:
    rows = list(pooled(comparison))
    by_strategy: dict[str, dict[tuple[str, str], PooledRow]] = {}
    for row in rows:
        by_strategy.setdefault(row.strategy, {})[row.scorer, row.key] = row
    several = len({row.scorer for row in rows}) > 1

    def column(scorer: str, key: str) -> Column[Pooled]:
        name = shown_key(comparison.signatures[scorer], key)
        return f"{scorer}: {name}" if several else name, lambda cells: _pooled_cell(cells.get((scorer, key)))

    columns = [column(*key) for key in dict.fromkeys((row.scorer, row.key) for row in rows)]
    title = "pooled over models: prompts are the units"
    return lines_table(title, "strategy", by_strategy.items(), [*POOLED[:2], *columns, *POOLED[2:]])


def _pooled_cell(row: PooledRow | None) -> str:
    if row is None:
        return "-"
    finding = row.finding
    over_models = finding.differs and row.p_models < LEVEL
    mark = "**" if over_models else "*" if finding.differs else "=" if finding.is_equivalent else " "
    return f"{figure(finding.difference.delta, '+.3f')}{mark} {row.same_sign}/{row.models}"


def _pooled_pairs(cells: Pooled) -> str:
    pairs = sorted({row.finding.difference.pairs for row in cells.values()})
    return " to ".join(map(str, dict.fromkeys((pairs[0], pairs[-1]))))


def _any(cells: Pooled) -> PooledRow:
    # what is no difference is the same in every row of a strategy
    return next(iter(cells.values()))


POOLED: tuple[Column[Pooled], ...] = (
    ("models", lambda cells: str(_any(cells).models)),
    ("prompts", _pooled_pairs),
    ("words", lambda cells: figure(_any(cells).run["words"], ".0f")),
    ("baseline", lambda cells: figure(_any(cells).baseline["words"], ".0f")),
    ("population", lambda cells: figure(_any(cells).run["population_words"], ".0f")),
    ("coherence", lambda cells: figure(_any(cells).run["coherence"])),
    ("baseline's", lambda cells: figure(_any(cells).baseline["coherence"])),
)
POOLED_KEY = (
    "Differences of a model's two runs on one prompt, averaged over models, then over prompts. *: holds, =: equivalent"
    " within the margin; prompts are the units, so that this is said of these models on other prompts. **: holds with"
    " models as units, too (from three models), and so of others like them. 2/3: models whose own difference has that"
    " sign, of all. words, coherence: of the strategy's documents, beside them those of its baselines and, of"
    " words, the population's."
)


def difference_table(comparison: Comparison, run: str) -> Table:
    """Keys down; means, difference with interval, Cohen's d, raw and corrected p-values, power, pairs, coverage across.

    Both ends of an interval that too few pairs leave open are dashes.
    """
    rows = [row for row in comparison.rows if row.run == run]
    scorers = list(dict.fromkeys(row.scorer for row in rows))
    lines: list[tuple[str, Row | None]] = []
    for scorer in scorers:
        # a line without figures heads each scorer's rows
        lines += [(scorer, None)] if len(scorers) > 1 else []
        lines += [(shown_key(comparison.signatures[scorer], row.key), row) for row in rows if row.scorer == scorer]
    title = f"{run} against {comparison.called(rows[0].baseline)}, paired by {rows[0].paired_by}"
    columns = [column for column in DIFFERENCE if column[0] != COMMON or any(row.questions[1] for row in rows)]
    return lines_table(title, "feature", lines, columns)


def _delta(row: Row) -> str:
    difference = row.finding.difference
    return ranged(difference.delta, difference.low, difference.high, "+.3f")


def _used(row: Row) -> str:
    before, after = map(used, row.coverage, row.ratings)
    return f"{before or '-'} → {after or '-'}" if before or after else "-"


COMMON = "common"
DIFFERENCE: tuple[Column[Row], ...] = (
    ("baseline", lambda row: figure(row.finding.difference.before, ".3f")),
    ("mean", lambda row: figure(row.finding.difference.after, ".3f")),
    ("difference [95%]", _delta),
    ("d", lambda row: figure(row.finding.difference.effect, "+.2f")),
    ("p raw", lambda row: figure(row.finding.difference.p_value, ".3f")),
    ("p", lambda row: starred(row.finding.p_value, row.finding.differs)),
    ("margin", lambda row: figure(row.finding.difference.margin, ".3f") if row.tested else "-"),
    ("equivalence p", lambda row: starred(row.finding.p_unlike, row.finding.is_equivalent)),
    ("power", lambda row: figure(row.finding.power, ".0%")),
    # prompts are the witnesses, documents stand in brackets: those of one prompt are alike
    (
        "pairs",
        lambda row: f"{row.finding.difference.pairs}" + (f" ({row.instances})" if row.instances is not None else ""),
    ),
    (COMMON, lambda row: "{} of {}".format(*row.questions) if row.questions[1] else "-"),
    ("used", _used),
)
POWER: tuple[Column[Mapping[str, Any]], ...] = (
    ("prompts", lambda row: str(row["prompts"])),
    ("pairs", lambda row: str(row["pairs"])),
    ("power", lambda row: figure(row["power"], ".0%")),
    ("corrected", lambda row: figure(row["corrected"], ".0%")),
)
LEFT_OUT = "left out"
RUN: tuple[Column[Facts], ...] = (
    ("scored", lambda run: f"{run.scored} of {run.documents}"),
    ("words", lambda run: figure(run.words, ".0f")),
    ("population", lambda run: figure(run.population_words, ".0f")),
    ("coherence", lambda run: figure(run.coherence, ".1f")),
    ("refused", lambda run: str(run.refusals)),
    (LEFT_OUT, lambda run: str(run.left_out)),
)


@click.command()
@LOGS
@option("--baseline", required=True, help="A run by label, strategy, task, model or file.")
@option("--scorer", "scorers", multiple=True, help="Whose scores; default: all that every log has.")
@option(
    "--keys",
    help="Keys to test, such as plot,perspective; name them before you look. Default: each measure's headline.",
)
@option(
    "--family",
    default="all",
    help="Tests that are corrected together: all runs' (does any differ?), or each run's (each is a question: run).",
)
@option("--correction", default="holm", help="holm, bonferroni or none, within a measure and --family.")
@option("--margin", type=float, help="Difference that does not matter; default: 0.2 sd of the baseline.")
@option("--equivalence", default="t", help="Two one-sided tests: t, or the study's bootstrap.")
@flag("--length-matched", help="Documents and population of like length alone (1.5x).")
@option("--min-coherence", type=float, help="Leave out documents that are rated lower, or not rated.")
@option(
    "--power-at",
    "effect",
    type=click.FloatRange(0, min_open=True),
    metavar="D",
    help="Also say how often an effect of this size (Cohen's d, 0.5 is medium) is found with the pairs that survived.",
)
@flag("--pooled", help="Also a row per strategy, over all models; prompts are the units.")
@SIGNATURE
@answering("tables", picture="a heatmap", csv="the differences")
def compare(
    logs: tuple[str, ...],
    baseline: str,
    keys: str | None,
    effect: float | None,
    pooled: bool,
    **options: Any,
) -> Answer:
    """What a strategy changes, feature by feature: paired differences with interval, test, equivalence and power.

    LOGS are log files or folders; unfinished logs of a folder are left out. Runs are paired by prompt; negative
    sampling by instance where the baseline holds the documents that it started from. With a baseline for each of
    several models, each run meets its own model's.

    \b
    Example: genie compare logs/grid --baseline grid_baseline
             genie compare logs/grid --baseline grid_baseline --keys plot,perspective --family run
             genie compare logs/grid --baseline grid_baseline --pooled --power-at 0.5
    """
    comparison = compared(logs, baseline, Options(keys=tuple(filter(None, (keys or "").split(","))), **options))
    if pooled:
        check_copies(comparison)
    return Answer(
        as_values(comparison, effect, with_pooled=pooled),
        _parts(comparison, effect, pooled),
        chart=lambda: comparison_chart(comparison),
        csv=lambda: as_csv(comparison),
    )


def _parts(comparison: Comparison, effect: float | None, pooled: bool) -> Iterator[Table | str]:
    for sentence in filter(None, (verdict(comparison), advice(comparison))):
        yield from (sentence, "")
    yield from (difference_table(comparison, run) for run in dict.fromkeys(row.run for row in comparison.rows))
    yield from (legend(comparison), "")
    # without a selection nothing is left out, and a column of zeros says nothing
    columns = [column for column in RUN if column[0] != LEFT_OUT or any(run.left_out for run in comparison.runs)]
    yield lines_table("beside the scores", "run", [(run.label, run) for run in comparison.runs], columns)
    if pooled:
        yield from (pooled_table(comparison), POOLED_KEY)
    if effect:
        title = (
            f"power to find an effect of d {effect:g}: at {LEVEL:.0%}, and at the level that the correction asks for"
        )
        lines = [
            (f"{row['run']} {shown_key(comparison.signatures[row['scorer']], row['key'])}", row)
            for row in powers(comparison, effect)
        ]
        yield lines_table(title, "run, feature", lines, POWER)
    for run in comparison.runs:
        for scorer, results in run.measures.items():
            where = f"{run.label}, {scorer}" if len(run.measures) > 1 else run.label
            if results.unscored:
                yield f"{where} not scored: {counted(results.unscored)}"
            if results.faults:
                yield f"Missing in {where}: {counted(results.faults)}."
    yield from comparison.signatures.values()
    yield from (f"Beware: {note}." for note in warnings(comparison))
