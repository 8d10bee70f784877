"""The pictures of `genie study`: a heatmap of effects, and how far edits go beside paraphrases."""

import math
from typing import TYPE_CHECKING, Any

from genie_inspect.reports.charts import DARK_FROM, HIGHER, LIGHT, LOWER, NONE
from genie_inspect.reports.effects import Effect
from genie_inspect.reports.figures import in_words
from genie_inspect.reports.study import StudiedMeasure, Study

if TYPE_CHECKING:
    import altair

    from genie_inspect.reports.charts import Chart

CELL_WIDTH, CELL_HEIGHT = 68, 30
STRONGEST = 1.5  # d from which colours go no deeper: one effect of 20 would leave no colour for the others
BAR_WIDTH, BAR_HEIGHT = 130, 15
BARS = "How far edits and paraphrases move each measure, either way"
BARS_SCALE = "mean |difference|, 0 at the text that went least far and 1 at the one that went farthest"
ABREAST, ON_A_PHONE = 4, 2  # measures beside each other
LETTER = 7.5  # width for each of a label, which a browser may draw wider than the chart was measured with


def study_chart(study: Study) -> "altair.VConcatChart":
    """Both pictures, one below the other."""
    import altair

    title = altair.TitleParams(BARS, subtitle=BARS_SCALE, anchor="start")
    both: altair.VConcatChart = altair.vconcat(heatmap(study), bars(study).properties(title=title), spacing=36)
    # each has colours of its own
    independent: altair.VConcatChart = both.resolve_scale(color="independent")
    return independent


def heatmap(study: Study) -> "Chart":
    """Interventions down, measures and features across, d as a number; with colour and star where it holds."""
    import altair

    cells = cells_of(study)
    rows = list(dict.fromkeys(str(cell["row"]) for cell in cells))
    columns = list(dict.fromkeys(str(cell["column"]) for cell in cells))
    # Vega-Lite breaks a label into lines where it is an array
    axis = altair.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')", domain=False, ticks=False)
    base = altair.Chart(altair.InlineData(values=cells)).encode(
        x=altair.X("column:N", title=None, sort=columns, axis=axis),
        y=altair.Y("row:N", title=None, sort=rows, axis=altair.Axis(domain=False, ticks=False, labelLimit=300)),
    )
    scale = altair.Scale(range=[LOWER, NONE, HIGHER], domain=[-STRONGEST, 0, STRONGEST], clamp=True)
    colour = altair.Color("held:Q", scale=scale, legend=altair.Legend(title="d that holds", format="+.1f"))
    ink = altair.condition("datum.dark", altair.value("white"), altair.value(LIGHT.ink))
    squares = base.mark_rect(stroke="white", strokeWidth=2).encode(color=colour)
    frames = base.transform_filter("datum.own").mark_rect(filled=False, stroke=LIGHT.ink, strokeWidth=1.5)
    numbers = base.mark_text(fontSize=12).encode(text="shown:N", color=ink)
    title = altair.TitleParams(
        "Cohen's d of each intervention on each score",
        subtitle=[
            "colour and *: holds after correction; =: paraphrases are equivalent; ·: no text differs",
            "framed: the edited feature's own score",
        ],
        anchor="start",
    )
    return altair.layer(squares, frames, numbers, title=title).properties(
        width=CELL_WIDTH * len(columns), height=CELL_HEIGHT * len(rows)
    )


def cells_of(study: Study) -> list[dict[str, Any]]:
    """The cells of the heatmap, here and on the report's page: where they stand, what they show, what holds.

    `held` is the effect size where it holds and 0 elsewhere, however large it is.
    """
    return [_cell(measure, effect) for measure in study.measures for effect in measure.effects]


def _cell(measure: StudiedMeasure, effect: Effect) -> dict[str, Any]:
    size = effect.difference.effect
    held = effect.moved and not effect.is_equivalent
    mark = " =" if effect.is_equivalent else " *" if effect.moved else ""
    name = in_words(effect.key.name)
    return {
        "row": in_words(effect.intervention.name),
        "column": f"{in_words(measure.name)}: {name}" if measure.is_by_feature else in_words(measure.name),
        # differences that are all the same have no d: they hold as much as any can
        "held": (math.copysign(STRONGEST, effect.difference.delta) if math.isnan(size) else size) if held else 0.0,
        "dark": held and not abs(size) < DARK_FROM * STRONGEST,
        "own": measure.is_by_feature and effect.is_own,
        "shown": _shown(effect) + mark,
    }


def _shown(effect: Effect) -> str:
    if effect.is_constant:
        return "·"
    size = effect.difference.effect
    if not math.isnan(size):
        return f"{size:+.2f}"
    return "no spread" if effect.difference.pairs > 1 else "–"


def bars(study: Study, abreast: int = ABREAST) -> "Chart":
    """A panel a measure: how far each intervention moves it, with a line at how far paraphrases do."""
    import altair

    rows = [
        {"measure": in_words(measure.name), "row": in_words(one.name), "kind": one.kind, "share": share}
        for measure in study.measures
        for one, share in measure.shares.items()
    ]
    names = list(dict.fromkeys(str(row["measure"]) for row in rows))
    labels = list(dict.fromkeys(in_words(one.name) for one in study.interventions))
    ends = altair.Axis(values=[0, 0.5, 1], format="g")
    x = altair.X("share:Q", title=None, scale=altair.Scale(domain=[0, 1]), axis=ends)
    extent = LETTER * max(map(len, labels), default=0)
    y = altair.Y("row:N", title=None, sort=labels, axis=altair.Axis(domain=False, ticks=False, minExtent=extent))
    kinds = altair.Scale(domain=["edit", "paraphrase"], range=[LIGHT.series[0], LIGHT.series[1]])
    colour = altair.Color("kind:N", scale=kinds, legend=altair.Legend(title=None, orient="top"))
    base = altair.Chart(altair.InlineData(values=rows))
    layered = altair.layer(
        base.mark_bar(height=BAR_HEIGHT - 4).encode(x=x, y=y, color=colour),
        base.transform_filter("datum.kind == 'paraphrase'")
        .mark_rule(color=LIGHT.series[1], strokeWidth=1.5, strokeDash=[4, 3])
        .encode(x=altair.X("share:Q")),
    ).properties(width=BAR_WIDTH, height=BAR_HEIGHT * len(labels))
    facet = altair.Facet(
        "measure:N", title=None, sort=names, header=altair.Header(labelColor=LIGHT.ink, labelFontSize=12)
    )
    return layered.facet(facet, columns=abreast)
