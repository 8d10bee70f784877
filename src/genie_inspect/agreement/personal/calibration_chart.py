"""The picture of `genie rater fit`: whether chances are what comes true."""

from typing import TYPE_CHECKING

from genie_inspect.agreement.chart import DOTS, INK
from genie_inspect.raters.figures import HeldOut

if TYPE_CHECKING:
    import altair


def calibration_chart(figures: HeldOut) -> "altair.LayerChart | altair.FacetChart":
    """What came true of the forecasts in each tenth of the scale; on the line they are what comes true.

    Args:
        figures: What to show.
    """
    import altair

    rows = [{"foretold": own.mean, "true": own.share, "votes": own.votes} for own in figures.calibration]
    whole = altair.Scale(domain=[0, 1])
    ends = altair.Chart(altair.InlineData(values=[{"end": 0}, {"end": 1}])).mark_line(color=INK, strokeDash=[4, 4])
    dots = altair.Chart(altair.InlineData(values=rows)).mark_circle(color=DOTS, opacity=0.8)
    return altair.layer(
        ends.encode(
            x=altair.X("end:Q", title="foretold on plots held out", scale=whole),
            y=altair.Y("end:Q", title="came true", scale=whole),
        ),
        dots.encode(
            x="foretold:Q",
            y="true:Q",
            size=altair.Size("votes:Q", title="votes", scale=altair.Scale(range=[30, 400])),
        ),
    ).properties(width=300, height=300, title=altair.TitleParams(figures.model, anchor="start"))
