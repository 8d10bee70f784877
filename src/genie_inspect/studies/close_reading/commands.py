"""`genie close-reading`: what close readers find, beside n-gram novelty and beside people."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from genie_inspect.cli import VerbGroup, verbs_of
from genie_inspect.cli.options import FILE, Answer, answering, listed, resamples_option, seed_option
from genie_inspect.cli.tables import ranged
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.files.tables import Table
from genie_inspect.statistics.bootstrap import BootstrapInterval
from genie_inspect.statistics.mixed import MixedModel
from genie_inspect.studies.close_reading.meeting import AWKWARD, NOVEL, VERDICTS, logged_ratings, meeting_chart
from genie_inspect.studies.close_reading.meeting import meeting as meeting_of
from genie_inspect.studies.close_reading.mixed_models import ALL, effects_of, fitted_table, preferences
from genie_inspect.studies.close_reading.readers import FIGURES, RULES, agreement_by_aspect, passages_with

VERBS = {
    "meeting": "What readers find in the expressions that are newest to a corpus; needs no name.",
    "agreement": "How far readers mark what experts mark.",
    "fit": "What goes with a verdict, by a mixed logistic model.",
    "preference": "Whether marks say which of two texts people prefer.",
}


class CloseReading(VerbGroup):
    """A group whose first word may also be a folder of logs."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in VERBS else ["meeting", *args])


# an option before the first word is the verb's, which may not be named
@click.group(
    cls=CloseReading,
    verbs=verbs_of(__name__, VERBS),
    no_args_is_help=True,
    subcommand_metavar="[VERB] LOGS|FILE...",
    context_settings={"ignore_unknown_options": True},
)
def close_reading() -> None:
    """Close readings of texts: beside n-gram novelty, beside experts, beside what people prefer.

    Without a verb, LOGS are log files or folders with scores of close_reading and expression_novelty; a folder that is
    called like a verb is given as ./fit.

    \b
    Example: genie close-reading logs/ --picture quarter.svg
             genie close-reading agreement passages.jsonl
    """


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--baseline", default="", help="The run with whose odds others are compared.  [default: the first]")
@resamples_option()
@seed_option(help="Of the bootstrap.")
@answering("tables", picture="a chart")
def meeting(logs: tuple[str, ...], baseline: str, resamples: int, seed: int) -> Answer:
    """What close readers find in the most n-gram-novel quarter of the expressions in LOGS.

    Needs scores of close_reading and expression_novelty on the same texts. Intervals: 95%, by bootstrap over prompts.

    \b
    Example: genie close-reading logs/ --picture quarter.svg
    """
    ratings, left_out = logged_ratings(logs)
    found = meeting_of(ratings, baseline, resamples, seed)

    def parts() -> Iterator[Table | str]:
        both = (found.by_rating, found.by_expression)
        rows = [[name, *(_shown(shares.shares[name], ".1%", "none") for shares in both)] for name in VERDICTS]
        title = f"The most n-gram-novel quarter: log perplexity above {found.threshold:.2f} [95% interval]"
        of = ["of", *(f"{shares.count:,}" for shares in both)]
        yield Table(title, ("", "by rating", "by expression"), [*rows, None, of], look="folded")
        sources = found.sources.values()
        rows = [[what, *(f"{getattr(source, what):,}" for source in sources)] for what in ("expressions", "ratings")]
        rows += [[verdict, *(_percent(source.shares[verdict]) for source in sources)] for verdict in VERDICTS]
        odds = []
        for verdict in (NOVEL, AWKWARD):
            shown = {name: _shown(source.odds[verdict]) for name, source in found.sources.items()}
            odds.append([f"odds of {verdict}", *(shown | {found.baseline: "1"}).values()])
        title = f"All expressions, and odds over those of {found.baseline} [95% interval]"
        yield Table(title, ("", *found.sources), [*rows, None, *odds], look="folded")
        below, lowest = _percent(found.novel_below_mean), _percent(found.novel_in_lowest_quarter)
        yield Unbroken(
            f"Of the ratings as novel {below} are of expressions less n-gram-novel than the "
            f"mean, {lowest} of the least n-gram-novel quarter."
        )
        if found.by_rating.count == found.by_expression.count:
            yield Unbroken("Every expression has one rating, so that both columns are one.")
        if left_out:
            yield Unbroken(f"Left out: {left_out} texts that lack one of the two scores, or a value of it.")

    return Answer(found, parts(), lambda: meeting_chart(found))


def _shown(interval: BootstrapInterval, form: str = ".2f", none: str = "undefined") -> str:
    return ranged(interval.value, interval.low, interval.high, form, none)


def _percent(share: float) -> str:
    return "none" if math.isnan(share) else f"{share:.1%}"


RULE_NOTE = (
    "Published: a mark is right where it contains an expert's or lies in it, or is 90 alike; the whole passage as one "
    "mark scores 1. Strict: one to one, for the words that both share. An invented quote (it does not stand in the "
    "passage) is a wrong mark by both rules."
)


