"""`genie study`: whether a measure deserves trust."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import click
from rich.console import Console, RenderableType  # noqa: TID251  # types, whose objects come from the door
from rich.table import Table

from genie_inspect.cli.options import Answer, answering
from genie_inspect.cli.tables import Head, blocks, figure, in_parts, ranged, starred
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.logs.evidence import Share
from genie_inspect.logs.scores import is_signed
from genie_inspect.populations.interventions import PARAPHRASE
from genie_inspect.reports.charts import in_words, study_chart
from genie_inspect.reports.effects import LENGTH, Effect
from genie_inspect.reports.study import StudiedMeasure, Study
from genie_inspect.reports.study import study as studied
from genie_inspect.reports.study_verdict import EFFECTS, MATRIX, as_csv, as_values, is_largest, sentence, warnings
from genie_inspect.statistics.differences import LEVEL, TEST

LEGEND = (
    "A prompt is one pair: the mean of its originals beside the mean of the texts made of them. sd: of the "
    f"differences; d: their mean over it. p: {TEST}, Bonferroni over the features; *: below {LEVEL:g}. bootstrap p: as "
    "the study has it, which with few prompts finds too much. equivalence p: of a difference beyond 0.2 sd of the "
    "originals, two one-sided t tests, and beside it the study's bootstraps; =: equivalent. words: by how many the "
    "texts are longer than their originals. less length: the difference less what the prompt's other texts move the "
    "measure per word, times the change in words; *: holds by the same test. constant: no text differs from its "
    "original, so that there is no effect and no test."
)


@dataclass(frozen=True, slots=True)
class _Line:
    """An effect, and with how many decimals its measure shows."""

    effect: Effect
    decimals: int

    def shown(self, value: float, sign: str = "") -> str:
        return figure(value, f"{sign}.{self.decimals}f")


def effect_tables(study: Study, console: Console) -> list[Table]:
    """By measure a line an intervention; of a measure by feature, a line for each of its features under paraphrase."""
    lines: list[tuple[str, _Line | None]] = []
    for measure in study.measures:
        # a line without figures heads each measure's rows
        lines.append((in_words(measure.name), None))
        judged = [effect for effect in measure.effects if effect.is_judged]
        lines += [(_label(effect, measure), _Line(effect, measure.decimals)) for effect in judged]
    # without texts nothing is known of words
    has_words = any(measure.is_length for measure in study.measures)
    heads = [head for head in EFFECT if has_words or head.name not in ("words", "less length")]
    originals = f"originals: {len(study.texts.originals)}"
    if not study.texts.originals:
        originals = "no originals: edits of other features stand for them"
        heads = [Head("other edits", heads[0].cell), *heads[1:]]
    own = "" if study.names_prompts else " (each original its own)"
    title = f"edits and paraphrases; prompts: {len(set(study.texts.prompts.values()))}{own}, {originals}"
    return blocks(title, "intervention", lines, heads, console)


def matrix_tables(study: Study, console: Console) -> list[Table]:
    """Of each measure by feature: interventions down, its features across, the mean difference with d."""
    tables = []
    for measure in study.measures:
        if measure.is_by_feature:
            title = f"{in_words(measure.name)}: mean difference (d); > the largest d of its row, where it holds"
            heads = [Head(in_words(key), partial(_matrix_cell, measure, key)) for key in measure.keys]
            tables += blocks(title, "intervention", _interventions(study), heads, console)
    return tables


def published_tables(study: Study, console: Console) -> list[Table]:
    """Effect sizes beside the printed ones; nothing where no measure of the study is among those."""
    heads: list[Head[str]] = []
    for measure in study.measures:
        if measure.printed_as in EFFECTS:
            heads += [
                Head(in_words(measure.name), partial(_own_d, measure)),
                Head("printed", partial(_printed, measure)),
            ]
    title = "d beside the printed one (arXiv 2606.12790, table 3); of features under paraphrase the mean of |d|"
    tables = blocks(title, "intervention", _interventions(study), heads, console) if heads else []
    for measure in study.measures:
        if measure.is_by_feature and measure.printed_as in EFFECTS:
            columns = [Head(in_words(key), partial(_beside_printed, measure, key)) for key in measure.keys]
            title = f"{in_words(measure.name)}: d of every feature / the printed one (table 14)"
            tables += blocks(title, "intervention", _interventions(study), columns, console)
    return tables


def agreement_tables(study: Study, console: Console) -> list[Table]:
    """Kendall's tau of the differences of the first measure with each other one, interventions across."""
    first = study.measures[0].name
    # what a constant measure, and what a feature of it, puts in no order has no line and no column
    tau = {
        (other, intervention): tau
        for (one, other, intervention), (tau, _) in study.agreements.items()
        if one == first and not math.isnan(tau)
    }
    others = list(dict.fromkeys(other for other, _ in tau))
    interventions = [one for one in study.texts.changed if any((other, one) in tau for other in others)]
    heads = [Head(in_words(one), partial(_tau, tau, one)) for one in interventions]
    title = f"Kendall's tau between the differences of {in_words(first)} and those of other measures"
    lines = [(in_words(other), other) for other in others]
    return blocks(title, "measure", lines, heads, console) if heads else []


