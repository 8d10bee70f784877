"""The picture of `genie rater power`."""

from typing import TYPE_CHECKING

from genie_inspect.agreement.chart import DOTS, INK
from genie_inspect.agreement.personal.power import Curve

if TYPE_CHECKING:
    import altair


def power_chart(curve: Curve) -> "altair.LayerChart | altair.FacetChart":
    """The gain over the grader alone against the votes of a rater, with the middle 95% of the draws.

    Args:
        curve: What to show.
    """
    import altair

    rows = [
        {"votes": point.votes, "stories": point.stories, "gain": -point.gain, "low": -point.high, "high": -point.low}
        for point in curve.points
    ]
    base = altair.Chart(altair.InlineData(values=rows)).encode(x=altair.X("votes:Q", title="votes a rater"))
    title = "log loss a vote below that of the grader alone"
    gain = altair.Y("gain:Q", title=title)
    level = altair.Chart(altair.InlineData(values=[{"none": 0}])).mark_rule(color=INK, strokeDash=[4, 4])
    return altair.layer(
        base.mark_area(opacity=0.2, color=DOTS).encode(y=altair.Y("low:Q", title=title), y2="high:Q"),
        base.mark_line(color=DOTS, point=True).encode(y=gain),
        base.mark_text(dy=-10, color=INK).encode(y=gain, text="stories:Q"),
        level.encode(y="none:Q"),
    ).properties(
        width=480,
        height=260,
        title=altair.TitleParams("What votes are worth", subtitle=[curve.title, "numbers: stories"], anchor="start"),
    )
