"""A judge of one's own by two columns, made by hand, for tests of this room."""

from genie_inspect.studies.personal.judge import Column, Figure, HeldOut, PersonalJudge, RaterFigures, RaterTerms

SIGNATURE = "measure:ttcw|judge:critic(mock/a)|version:1"
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


def column(name: str = "critic|a", **facts: object) -> Column:
    known = {"scorer": "ttcw", "signature": SIGNATURE, "mean": 0.5, "spread": 0.5, "slope": 1.0}
    return Column.model_validate({"name": name, **known, **facts})


def judge(
    *columns: Column, scale: tuple[float, ...] = (0.0, 1.0), tests: tuple[str, ...] = ("01", "02")
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
