"""`genie validate`: whether a metric is sensitive to edits and robust to paraphrases."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import click

from genie_inspect.cli import options as cli
from genie_inspect.cli.tables import figure, ranged, starred
from genie_inspect.files.tables import Table
from genie_inspect.populations.interventions import PARAPHRASE
from genie_inspect.reports.charts import in_words, study_chart
from genie_inspect.reports.effects import LENGTH, Effect
from genie_inspect.reports.study import StudiedMeasure, Study, study
from genie_inspect.reports.study_verdict import EFFECTS, MATRIX, as_csv, as_values, is_largest, sentence, warnings
from genie_inspect.statistics.differences import LEVEL, TEST

EDITED = "edited"
LEGEND = (
    "A prompt is one pair: the mean of its originals beside the mean of the texts made of them. sd: of the "
    f"differences; d: their mean over it. p: {TEST}, Bonferroni over the features; *: below {LEVEL:g}. bootstrap p: as "
    "the study has it, which with few prompts finds too much. equivalence p: of a difference beyond 0.2 sd of the "
    "originals, two one-sided t tests, and beside it the study's bootstraps; =: equivalent. words: by how many the "
    "texts are longer than their originals. less length: the difference less what the prompt's other texts move the "
    "measure per word, times the change in words; *: significant by the same test. constant: no text differs from its "
    "original, so that there is no effect and no test."
)


def effect_table(study: Study) -> Table:
    """By measure a line an intervention; of a measure by feature, a line for each of its features under paraphrase."""
    # without texts nothing is known of words
    has_words = any(measure.is_length for measure in study.measures)
    heads = ["original", "changed", "difference [95%]", "sd", "d", "p", "bootstrap p", "equivalence p"]
    heads += [*(["words", "less length"] if has_words else []), "prompts (texts)"]
    originals = f"originals: {len(study.texts.originals)}"
    if not study.texts.originals:
        originals = "no originals: edits of other features replace them"
        heads[0] = "other edits"
    own = "" if study.names_prompts else " (each original its own)"
    title = f"edits and paraphrases; prompts: {len(set(study.texts.prompts.values()))}{own}, {originals}"
    rows = []
    for measure in study.measures:
        # a line without figures heads each measure's rows
        rows.append([in_words(measure.name)])
        rows += [
            list(_effect_cells(effect, measure, has_words=has_words)) for effect in measure.effects if effect.is_judged
        ]
    return Table(title, [EDITED, *heads], rows, look="narrow")


def _effect_cells(effect: Effect, measure: StudiedMeasure, *, has_words: bool) -> Iterator[str]:
    difference, form = effect.difference, f".{measure.decimals}f"
    name = in_words(effect.intervention)
    # of one edit a measure by feature is judged by that feature; of a paraphrase by all
    yield f"{name}: {in_words(effect.key.name)}" if effect.is_paraphrase and len(measure.keys) > 1 else name
    yield figure(difference.before, form)
    yield figure(difference.after, form)
    # of texts that are as their originals there is no interval
    yield ranged(difference.delta, math.nan if effect.is_constant else difference.low, difference.high, f"+{form}")
    yield figure(difference.spread, form)
    yield "constant" if effect.is_constant else figure(difference.effect, "+.2f")
    yield starred(effect.p_value, effect.moved)
    yield figure(effect.bootstrap_p, ".3f")
    mark = "=" if effect.is_equivalent else " "
    unlike = f"{figure(difference.p_unlike, '.3f')}{mark} {figure(effect.bootstrap_p_unlike, '.3f')}"
    yield unlike if effect.is_paraphrase else ""
    if has_words:
        yield figure(effect.words, "+.1f")
        has_rest = not (effect.key.scorer == LENGTH or effect.is_constant)
        yield figure(effect.left, f"+{form}") + "*" * effect.is_left if has_rest else ""
    # prompts are the units; their texts stand in brackets
    lost = f", {effect.pairs.left_out} left out" if effect.pairs.left_out else ""
    yield f"{difference.pairs} ({effect.pairs.pairs}{lost})"


def crossed(
    title: str, rows: Iterable[str], columns: Collection[str], cells: Mapping[tuple[str, str], str], head: str = EDITED
) -> Table:
    lines = [[in_words(row), *(cells.get((row, column), "-") for column in columns)] for row in rows]
    return Table(title, [head, *map(in_words, columns)], lines, look="narrow")


def feature_tables(
    study: Study, title: str, measures: Iterable[StudiedMeasure], cell: Callable[[StudiedMeasure, str, str], str]
) -> Iterator[Table]:
    """Of each measure by feature: interventions down, its features across."""
    for measure in filter(lambda measure: measure.is_by_feature, measures):
        cells = {(one, key): cell(measure, one, key) for one in study.texts.changed for key in measure.keys}
        yield crossed(f"{in_words(measure.name)}: {title}", study.texts.changed, measure.keys, cells)


def _moved(measure: StudiedMeasure, intervention: str, key: str) -> str:
    """The mean difference with d."""
    effect = _effect(measure, intervention, key)
    if effect.is_constant or math.isnan(effect.difference.delta):
        return _d(effect)
    mark = ">" if intervention != PARAPHRASE and effect.moved and is_largest(effect, measure) else ""
    return f"{mark}{effect.difference.delta:+.{measure.decimals}f} ({_d(effect)})"


def _beside_printed(measure: StudiedMeasure, intervention: str, key: str) -> str:
    printed = MATRIX.get(intervention, {}).get(key, math.nan)
    return f"{_d(_effect(measure, intervention, key))} / {figure(printed, '+.2f')}"


def published_tables(study: Study) -> Iterator[Table]:
    """Effect sizes beside the printed ones; nothing where no measure of the study is among those."""
    measures = [measure for measure in study.measures if measure.printed_as in EFFECTS]
    if measures:
        heads = [head for measure in measures for head in (in_words(measure.name), "printed")]
        rows = [
            [in_words(one), *(cell(measure, one) for measure in measures for cell in (_own_d, _printed))]
            for one in study.texts.changed
        ]
        title = "d beside the printed one (arXiv 2606.12790, table 3); of features under paraphrase the mean of |d|"
        yield Table(title, [EDITED, *heads], rows, look="narrow")
    yield from feature_tables(study, "d of every feature / the printed one (table 14)", measures, _beside_printed)


def agreement_tables(study: Study) -> Iterator[Table]:
    """Kendall's tau of the differences of the first measure with each other one, interventions across."""
    first = study.measures[0].name
    # what a constant measure, and what a feature of it, puts in no order has no line and no column
    tau = {
        (other, intervention): figure(tau, "+.2f")
        for (one, other, intervention), (tau, _) in study.agreements.items()
        if one == first and not math.isnan(tau)
    }
    interventions = [one for one in study.texts.changed if any(one == other for _, other in tau)]
    others = dict.fromkeys(other for other, _ in tau)
    title = f"Kendall's tau between the differences of {in_words(first)} and those of other measures"
    if tau:
        yield crossed(title, others, interventions, tau, head="measure")