def answer_tables(study: Study, console: Console) -> list[Table]:
    """Interventions down, features across: how many answers are other words than the original's."""
    tables = []
    for scorer in dict.fromkeys(scorer for scorer, _, _ in study.answers):
        counts = {(one, feature): share for (of, one, feature), share in study.answers.items() if of == scorer}
        features = dict.fromkeys(feature for _, feature in counts)
        heads = [Head(in_words(feature), partial(_answers, counts, feature)) for feature in features]
        title = f"{in_words(scorer)}: answers that changed, by feature of the question"
        tables += blocks(title, "intervention", _interventions(study), heads, console)
    return tables


def _interventions(study: Study) -> list[tuple[str, str | None]]:
    return [(in_words(one), one) for one in study.texts.changed]


def _label(effect: Effect, measure: StudiedMeasure) -> str:
    name = in_words(effect.intervention)
    # of one edit a measure by feature is judged by that feature; of a paraphrase by all
    return f"{name}: {in_words(effect.key.name)}" if effect.is_paraphrase and len(measure.keys) > 1 else name


def _matrix_cell(measure: StudiedMeasure, key: str, intervention: str) -> str:
    row = measure.row(intervention)
    effect = next(effect for effect in row if effect.key.name == key)
    if effect.is_constant or math.isnan(effect.difference.delta):
        return _d(effect)
    mark = ">" if intervention != PARAPHRASE and effect.moved and is_largest(effect, measure) else ""
    return f"{mark}{effect.difference.delta:+.{measure.decimals}f} ({_d(effect)})"


def _own_d(measure: StudiedMeasure, intervention: str) -> str:
    """The effect size of an intervention on a measure: that of the edited feature, or the mean |d| over the features.

    Effects that go both ways would have a mean of 0.
    """
    effects = [effect for effect in measure.row(intervention) if effect.is_judged]
    if len(effects) == 1:
        return _d(effects[0])
    return _mean_size(effect.difference.effect for effect in effects if effect.key.tested)


def _mean_size(effects: Iterable[float]) -> str:
    sizes = [abs(effect) for effect in effects if not math.isnan(effect)]
    return f"|{math.fsum(sizes) / len(sizes):.2f}|" if sizes else "-"


def _printed(measure: StudiedMeasure, intervention: str) -> str:
    published = EFFECTS[measure.printed_as].get(intervention)
    if published is None:
        return "-"
    is_paraphrase = intervention == PARAPHRASE
    mark = ("=" if is_paraphrase else "*") if published["holds"] else ""
    if measure.is_by_feature and is_paraphrase:
        # table 3 has the mean of what table 14 has by feature
        return _mean_size(MATRIX[intervention].values()) + mark
    return f"{published['effect']:+.2f}{mark}"


def _beside_printed(measure: StudiedMeasure, key: str, intervention: str) -> str:
    effect = next(effect for effect in measure.row(intervention) if effect.key.name == key)
    printed = MATRIX.get(intervention, {}).get(key, math.nan)
    return f"{_d(effect)} / {figure(printed, '+.2f')}"


def _d(effect: Effect) -> str:
    """The effect size with its mark: * where it holds, = where a paraphrase is equivalent."""
    if effect.is_constant:
        return "constant=" if effect.is_equivalent else "constant"
    mark = "=" if effect.is_equivalent else "*" if effect.moved else ""
    return figure(effect.difference.effect, "+.2f") + mark


