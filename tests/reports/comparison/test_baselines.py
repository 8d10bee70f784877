"""Which run is whose baseline, by any name that a run goes by."""

import pytest
from tests.reports.made_runs import made_run

from genie_inspect.logs.files import LogError
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.reports.comparison.baselines import baselines


def run(label: str, model: str, strategy: str) -> ScoredLog:
    """A run without documents."""
    return made_run(label=label, model=model, strategy=strategy, folder="folder/")


RUNS = (run("plain a", "m/a", "generate"), run("outlined a", "m/a", "outline"), run("outlined b", "m/b", "outline"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("plain a", {1: 0, 2: 0}),
        ("generate", {1: 0, 2: 0}),
        ("m/b", {0: 2, 1: 2}),
        ("folder/outlined a.eval", {0: 1, 2: 1}),
        ("outlined a.eval", {0: 1, 2: 1}),
    ],
)
def test_a_run_is_named_by_label_strategy_model_or_file(name: str, found: dict[int, int]) -> None:
    assert baselines(RUNS, name) == found


def test_of_several_baselines_each_run_has_that_of_its_model() -> None:
    runs = (*RUNS, run("plain b", "m/b", "generate"))
    assert baselines(runs, "generate") == {1: 0, 2: 3}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plan", "baseline is 'plan', expected one of: plain a; outlined a; outlined b"),
        # a task is a name too
        (
            "made",
            "baseline 'made' names every log, expected another to compare with it: plain a; outlined a; outlined b",
        ),
        # none of its own model's: all are named
        (
            "outline",
            "the baseline of plain c is not clear, it could be outlined a; outlined b: "
            "name one of these, or a log file",
        ),
        # two of its own model's: these alone
        (
            "m/a",
            "the baseline of outlined b is not clear, it could be plain a; outlined a: "
            "name one of these, or a log file",
        ),
    ],
)
def test_a_name_that_leaves_it_open_is_refused_with_those_that_there_are(name: str, said: str) -> None:
    runs = (run("plain c", "m/c", "generate"), *RUNS[1:]) if name == "outline" else RUNS
    with pytest.raises(LogError) as caught:
        baselines(runs, name)
    assert str(caught.value) == said


def test_of_its_own_models_baselines_alone_it_could_be_one() -> None:
    runs = (*RUNS[:2], run("again a", "m/a", "outline"), RUNS[2])
    with pytest.raises(LogError, match="the baseline of plain a is not clear, it could be outlined a; again a: name"):
        baselines(runs, "outline")
