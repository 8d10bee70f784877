"""The picture of a calibration: agreement and difference of each two raters, feature by feature."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from genie_inspect.agreement.calibration import Calibration, RaterAgreement

if TYPE_CHECKING:
    import altair

ROW = 16  # height of a pair of raters in a feature
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # told apart by the colour-blind
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]  # and in grey


def calibration_chart(calibration: Calibration) -> "altair.VConcatChart":
    """Alpha above, the difference of feature novelty with its interval below; a row a feature, a mark two raters."""
    import altair

    features = list(dict.fromkeys(agreement.feature.replace("_", " ") for agreement in calibration.agreements))
    raters = list(dict.fromkeys(map(_label, calibration.agreements)))
    alphas = [{**_names(agreement), "value": agreement.alpha} for agreement in calibration.agreements]
    differences = [
        {
            **_names(agreement),
            "value": agreement.difference.value,
            "low": _number(agreement.difference.low),
            "high": _number(agreement.difference.high),
        }
        for agreement in calibration.agreements
    ]
    title = altair.TitleParams("How far raters agree", subtitle="lines: 95% intervals over questions", anchor="start")
    return altair.vconcat(
        _panel(alphas, "ordinal Krippendorff alpha (1: alike, 0: as by chance)", features, raters),
        _panel(differences, "feature novelty by the second less by the first", features, raters),
        title=title,
    )


def _panel(
    rows: Iterable[dict[str, Any]], title: str, features: list[str], raters: list[str]
) -> "altair.LayerChart | altair.FacetChart":
    import altair

    # NaN is no JSON: the picture's data would be refused
    drawn = [row for row in rows if not math.isnan(row["value"])]
    height = ROW * max(1, len(raters)) + 8
    base = altair.Chart(altair.InlineData(values=drawn)).properties(width=420, height=height * len(features))
    y = altair.Y("feature:N", title=None, sort=features, scale=altair.Scale(paddingInner=0.2))
    offset = altair.YOffset("raters:N", sort=raters)
    legend = altair.Legend(orient="bottom", direction="vertical", columns=1, labelLimit=420)
    colour, shape = (
        kind("raters:N", title=None, scale=altair.Scale(domain=raters, range=values), legend=legend)
        for kind, values in ((altair.Color, COLOURS), (altair.Shape, SHAPES))
    )
    x = altair.X("value:Q", title=title)
    # as by chance, or no difference, in both panels
    zero = altair.Chart(altair.InlineData(values=[{"value": 0}])).mark_rule(color="#888888", strokeDash=[4, 3])
    layers = [zero.encode(x=x)]  # first, so that it lies under the marks
    if any("low" in row for row in drawn):
        ends = base.mark_rule(strokeWidth=2)
        layers.append(ends.encode(x=altair.X("low:Q", title=title), x2="high:Q", y=y, yOffset=offset, color=colour))
    points = base.mark_point(filled=True, size=60, opacity=1)
    layers.append(points.encode(x=x, y=y, yOffset=offset, color=colour, shape=shape))
    return altair.layer(*layers)


def _names(agreement: RaterAgreement) -> dict[str, str]:
    return {"feature": agreement.feature.replace("_", " "), "raters": _label(agreement)}


def _label(agreement: RaterAgreement) -> str:
    return f"{agreement.first} and {agreement.second}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