def _delta(line: _Line) -> str:
    difference = line.effect.difference
    # of texts that are as their originals there is no interval
    low = math.nan if line.effect.is_constant else difference.low
    return ranged(difference.delta, low, difference.high, f"+.{line.decimals}f")


def _unlike(effect: Effect) -> str:
    if not effect.is_paraphrase:
        return ""
    mark = "=" if effect.is_equivalent else " "
    return f"{figure(effect.difference.p_unlike, '.3f')}{mark} {figure(effect.bootstrap_p_unlike, '.3f')}"


def _left(line: _Line) -> str:
    effect = line.effect
    if effect.key.scorer == LENGTH or effect.is_constant:
        return ""
    return line.shown(effect.left, "+") + ("*" if effect.is_left else "")


def _pairs(effect: Effect) -> str:
    # prompts are the units; their texts stand in brackets
    lost = f", {effect.pairs.left_out} left out" if effect.pairs.left_out else ""
    return f"{effect.difference.pairs} ({effect.pairs.pairs}{lost})"


def _tau(tau: Mapping[tuple[str, str], float], intervention: str, other: str) -> str:
    return figure(tau.get((other, intervention), math.nan), "+.2f")


def _answers(counts: Mapping[tuple[str, str], Share], feature: str, intervention: str) -> str:
    share = counts.get((intervention, feature))
    return "{} of {}".format(*share) if share else "-"


EFFECT: tuple[Head[_Line], ...] = (
    Head("original", lambda line: line.shown(line.effect.difference.before)),
    Head("changed", lambda line: line.shown(line.effect.difference.after)),
    Head("difference [95%]", _delta),
    Head("sd", lambda line: line.shown(line.effect.difference.spread)),
    Head("d", lambda line: "constant" if line.effect.is_constant else figure(line.effect.difference.effect, "+.2f")),
    Head("p", lambda line: starred(line.effect.p_value, line.effect.moved)),
    Head("bootstrap p", lambda line: figure(line.effect.bootstrap_p, ".3f")),
    Head("equivalence p", lambda line: _unlike(line.effect)),
    Head("words", lambda line: figure(line.effect.words, "+.1f")),
    Head("less length", _left),
    Head("prompts (texts)", lambda line: _pairs(line.effect)),
)


@click.command()
@click.argument("log")
@click.option("--scorer", "scorers", multiple=True, help="Whose scores; default: those of every scorer.")
@click.option("--published", is_flag=True, help="Beside the effect sizes those that the study behind Genie printed.")
@answering("tables", picture="heatmap and bars", csv="the effects")
def study(log: str, scorers: tuple[str, ...], published: bool) -> Answer:
    """What a measure is sensitive to, if it is robust, what it confounds: by edits of one feature and by paraphrases.

    LOG is a log of genie_inspect/metric_study, or a folder that holds one. Originals are compared with the texts that
    were made of them, prompt by prompt, for every scorer of the log. Length in words stands beside them for reference.

    Scores from anywhere need no log: LOG is then a .csv or .jsonl with a row per text and score. Its columns are
    original (an id), edited (a feature, paraphrase, or nothing of the original itself), key and value; where known id
    (of the text), prompt and scorer. A key that is called like an edited feature is that feature's score. Without
    prompts each original is a prompt of its own; without originals edits of other features stand for them.

    \b
    Examples:
      genie study logs/study --published --picture study.svg
      genie study scores.csv
    \b
      original,edited,key,value
      story1,,plot,0.61
      story1,plot,plot,0.74
      story1,paraphrase,plot,0.60
    """
    found = studied(log, scorers)
    return Answer(
        lambda: as_values(found, published=published),
        partial(_parts, found, published),
        chart=lambda: study_chart(found),
        csv=lambda: as_csv(found),
    )


def _parts(found: Study, published: bool, screen: Console) -> Iterator[RenderableType]:
    yield from (*map(sentence, found.measures), "")
    yield from effect_tables(found, screen)
    yield from matrix_tables(found, screen)
    if published:
        yield from published_tables(found, screen)
    yield from agreement_tables(found, screen)
    yield from answer_tables(found, screen)
    yield LEGEND
    yield from (
        Unbroken(in_parts(signature, screen.width)) for signature in filter(is_signed, found.signatures.values())
    )
    yield from (f"Beware: {note}." for note in warnings(found))