def answer_tables(study: Study) -> Iterator[Table]:
    """Interventions down, features across: how many answers are other words than the original's."""
    for scorer in dict.fromkeys(scorer for scorer, _, _ in study.answers):
        counts = {
            (one, feature): f"{changed} of {compared}"
            for (of, one, feature), (changed, compared) in study.answers.items()
            if of == scorer
        }
        features = dict.fromkeys(feature for _, feature in counts)
        title = f"{in_words(scorer)}: answers that changed, by feature of the question"
        yield crossed(title, study.texts.changed, features, counts)


def _effect(measure: StudiedMeasure, intervention: str, key: str) -> Effect:
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
    mark = "=" if effect.is_equivalent else "*" if effect.moved and not effect.is_constant else ""
    return ("constant" if effect.is_constant else figure(effect.difference.effect, "+.2f")) + mark


@click.command()
@click.argument("log")
@cli.option("--scorer", "scorers", multiple=True, help="Scorer to test; repeatable. Default: every scorer.")
@cli.flag("--published", help="Also show the effect sizes that the Genie paper published.")
@cli.answering("tables", picture="heatmap and bars", csv="the effects")
def validate(log: str, scorers: tuple[str, ...], published: bool) -> cli.Answer:
    """Test whether a metric is sensitive to edits and robust to paraphrases.

    LOG is a log of genie_inspect/metric_study, a folder with one, or a .csv or .jsonl file with one row per text and
    score: original (an id), edited (a feature, `paraphrase`, or empty), key, value, and where known id, prompt and
    scorer. A key with the name of an edited feature is that feature's score. Without prompts each original is its own;
    without originals the edits of other features take their place.

    \b
    Examples:
      genie validate logs/study --published --picture study.svg
      genie validate scores.csv
    \b
      original,edited,key,value
      story1,,plot,0.61
      story1,plot,plot,0.74
      story1,paraphrase,plot,0.60
    """
    found = study(log, scorers)
    return cli.Answer(
        as_values(found, published=published),
        _parts(found, published),
        chart=lambda: study_chart(found),
        csv=lambda: as_csv(found),
    )


def _parts(found: Study, published: bool) -> Iterator[Table | str]:
    yield from (*map(sentence, found.measures), "")
    yield effect_table(found)
    title = "mean difference (d); > the largest d of its row, where it is significant"
    yield from feature_tables(found, title, found.measures, _moved)
    if published:
        yield from published_tables(found)
    yield from agreement_tables(found)
    yield from answer_tables(found)
    yield LEGEND
    yield from (signature for signature in found.signatures.values() if signature.is_ours)
    yield from (f"Warning: {note}." for note in warnings(found))
