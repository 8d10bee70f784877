"""The pictures of `genie ttcw`."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from genie_inspect.agreement.ablation.cutoffs import CutoffCurve
from genie_inspect.agreement.ablation.writers import WriterTotals
from genie_inspect.agreement.chart import DOTS, INK

if TYPE_CHECKING:
    import altair


def cutoff_chart(curves: Sequence[CutoffCurve], ranking: str, title: str) -> "altair.VConcatChart":
    """A curve a judge, a panel each: agreement with people by cutoff with 95% intervals, or the mean total.

    Args:
        curves: What to show.
        ranking: Which measure of agreement, where there are votes.
        title: Its name.
    """
    import altair

    with_votes = any(point.rankings for curve in curves for point in curve.points)
    y_title = title if with_votes else "tests passed, mean"
    panels = []
    for curve in curves:
        rows = [_point(point.cutoff, point.total, point.rankings.get(ranking)) for point in curve.points]
        base = altair.Chart(altair.InlineData(values=rows)).encode(
            x=altair.X("cutoff:O", title="a test passes from this score on", sort=None, axis=altair.Axis(labelAngle=0))
        )
        y = altair.Y("value:Q", title=y_title, scale=altair.Scale(domain=[-1, 1]) if with_votes else altair.Undefined)
        line = base.mark_line(color=DOTS, point=altair.OverlayMarkDef(color=DOTS, size=60)).encode(y=y)
        rule = base.mark_rule(color=INK, opacity=0.5).encode(y=altair.Y("low:Q", title=y_title), y2="high:Q")
        panels.append(altair.layer(rule, line).properties(width=360, height=180, title=curve.judge))
    heading = altair.TitleParams("One set of verdicts under every cutoff", anchor="start")
    return altair.vconcat(*panels, title=heading)


def _point(cutoff: int, total: float, ranking: Any) -> dict[str, Any]:
    if ranking is None:
        return {"cutoff": cutoff, "value": _number(total)}
    mean = ranking.mean
    return {"cutoff": cutoff, "value": _number(mean.value), "low": _number(mean.low), "high": _number(mean.high)}


def totals_chart(rows: Sequence[WriterTotals]) -> "altair.VConcatChart":
    """A histogram of totals a judge and writer, with its mean as a line.

    Args:
        rows: What to show.
    """
    import altair

    most = max((total for row in rows for total in row.stories), default=0)
    x = altair.X("from:Q", title="tests passed", scale=altair.Scale(domain=[-0.5, most + 0.5]))
    y = altair.Y("stories:Q", title="stories", axis=altair.Axis(tickMinStep=1))
    panels = []
    for row in rows:
        bars = [
            {"from": total - 0.4, "to": total + 0.4, "none": 0, "stories": count}
            for total, count in row.stories.items()
        ]
        means = [] if math.isnan(row.mean) else [{"from": row.mean}]
        shown = altair.Chart(altair.InlineData(values=bars)).mark_rect(color=DOTS).encode(x, y, x2="to:Q", y2="none:Q")
        mean = altair.Chart(altair.InlineData(values=means)).mark_rule(color=INK, strokeWidth=2).encode(x)
        title = f"{row.writer or 'nobody named'}, by {row.judge}"
        panels.append(altair.layer(shown, mean).properties(width=360, height=90, title=title))
    heading = altair.TitleParams("Tests passed by writer", subtitle="black: the mean", anchor="start")
    return altair.vconcat(*panels, title=heading)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
