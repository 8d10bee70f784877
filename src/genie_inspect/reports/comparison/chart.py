"""The picture of `genie compare`: a heatmap of differences."""

import math
from typing import TYPE_CHECKING, Any

from genie_inspect.reports.comparison.compared import Comparison, Row

if TYPE_CHECKING:
    import altair

CELL_WIDTH, CELL_HEIGHT = 120, 34
LOWER, NONE, HIGHER = "#8e4b10", "#f7f7f7", "#542788"  # told apart by the colour-blind
DARK_FROM = 0.6  # share of the scale from which white ink reads better


def comparison_chart(comparison: Comparison) -> "altair.LayerChart":
    """Features down, runs across, the difference from the baseline as a number; with colour and star where it holds."""
    import altair

    cells = [_cell(row, several=len(comparison.signatures) > 1) for row in comparison.rows]
    # a scale from 0 to 0 has no colours
    furthest = max(abs(cell["held"]) for cell in cells) or 1.0
    for cell in cells:
        cell["dark"] = abs(cell["held"]) > DARK_FROM * furthest
    keys, runs = (list(dict.fromkeys(str(cell[name]) for cell in cells)) for name in ("key", "run"))
    # Vega-Lite breaks a label into lines where it is an array
    x = altair.X("run:N", title=None, sort=runs, axis=altair.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')"))
    base = (
        altair.Chart(altair.InlineData(values=cells))
        .encode(x=x, y=altair.Y("key:N", title=None, sort=keys))
        .properties(width=CELL_WIDTH * len(runs), height=CELL_HEIGHT * len(keys))
    )
    # the same distance on both sides, so that no difference is the middle colour
    scale = altair.Scale(range=[LOWER, NONE, HIGHER], domain=[-furthest, 0, furthest])
    colour = altair.Color("held:Q", scale=scale, legend=altair.Legend(title="that holds", format="+.2f"))
    ink = altair.condition("datum.dark", altair.value("white"), altair.value("#1b1b1b"))
    title = altair.TitleParams(
        "Difference from " + comparison.called(*comparison.baselines),
        subtitle=f"colour and *: holds after correction ({comparison.options.correction}); =: within the margin",
        anchor="start",
    )
    squares = base.mark_rect(stroke="white").encode(color=colour)
    numbers = base.mark_text(fontSize=12).encode(text="shown:N", color=ink)
    return altair.LayerChart(layer=[squares, numbers], title=title)


def _cell(row: Row, *, several: bool) -> dict[str, Any]:
    """One cell of the heatmap: run, key, difference and label; with several scorers the key names its own."""
    name = row.key.replace("_", " ")
    delta = row.finding.difference.delta
    mark = " *" if row.finding.differs else " =" if row.finding.is_equivalent else ""
    measured = not math.isnan(delta)
    return {
        "run": row.run,
        "key": f"{row.scorer}: {name}" if several and row.key != row.scorer else name,
        # what does not hold has the colour of no difference, however large it is
        "held": delta if row.finding.differs else 0.0,
        "shown": f"{delta:+.3f}{mark}" if measured else "not measured",
    }
