"""`genie compare`: models or prompting methods compared with a baseline."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

from genie_inspect.cli import options as cli
from genie_inspect.cli.tables import counted, figure, ranged, starred, used
from genie_inspect.files.tables import Table
from genie_inspect.logs.measures import shown_key
from genie_inspect.reports.charts import comparison_chart
from genie_inspect.reports.comparison import Comparison, PooledRow, check_copies, pooled
from genie_inspect.reports.comparison import compare as compared
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.verdict import advice, as_csv, as_values, powers, verdict, warnings
from genie_inspect.statistics.differences import LEVEL, MCNEMAR
from genie_inspect.statistics.equivalence import METHODS


def legend(comparison: Comparison) -> str:
    tests = Counter({family: len(differences) for family, differences in comparison.families.items()})
    each = "each measure and run" if any(family for _, family in tests) else "each measure"
    several = ", ".join(f"{' '.join(filter(None, family))} {count}" for family, count in tests.items())
    over = f"the tests of {each} ({several})" if len(tests) > 1 else f"{tests.total()} tests"
    rated = any(due for row in comparison.rows for _, due in row.ratings)
    keys = comparison.options.keys
    tested = f"tests were named beforehand ({', '.join(keys)})" if keys else "only each metric's main score is"
    in_units = any(row.instances is not None for row in comparison.rows)
    return (
        f"p raw: {comparison.test}; p: corrected ({comparison.options.correction}) over {over}. equivalence p: of a "
        f"difference beyond the margin, two one-sided {METHODS[comparison.options.equivalence]}, corrected likewise; "
        "small where both are equivalent. *: significant."
        + (f" -: not tested; {tested}." if any(not row.tested for row in comparison.rows) else "")
        + " power: a paired t test's chance of finding a difference as large as the margin; 0% where no p of so few "
        f"pairs could be significant. pairs: {comparison.units}"
        + (f" (pairs of {'documents' if comparison.units == 'prompts' else 'samples'} in them)" if in_units else "")
        + f". used: share of questions{' / of the expected ratings that count' if rated else ''}, baseline → run."
        f" {MEANS[comparison.units]} Intervals are of the same test, uncorrected: 0 is outside where "
        f"its p is below {LEVEL:.0%} by itself; [-, -]: too few pairs."
        + (f" Those of the {MCNEMAR} are Newcombe's for paired shares instead." if MCNEMAR in comparison.test else "")
    )


MEANS = {
    "prompts": "Means are over the prompts that both have, and of these over the questions that both answered (common:"
    " how many of those asked, prompt by prompt).",
    "samples": "Means are over the samples that both have, each the mean over its epochs.",
    "clusters": "Means are over clusters, each the mean over its samples that both have: a small cluster counts as much"
    " as a large one.",
}


def pooled_table(comparison: Comparison) -> Table:
    every = list(pooled(comparison))
    several = len({row.scorer for row in every}) > 1
    keys = list(dict.fromkeys((row.scorer, row.key) for row in every))
    shown = [f"{scorer}: " * several + shown_key(comparison.signatures[scorer], key) for scorer, key in keys]
    rows = []
    for strategy in dict.fromkeys(row.strategy for row in every):
        by_key = {(row.scorer, row.key): row for row in every if row.strategy == strategy}
        # what is no difference is the same in every row of a strategy
        first = next(iter(by_key.values()))
        pairs = sorted({row.finding.difference.pairs for row in by_key.values()})
        prompts = " to ".join(map(str, dict.fromkeys((pairs[0], pairs[-1]))))
        words = (first.run["words"], first.baseline["words"], first.run["population_words"])
        coherence = (figure(first.run["coherence"]), figure(first.baseline["coherence"]))
        differences = (_pooled_cell(by_key.get(key)) for key in keys)
        facts = (*(figure(count, ".0f") for count in words), *coherence)
        rows.append([strategy, str(first.models), prompts, *differences, *facts])
    heads = ["method", "models", comparison.units, *shown, "words", "baseline", "population", "coherence", "baseline's"]
    return Table(f"pooled over models: {comparison.units} are the units", heads, rows, look="narrow")


def _pooled_cell(row: PooledRow | None) -> str:
    if row is None:
        return "-"
    finding = row.finding
    over_models = finding.differs and row.p_models < LEVEL
    mark = "**" if over_models else "*" if finding.differs else "=" if finding.is_equivalent else " "
    return f"{figure(finding.difference.delta, '+.3f')}{mark} {row.same_sign}/{row.models}"


POOLED_KEY = (
    "Differences of a model's two runs on one prompt, averaged over models, then over prompts. *: significant, =:"
    " equivalent within the margin; prompts are the units, so this is about these models on other prompts."
    " **: significant with models as units, too (from three models), and so about other models like them. 2/3: models"
    " whose own difference has that sign, of all. words, coherence: of the method's documents, then of its baselines'"
    " and, for words, of the population's."
)


def difference_table(comparison: Comparison, run: str) -> Table:
    """Keys down; both ends of an interval that too few pairs leave open are dashes."""
    own = [row for row in comparison.rows if row.run == run]
    has_common = any(row.questions[1] for row in own)
    scorers = list(dict.fromkeys(row.scorer for row in own))
    rows: list[list[str]] = []
    for scorer in scorers:
        # a line without figures heads each scorer's rows
        rows += [[scorer]] if len(scorers) > 1 else []
        for row in (row for row in own if row.scorer == scorer):
            finding, difference = row.finding, row.finding.difference
            before, after = map(used, row.coverage, row.ratings)
            common = "{} of {}".format(*row.questions) if row.questions[1] else "-"
            cells = {
                "feature": shown_key(comparison.signatures[row.scorer], row.key),
                "baseline": figure(difference.before, ".3f"),
                "mean": figure(difference.after, ".3f"),
                "difference [95%]": ranged(difference.delta, difference.low, difference.high, "+.3f"),
                "d": figure(difference.effect, "+.2f"),
                "p raw": figure(difference.p_value, ".3f"),
                "p": starred(finding.p_value, finding.differs),
                "margin": figure(difference.margin, ".3f") if row.tested else "-",
                "equivalence p": starred(finding.p_unlike, finding.is_equivalent),
                "power": figure(finding.power, ".0%"),
                # prompts are the witnesses, documents stand in brackets: those of one prompt are alike
                "pairs": f"{difference.pairs}" + (f" ({row.instances})" if row.instances is not None else ""),
                **({"common": common} if has_common else {}),
                "used": f"{before or '-'} → {after or '-'}" if before or after else "-",
            }
            rows.append(list(cells.values()))
    title = f"{run} against {comparison.called(own[0].baseline)}, paired by {own[0].paired_by}"
    return Table(title, list(cells), rows, look="narrow")


@click.command()
@cli.LOGS
@cli.option("--baseline", required=True, help="Run to compare with: label, method, task, model or file.")
@cli.option("--scorer", "scorers", multiple=True, help="Scorer to compare by; repeatable. Default: all shared.")
@cli.option("--keys", help="Keys to test, such as plot,style. Default: main scores.")
@cli.option("--family", default="all", help="Tests to correct together: of all runs (all) or of each run (run).")
@cli.option("--correction", default="holm", help="Correct p by holm, bonferroni or none.")
@cli.option("--margin", type=float, help="Difference that does not matter. Default: 0.2 sd.")
@cli.option("--equivalence", default="t", help="Equivalence test: t or bootstrap.")
@cli.option("--cluster", metavar="KEY", help="What samples of one pair share: prompt, or metadata.NAME.")
@cli.flag("--length-matched", help="Use documents of the population's length (factor 1.5).")
@cli.option("--min-coherence", type=float, help="Lowest coherence of a document, 0 to 5. Default: all.")
@cli.option(
    "--power-at",
    "effect",
    type=click.FloatRange(0, min_open=True),
    metavar="D",
    help="Also show the power to find this Cohen's d.",
)
@cli.flag("--pooled", help="Also show each prompting method over all models.")
@cli.SIGNATURE
@cli.answering("tables", picture="a heatmap", csv="the differences")
def compare(
    logs: tuple[str, ...],
    baseline: str,
    keys: str | None,
    cluster: str | None,
    effect: float | None,
    pooled: bool,
    **options: Any,
) -> cli.Answer:
    """Compare models or prompting methods with a baseline.

    For each feature it shows the paired difference with its interval, test, equivalence and power. Runs are paired by
    prompt, scores of other scorers by sample, and negative sampling by document if possible. If several models have a
    baseline, each run is compared with its own model's. LOGS are log files or folders.

    \b
    Example: genie compare logs/grid --baseline grid_baseline --keys plot,perspective --family run
             genie compare logs/sums --baseline mockllm/small --cluster metadata.book
    """
    named = tuple(filter(None, (keys or "").split(",")))
    comparison = compared(logs, baseline, Options(keys=named, cluster=cluster or "", **options))
    if pooled:
        check_copies(comparison)
    return cli.Answer(
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
    has_left_out = any(run.left_out for run in comparison.runs)
    rows = []
    for run in comparison.runs:
        facts = [figure(run.words, ".0f"), figure(run.population_words, ".0f"), figure(run.coherence, ".1f")]
        left_out = [str(run.left_out)] if has_left_out else []
        rows.append([run.label, f"{run.scored} of {run.documents}", *facts, str(run.refusals), *left_out])
    heads = ["run", "scored", "words", "population", "coherence", "refused", *(["left out"] if has_left_out else [])]
    yield Table("beside the scores", heads, rows, look="narrow")
    if pooled:
        yield from (pooled_table(comparison), POOLED_KEY.replace("prompt", comparison.units.removesuffix("s")))
    if effect:
        title = (
            f"power to find an effect of d {effect:g}: at {LEVEL:.0%}, and at the level that the correction asks for"
        )
        rows = []
        for row in powers(comparison, effect):
            name = f"{row['run']} {shown_key(comparison.signatures[row['scorer']], row['key'])}"
            chances = [figure(row["power"], ".0%"), figure(row["corrected"], ".0%")]
            rows.append([name, str(row["prompts"]), str(row["pairs"]), *chances])
        yield Table(title, ["run, feature", comparison.units, "pairs", "power", "corrected"], rows, look="narrow")
    for run in comparison.runs:
        for scorer, results in run.measures.items():
            where = f"{run.label}, {scorer}" if len(run.measures) > 1 else run.label
            if results.unscored:
                yield f"{where} not scored: {counted(results.unscored)}"
            if results.faults:
                yield f"Missing in {where}: {counted(results.faults)}."
    yield from comparison.signatures.values()
    yield from (f"Warning: {note}." for note in warnings(comparison))