@click.command()
@click.argument("passages", type=FILE)
@click.option("--logs", multiple=True, help="Logs with close_reading scores of the same texts; repeatable.")
@resamples_option()
@seed_option(help="Of the bootstrap.")
@answering("tables")
def agreement(passages: Path, logs: tuple[str, ...], resamples: int, seed: int) -> Answer:
    """How far readers mark what experts marked in PASSAGES (JSON Lines), and experts what the others did.

    A line a passage, with who marked what in it by aspect. Intervals: 95%, by bootstrap over passages.

    \b
    Example: genie close-reading agreement passages.jsonl --logs logs/
    """
    found = agreement_by_aspect(passages_with(passages, logs), resamples, seed)

    def parts() -> Iterator[Table | str]:
        counts = {"passages": "passages", "marks": "marks", "invented": "invented quotes", "gold": "experts' marks"}
        for aspect, held in found.items():
            readers, kappa = held.readers.values(), held.kappa
            rows: list[list[str] | None] = [
                [shown, *(str(getattr(reader, name)) for reader in readers)] for name, shown in counts.items()
            ]
            for rule in RULES:
                rows.append(None)
                for figure in FIGURES:
                    head = f"{rule}: {figure.upper() if figure == 'f1' else figure}"
                    rows.append([head, *(_shown(reader.rules[rule][figure]) for reader in readers)])
            title = f"{aspect}: marks against the experts' [95% interval]"
            yield Table(title, ("", *held.readers), rows, look="folded")
            said = "no passage has two."
            if kappa.batches:
                spread = f", spread {kappa.spread:.4f} over {kappa.batches} batches" if kappa.batches > 1 else ""
                said = f"free-marginal kappa {kappa.mean:.4f}{spread} ({kappa.units:,} expressions)."
            yield Unbroken(f"Experts among themselves: {said}")
        yield Unbroken(RULE_NOTE)

    return Answer(found, parts())


def model_table(title: str, model: MixedModel, rows: str = "") -> Table:
    effects = [
        (
            name,
            f"{effect['coefficient']:.3f}",
            f"{effect['standard_error']:.3f}",
            f"{effect['odds_ratio']:.3g}",
            f"[{effect['low']:.3g}, {effect['high']:.3g}]",
            "< .001" if effect["p_value"] < 0.001 else f"{effect['p_value']:.3f}",
        )
        for name, effect in effects_of(model).items()
    ]
    variances = [f"{name} {variance:.3f} ({model.groups[name]} groups)" for name, variance in model.variances.items()]
    caption = (
        f"{rows}Log-likelihood {model.log_likelihood:.2f}, AIC {model.aic:.2f}.\n"
        f"Variances of random intercepts: {', '.join(variances)}."
    )
    heads = ("", "coefficient", "error", "odds ratio", "95% interval", "p")
    return Table(title, heads, effects, caption=caption, look="folded")


def model_facts(model: MixedModel) -> dict[str, Any]:
    fit = {"log_likelihood": model.log_likelihood, "aic": model.aic}
    return {"effects": effects_of(model), "variances": model.variances, **fit}


MODEL_GROUPS = click.option(
    "--group", "groups", required=True, metavar="COLUMN,...", callback=listed, help="Random intercepts."
)


@click.command()
@click.argument("table", type=FILE)
@click.option("--outcome", required=True, metavar="COLUMN", help="1 or 0, true or false, in each row.")
@click.option("--fixed", required=True, metavar="COLUMN,...", callback=listed, help="Predictors; a:b is a product.")
@MODEL_GROUPS
@click.option("--standardise", "standardised", is_flag=True, help="Numbers count in standard deviations.")
@click.option("--within", type=click.FloatRange(0, min_open=True), help="Leave out rows further off, in these.")
@answering("a table")
def fit(
    table: Path, outcome: str, fixed: tuple[str, ...], groups: tuple[str, ...], standardised: bool, within: float | None
) -> Answer:
    """A mixed logistic model of TABLE (CSV or JSON Lines): what goes with the outcome, by how much.

    A predictor is a column of numbers, or of categories: name=baseline says what the others are compared with. Each
    grouping has a random intercept; they may be crossed. Rows with an empty cell are left out and counted.

    \b
    Example: genie close-reading fit ratings.csv --outcome creative --fixed log_ppl --group source,annotator,passage
    """
    model, left_out = fitted_table(table, outcome, fixed, groups, standardised=standardised, within=within)

    def parts() -> Iterator[Table | str]:
        rows = f"{model.rows} rows{f', {left_out} left out' if left_out else ''}. "
        yield model_table(f"Log-odds of {outcome}", model, rows)

    counts = {"outcome": outcome, "rows": model.rows, "left_out": left_out, "groups": model.groups}
    return Answer(counts | model_facts(model), parts())


@click.command()
@click.argument("pairs", type=FILE)
@click.option(
    "--measure",
    "measures",
    default="novel_per_100_words,awkward_per_100_words,creativity_index_mean",
    show_default=True,
    metavar="NAME,...",
    callback=listed,
    help="Columns NAME_a and NAME_b.",
)
@MODEL_GROUPS
@click.option("--standardise", "standardised", is_flag=True, help="Differences count in standard deviations.")
@answering("tables")
def preference(pairs: Path, measures: tuple[str, ...], groups: tuple[str, ...], standardised: bool) -> Answer:
    """Which differences between two texts predict which of them people prefer.

    PAIRS (CSV or JSON Lines) has a row a judgement: preferred (a or b), and for each measure NAME the columns NAME_a
    and NAME_b: a number, or in JSON Lines a list of marks, counted per 100 words of the texts in a and b. Each measure
    has a model, and all of them together one, over the same rows, so that their AIC compare.

    \b
    Example: genie close-reading preference pairs.jsonl --measure novel,creativity_index_mean --group reader,prompt
    """
    models, left_out = preferences(pairs, measures, groups, standardised=standardised)
    best = min(models, key=lambda name: models[name].aic)
    rows = models[best].rows

    def parts() -> Iterator[Table | str]:
        for name, model in models.items():
            yield model_table("All measures together" if name == ALL else name, model)
        yield f"{rows} judgements{f', {left_out} left out' if left_out else ''}. Lowest AIC: {best}."

    facts = {name: model_facts(model) for name, model in models.items()}
    value = {"rows": rows, "left_out": left_out, "groups": models[best].groups, "models": facts}
    return Answer(value, parts())
