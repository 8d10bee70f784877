"""The picture of `genie agreement`."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from genie_inspect.agreement.figures import Agreement

if TYPE_CHECKING:
    import altair

INK, DOTS = "#1b1b1b", "#0072b2"  # told apart by the colour-blind, and in grey


def agreement_chart(agreement: Agreement, names: Mapping[str, str]) -> "altair.VConcatChart":
    """A row a measure, a line a judge: the prompts as dots, the mean a diamond on its 95% interval.

    Args:
        agreement: What to show.
        names: Measures by the names that people know.
    """
    import altair

    # every judge has the same rankings, so the first one names the rows
    panels = [_panel(agreement, name, names[name]) for name in next(iter(agreement.judges.values())).rankings]
    title = altair.TitleParams(
        "How far machines rank stories as people do",
        subtitle=f"{agreement.prompts} prompts (dots, larger for several), {agreement.stories} stories, "
        f"{agreement.raters} raters; diamonds: means with 95% intervals",
        anchor="start",
    )
    return altair.vconcat(*panels, title=title)


def _panel(agreement: Agreement, name: str, title: str) -> "altair.LayerChart | altair.FacetChart":
    import altair

    dots: list[dict[str, Any]] = []
    means: list[dict[str, Any]] = []
    for judge, figures in agreement.judges.items():
        ranking = figures.rankings[name]
        dots += [{"judge": judge, "value": value} for value in ranking.by_prompt.values() if not math.isnan(value)]
        if not math.isnan(ranking.mean.value):
            ends = {"low": _number(ranking.mean.low), "high": _number(ranking.mean.high)}
            means.append({"judge": judge, "value": ranking.mean.value, **ends})
    # an accuracy cannot be negative, a correlation can
    lowest = 0 if name == "pairwise_accuracy" else -1
    x = altair.X("value:Q", title=title, scale=altair.Scale(domain=[lowest, 1]))
    y = altair.Y("judge:N", title=None, sort=list(agreement.judges))
    base = altair.Chart(altair.InlineData(values=means)).properties(
        width=420, height=34 * max(1, len(agreement.judges))
    )
    # prompts with equal values lie on one dot, whose size counts them
    points = altair.Chart(altair.InlineData(values=dots)).mark_circle(opacity=0.5, color=DOTS)
    return altair.layer(
        points.encode(x=x, y=y, size=altair.Size("count()", legend=None, scale=altair.Scale(range=[40, 300]))),
        base.mark_rule(strokeWidth=2, color=INK).encode(x=altair.X("low:Q", title=title), x2="high:Q", y=y),
        base.mark_point(shape="diamond", filled=True, size=90, color=INK, opacity=1).encode(x=x, y=y),
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
