"""`genie study`: whether a measure deserves trust."""

import math
from collections.abc import Iterable, Iterator
from functools import partial

import click

from genie_inspect.cli.options import Answer, answering, flag, option
from genie_inspect.cli.tables import Column, figure, lines_table, ranged, starred
from genie_inspect.files.tables import Table
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


Line = tuple[Effect, int]  # and with how many decimals its measure shows


def effect_table(study: Study) -> Table:
    """By measure a line an intervention; of a measure by feature, a line for each of its features under paraphrase."""
    lines: list[tuple[str, Line | None]] = []
    for measure in study.measures:
        # a line without figures heads each measure's rows
        lines.append((in_words(measure.name), None))
        judged = [effect for effect in measure.effects if effect.is_judged]
        lines += [(_label(effect, measure), (effect, measure.decimals)) for effect in judged]
    # without texts nothing is known of words
    has_words = any(measure.is_length for measure in study.measures)
    columns = [column for column in EFFECT if has_words or column[0] not in ("words", "less length")]
    originals = f"originals: {len(study.texts.originals)}"
    if not study.texts.originals:
        originals = "no originals: edits of other features stand for them"
        columns[0] = ("other edits", columns[0][1])
    own = "" if study.names_prompts else " (each original its own)"
    title = f"edits and paraphrases; prompts: {len(set(study.texts.prompts.values()))}{own}, {originals}"
    return lines_table(title, "intervention", lines, columns)


def by_intervention(study: Study, title: str, columns: Iterable[Column[str]]) -> Table:
    return lines_table(title, "intervention", [(in_words(one), one) for one in study.texts.changed], list(columns))


def matrix_tables(study: Study) -> Iterator[Table]:
    """Of each measure by feature: interventions down, its features across, the mean difference with d."""

    def column(measure: StudiedMeasure, key: str) -> Column[str]:
        def cell(intervention: str) -> str:
            effect = _effect(measure, key, intervention)
            if effect.is_constant or math.isnan(effect.difference.delta):
                return _d(effect)
            mark = ">" if intervention != PARAPHRASE and effect.moved and is_largest(effect, measure) else ""
            return f"{mark}{effect.difference.delta:+.{measure.decimals}f} ({_d(effect)})"

        return in_words(key), cell

    for measure in study.measures:
        if measure.is_by_feature:
            title = f"{in_words(measure.name)}: mean difference (d); > the largest d of its row, where it holds"
            yield by_intervention(study, title, (column(measure, key) for key in measure.keys))


def published_tables(study: Study) -> Iterator[Table]:
    """Effect sizes beside the printed ones; nothing where no measure of the study is among those."""

    def column(measure: StudiedMeasure, key: str) -> Column[str]:
        def cell(intervention: str) -> str:
            printed = MATRIX.get(intervention, {}).get(key, math.nan)
            return f"{_d(_effect(measure, key, intervention))} / {figure(printed, '+.2f')}"

        return in_words(key), cell

    measures = [measure for measure in study.measures if measure.printed_as in EFFECTS]
    beside: list[Column[str]] = []
    for measure in measures:
        beside += [(in_words(measure.name), partial(_own_d, measure)), ("printed", partial(_printed, measure))]
    if beside:
        title = "d beside the printed one (arXiv 2606.12790, table 3); of features under paraphrase the mean of |d|"
        yield by_intervention(study, title, beside)
    for measure in measures:
        if measure.is_by_feature:
            title = f"{in_words(measure.name)}: d of every feature / the printed one (table 14)"
            yield by_intervention(study, title, (column(measure, key) for key in measure.keys))


def agreement_tables(study: Study) -> Iterator[Table]:
    """Kendall's tau of the differences of the first measure with each other one, interventions across."""
    first = study.measures[0].name
    # what a constant measure, and what a feature of it, puts in no order has no line and no column
    tau = {
        (other, intervention): tau
        for (one, other, intervention), (tau, _) in study.agreements.items()
        if one == first and not math.isnan(tau)
    }
    if not tau:
        return
    others = list(dict.fromkeys(other for other, _ in tau))
    interventions = [one for one in study.texts.changed if any((other, one) in tau for other in others)]
    rows = [
        [in_words(other), *(figure(tau.get((other, one), math.nan), "+.2f") for one in interventions)]
        for other in others
    ]
    title = f"Kendall's tau between the differences of {in_words(first)} and those of other measures"
    yield Table(title, ["measure", *map(in_words, interventions)], rows, look="narrow")


