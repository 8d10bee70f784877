"""Made-up votes whose explanations say the verdict, and whose stories do not."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from inspect_ai.scorer import Score
from tests.cli.called import lines_of
from tests.reports.made_logs import made_log, scored

from genie_inspect.studies.personal.curiosity_vectors import ExplainedVote
from genie_inspect.studies.personal.judge import Figure, HeldOut, PersonalJudge, RaterFigures, RaterTerms, ScoreColumn
from genie_inspect.studies.personal.power import World, simulated

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


def changed(vote: ExplainedVote, **changes: object) -> ExplainedVote:
    return vote.model_copy(update=changes)


def with_other(votes: Sequence[ExplainedVote], **changes: object) -> list[ExplainedVote]:
    return [changed(vote, **changes) for vote in votes]


JUDGE_SIGNATURE = "measure:ttcw|judge:critic(mock/a)|version:1"
NOTHING = Figure(value=None, low=None, high=None)
FIGURES = HeldOut(
    votes=90,
    stories=30,
    plots=10,
    folds=5,
    model="grader",
    models={},
    gains={"grader": Figure(value=-0.02, low=-0.03, high=-0.01)},
    calibration=(),
    raters={name: RaterFigures(votes=20, stories=10, gain=NOTHING) for name in ("ann", "bob|b", "cy")},
    left_out={},
)
SENTENCE = "Better than the grader alone by 0.0200 [0.0100, 0.0300] in log loss a vote."


def column(name: str = "critic|a", **facts: object) -> ScoreColumn:
    known = {"scorer": "ttcw", "signature": JUDGE_SIGNATURE, "mean": 0.5, "spread": 0.5, "slope": 1.0}
    return ScoreColumn.model_validate({"name": name, **known, **facts})


def judge(
    *columns: ScoreColumn, scale: tuple[float, ...] = (0.0, 1.0), tests: tuple[str, ...] = ("01", "02")
) -> PersonalJudge:
    """Of ann, who is lenient and likes the first test; bob, who is harsh; and cy, who is as the average."""
    return PersonalJudge(
        scale=scale,
        thresholds=tuple(float(step) for step in range(len(scale) - 1)),
        tests=dict.fromkeys(tests, 0.0),
        columns=columns or (column(),),
        raters={
            "ann": RaterTerms(votes=40, leniency=1.0, error=0.1, taste={tests[0]: 0.5}),
            "bob|b": RaterTerms(votes=30, leniency=-1.0, error=0.1),
            "cy": RaterTerms(votes=19, leniency=0.0, error=0.0),
        },
        variances={},
    )


TESTS = ("01", "02")
SIGNATURE = "measure:ttcw|judge:critic(mock/a)|version:1-A"
WRITER = "mockllm/writer"
LENIENT = World(stories=24, tests=2, raters=3, raters_a_story=3, leniency=1.5, taste=0.5, scores=(1.0,))


def verdict(passes: Mapping[str, float | None], signature: str = SIGNATURE) -> Score:
    """A score as ttcw gives it: by test 1, 0 or None."""
    rows = [{"id": test, "pass": None if own is None else bool(own), "score": own} for test, own in passes.items()]
    total = sum(own or 0 for own in passes.values())
    return scored({"ttcw_total": float(total)}, signature, judge="critic(mock/a)", tests=rows)


def written(folder: Path, world: World = LENIENT, seed: int = 0) -> tuple[Path, Path]:
    """A file of votes and a log of verdicts on the same stories, by a world; three stories are of one plot.

    Raters are r0, r1 and so on; the id of story 7 is `7_mockllm/writer`, its plot `p2`.
    """
    ballots, *_ = simulated(world, seed)
    factors = (ballots.stories, ballots.plots, ballots.raters, ballots.tests)
    passes: dict[int, dict[str, float | None]] = {}
    lines = []
    for row, (story, plot, rater, test) in enumerate(zip(*(factor.codes for factor in factors), strict=True)):
        passes.setdefault(int(story), {})[TESTS[test]] = float(ballots.scores[row, 0] > 0)
        about = {"story": f"{story}_{WRITER}", "plot": f"p{plot}", "rater": f"r{rater}", "test": TESTS[test]}
        lines.append(about | {"verdict": bool(ballots.levels[row])})
    votes = lines_of(folder / "votes.jsonl", lines)
    samples = [{"ttcw": verdict(passes[story])} for story in sorted(passes)]
    log = made_log(folder / "logs", samples, model=WRITER, places=[(str(story), 1) for story in sorted(passes)])
    return votes, Path(log)
