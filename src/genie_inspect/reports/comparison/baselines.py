"""Which run is whose baseline."""

from collections.abc import Collection, Sequence
from pathlib import Path

from genie_inspect.logs.files import LogError
from genie_inspect.logs.scored_log import ScoredLog

CONFORMATIVE = "conformative"


def baselines(runs: Sequence[ScoredLog], baseline: str) -> dict[int, int]:
    """By index, the baseline of each other run: the only one that there is, or the one of the same model.

    Args:
        runs: All runs, baselines among them; indices count from 0.
        baseline: A run's label, strategy, task, model or file.

    Raises:
        LogError: If no run goes by that name, a run could have several baselines, or every run is a baseline.
    """
    names = "; ".join(run.label for run in runs)
    bases = [place for place, run in enumerate(runs) if baseline in _called(run)]
    if not bases:
        raise LogError(f"baseline is {baseline!r}, expected one of: {names}")
    others = [place for place in range(len(runs)) if place not in bases]
    if not others:
        raise LogError(f"baseline {baseline!r} names every log, expected another to compare with it: {names}")
    return {place: _own_baseline(runs, place, bases) for place in others}


def _instruct(model: str) -> list[str]:
    """The instruct model of two that decode as one, which is what the second is held against; none of any other."""
    api, _, both = model.partition("/")
    return [both.rpartition("+")[2]] if api == CONFORMATIVE else []


def _name(model: str, names: Collection[str]) -> bool:
    """Whether a model goes by one of the names, with its provider or without."""
    return model in names or model.partition("/")[2] in names


def _called(run: ScoredLog) -> tuple[str, ...]:
    return run.label, run.strategy, run.task, run.model, run.file, Path(run.file).name


def _own_baseline(runs: Sequence[ScoredLog], place: int, bases: Sequence[int]) -> int:
    # one baseline serves runs of every model; of several, each run meets its own model's
    models = {runs[place].model, *_instruct(runs[place].model)}
    candidates = bases if len(bases) == 1 else [base for base in bases if _name(runs[base].model, models)]
    if len(candidates) != 1:
        raise LogError(
            f"the baseline of {runs[place].label} is not clear, it could be "
            f"{'; '.join(runs[base].label for base in candidates or bases)}: name one of these, or a log file"
        )
    return candidates[0]
