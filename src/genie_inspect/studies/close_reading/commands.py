"""`genie close-reading`: what close readers find, beside n-gram novelty and beside people."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from genie_inspect.cli import VerbGroup
from genie_inspect.cli.options import FILE, Answer, answering, listed, resamples_option, seed_option
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.files.tables import Table
from genie_inspect.studies.close_reading.meeting import (
    AWKWARD,
    NOVEL,
    VERDICTS,
    Meeting,
    logged_ratings,
    meeting_chart,
)
from genie_inspect.studies.close_reading.meeting import meeting as meeting_of
from genie_inspect.studies.close_reading.mixed_models import (
    ALL,
    FittedTable,
    PreferenceModel,
    fitted_table,
    preferences,
)
from genie_inspect.studies.close_reading.readers import (
    FIGURES,
    RULES,
    AspectAgreement,
    agreement_by_aspect,
    passages_with,
)
from genie_inspect.studies.tables import shown_interval, study_table

VERBS = {
    "meeting": (
        "genie_inspect.studies.close_reading.commands:meeting",
        "What readers find in the expressions that are newest to a corpus; needs no name.",
    ),
    "agreement": (
        "genie_inspect.studies.close_reading.commands:agreement",
        "How far readers mark what experts mark.",
    ),
    "fit": ("genie_inspect.studies.close_reading.commands:fit", "What goes with a verdict, by a mixed logistic model."),
    "preference": (
        "genie_inspect.studies.close_reading.commands:preference",
        "Whether marks say which of two texts people prefer.",
    ),
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
    verbs=VERBS,
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
@seed_option("Of the bootstrap.")
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
        quarter = [
            [verdict, *(shown_interval(shares.shares[verdict], _percent, "none") for shares in both)]
            for verdict in VERDICTS
        ]
        title = f"The most n-gram-novel quarter: log perplexity above {found.threshold:.2f} [95% interval]"
        of = ["of", *(f"{shares.count:,}" for shares in both)]
        yield study_table(title, ("", "by rating", "by expression"), [*quarter, [], of])
        title = f"All expressions, and odds over those of {found.baseline} [95% interval]"
        yield study_table(title, ("", *found.sources), _source_rows(found))
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


def _source_rows(found: Meeting) -> Iterator[list[str]]:
    sources = found.sources.values()
    yield ["expressions", *(f"{source.expressions:,}" for source in sources)]
    yield ["ratings", *(f"{source.ratings:,}" for source in sources)]
    for verdict in VERDICTS:
        yield [verdict, *(_percent(source.shares[verdict]) for source in sources)]
    yield []
    for verdict in (NOVEL, AWKWARD):
        odds = {name: shown_interval(source.odds[verdict]) for name, source in found.sources.items()}
        yield [f"odds of {verdict}", *(odds | {found.baseline: "1"}).values()]


def _percent(share: float) -> str:
    return "none" if math.isnan(share) else f"{100 * share:.1f}%"


RULE_NOTE = (
    "Published: a mark is right where it contains an expert's or lies in it, or is 90 alike; the whole passage as one "
    "mark scores 1. Strict: one to one, for the words that both share. An invented quote (it does not stand in the "
    "passage) is a wrong mark by both rules."
)


@click.command()
@click.argument("passages", type=FILE)
@click.option("--logs", multiple=True, help="Logs with close_reading scores of the same texts; repeatable.")
@resamples_option()
@seed_option("Of the bootstrap.")
@answering("tables")
def agreement(passages: Path, logs: tuple[str, ...], resamples: int, seed: int) -> Answer:
    """How far readers mark what experts marked in PASSAGES (JSON Lines), and experts what the others did.

    A line a passage, with who marked what in it by aspect. Intervals: 95%, by bootstrap over passages.

    \b
    Example: genie close-reading agreement passages.jsonl --logs logs/
    """
    found = agreement_by_aspect(passages_with(passages, logs), resamples, seed)

    def parts() -> Iterator[Table | str]:
        for aspect, held in found.items():
            title = f"{aspect}: marks against the experts' [95% interval]"
            yield study_table(title, ("", *held.readers), _agreement_rows(held))
            kappa = held.kappa
            said = "no passage has two."
            if kappa.batches:
                spread = f", spread {kappa.spread:.4f} over {kappa.batches} batches" if kappa.batches > 1 else ""
                said = f"free-marginal kappa {kappa.mean:.4f}{spread} ({kappa.units:,} expressions)."
            yield Unbroken(f"Experts among themselves: {said}")
        yield Unbroken(RULE_NOTE)

    return Answer(found, parts())


def _agreement_rows(held: AspectAgreement) -> Iterator[list[str]]:
    readers = held.readers.values()
    names = {"passages": "passages", "marks": "marks", "invented": "invented quotes", "gold": "experts' marks"}
    for name, shown in names.items():
        yield [shown, *(str(getattr(reader, name)) for reader in readers)]
    for rule in RULES:
        yield []
        for figure in FIGURES:
            head = f"{rule}: {figure.upper() if figure == 'f1' else figure}"
            yield [head, *(shown_interval(reader.rules[rule][figure]) for reader in readers)]


HEADS = ("", "coefficient", "error", "odds ratio", "95% interval", "p")


def model_table(title: str, model: FittedTable | PreferenceModel, groups: Mapping[str, int], rows: str = "") -> Table:
    effects = [
        (
            name,
            f"{effect.coefficient:.3f}",
            f"{effect.standard_error:.3f}",
            f"{effect.odds_ratio:.3g}",
            f"[{effect.low:.3g}, {effect.high:.3g}]",
            "< .001" if effect.p_value < 0.001 else f"{effect.p_value:.3f}",
        )
        for name, effect in model.effects.items()
    ]
    variances = [f"{name} {variance:.3f} ({groups[name]} groups)" for name, variance in model.variances.items()]
    caption = (
        f"{rows}Log-likelihood {model.log_likelihood:.2f}, AIC {model.aic:.2f}.\n"
        f"Variances of random intercepts: {', '.join(variances)}."
    )
    return study_table(title, HEADS, effects, caption=caption)


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
    model = fitted_table(table, outcome, fixed, groups, standardised=standardised, within=within)

    def parts() -> Iterator[Table | str]:
        left_out = f", {model.left_out} left out" if model.left_out else ""
        rows = f"{model.rows} rows{left_out}. "
        yield model_table(f"Log-odds of {model.outcome}", model, model.groups, rows)

    return Answer(model, parts())


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
    found = preferences(pairs, measures, groups, standardised=standardised)

    def parts() -> Iterator[Table | str]:
        for name, model in found.models.items():
            yield model_table("All measures together" if name == ALL else name, model, found.groups)
        best = min(found.models, key=lambda name: found.models[name].aic)
        left_out = f", {found.left_out} left out" if found.left_out else ""
        yield f"{found.rows} judgements{left_out}. Lowest AIC: {best}."

    return Answer(found, parts())
