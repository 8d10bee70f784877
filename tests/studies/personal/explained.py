"""Made-up votes whose explanations say the verdict, and whose stories do not."""

from genie_inspect.studies.personal.curiosity_vectors import ExplainedVote

STORIES = ("The lamp by the river went out.", "A train left the desert at noon.", "Nobody fed the snow that year.")
SAID = {True: "fresh and surprising", False: "flat and predictable"}
HABIT = {"ann": "the voice", "bob": "its ending"}


def votes(plots: int = 6, explained: bool = True) -> list[ExplainedVote]:
    """A yes by ann on every second plot and by bob on every third; one story a plot, one test."""
    return [
        ExplainedVote(
            story=f"{plot}_model",
            plot=str(plot),
            text=f"{STORIES[plot % 3]} Chapter {plot}.",
            test="09",
            question="Is it original?",
            rater=rater,
            verdict=plot % every == 0,
            explanation=f"I found {HABIT[rater]} {SAID[plot % every == 0]}" if explained else None,
        )
        for plot in range(plots)
        for rater, every in (("ann", 2), ("bob", 3))
    ]