def answer_tables(study: Study) -> Iterator[Table]:
    """Interventions down, features across: how many answers are other words than the original's."""
    for scorer in dict.fromkeys(scorer for scorer, _, _ in study.answers):
        counts = {
            (one, feature): f"{changed} of {compared}"
            for (of, one, feature), (changed, compared) in study.answers.items()
            if of == scorer
        }
        features = list(dict.fromkeys(feature for _, feature in counts))
        rows = [
            [in_words(one), *(counts.get((one, feature), "-") for feature in features)] for one in study.texts.changed
        ]
        title = f"{in_words(scorer)}: answers that changed, by feature of the question"
        yield Table(title, ["intervention", *map(in_words, features)], rows, look="narrow")


def _label(effect: Effect, measure: StudiedMeasure) -> str:
    name = in_words(effect.intervention)
    # of one edit a measure by feature is judged by that feature; of a paraphrase by all
    return f"{name}: {in_words(effect.key.name)}" if effect.is_paraphrase and len(measure.keys) > 1 else name


def _effect(measure: StudiedMeasure, key: str, intervention: str) -> Effect:
    return next(effect for effect in measure.row(intervention) if effect.key.name == key)


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


def _d(effect: Effect) -> str:
    """The effect size with its mark: * where it holds, = where a paraphrase is equivalent."""
    if effect.is_constant:
        return "constant=" if effect.is_equivalent else "constant"
    mark = "=" if effect.is_equivalent else "*" if effect.moved else ""
    return figure(effect.difference.effect, "+.2f") + mark


def _delta(line: Line) -> str:
    effect, decimals = line
    difference = effect.difference
    # of texts that are as their originals there is no interval
    low = math.nan if effect.is_constant else difference.low
    return ranged(difference.delta, low, difference.high, f"+.{decimals}f")


def _unlike(line: Line) -> str:
    effect, _ = line
    if not effect.is_paraphrase:
        return ""
    mark = "=" if effect.is_equivalent else " "
    return f"{figure(effect.difference.p_unlike, '.3f')}{mark} {figure(effect.bootstrap_p_unlike, '.3f')}"


def _left(line: Line) -> str:
    effect, decimals = line
    if effect.key.scorer == LENGTH or effect.is_constant:
        return ""
    return figure(effect.left, f"+.{decimals}f") + "*" * effect.is_left


def _pairs(line: Line) -> str:
    # prompts are the units; their texts stand in brackets
    pairs = line[0].pairs
    lost = f", {pairs.left_out} left out" if pairs.left_out else ""
    return f"{line[0].difference.pairs} ({pairs.pairs}{lost})"


EFFECT: tuple[Column[Line], ...] = (
    ("original", lambda line: figure(line[0].difference.before, f".{line[1]}f")),
    ("changed", lambda line: figure(line[0].difference.after, f".{line[1]}f")),
    ("difference [95%]", _delta),
    ("sd", lambda line: figure(line[0].difference.spread, f".{line[1]}f")),
    ("d", lambda line: "constant" if line[0].is_constant else figure(line[0].difference.effect, "+.2f")),
    ("p", lambda line: starred(line[0].p_value, line[0].moved)),
    ("bootstrap p", lambda line: figure(line[0].bootstrap_p, ".3f")),
    ("equivalence p", _unlike),
    ("words", lambda line: figure(line[0].words, "+.1f")),
    ("less length", _left),
    ("prompts (texts)", _pairs),
)


@click.command()
@click.argument("log")
@option("--scorer", "scorers", multiple=True, help="Whose scores; default: those of every scorer.")
@flag("--published", help="Beside the effect sizes those that the study behind Genie printed.")
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
        as_values(found, published=published),
        _parts(found, published),
        chart=lambda: study_chart(found),
        csv=lambda: as_csv(found),
    )


def _parts(found: Study, published: bool) -> Iterator[Table | str]:
    yield from (*map(sentence, found.measures), "")
    yield effect_table(found)
    yield from matrix_tables(found)
    if published:
        yield from published_tables(found)
    yield from agreement_tables(found)
    yield from answer_tables(found)
    yield LEGEND
    yield from (signature for signature in found.signatures.values() if signature.is_ours)
    yield from (f"Beware: {note}." for note in warnings(found))
