"""Which judge an option stands for, and whom it asks."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from inspect_ai.model import Model, ModelName

from genie_inspect.asking.grader import graders
from genie_inspect.asking.prerequisites import unmet
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.by_vectors.vectors import VECTORS
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.grader_reader import GraderReader
from genie_inspect.judges.list_judge import LIST
from genie_inspect.judges.logit_judge import LOGIT
from genie_inspect.judges.modes import Mode
from genie_inspect.judges.pairwise_judge import PAIRWISE

EMBEDDED = "embedded"
RECORDED = "bundled"
MODES = {mode.name: mode for mode in (LIST, PAIRWISE, LOGIT, VECTORS)}
"""Judges that ask a grader, by name."""


def mode_and_fit(judge: str, others: Sequence[str] = ()) -> tuple[Mode, str]:
    """The record of a judge that asks a grader, and the file of its fit: `vectors/fit.json` names one.

    A judge that is shown many answers in one call takes how many: `list/10`.

    Args:
        judge: As `judge=` takes it.
        others: Judges that would be accepted beside, for the error message.

    Raises:
        UnknownChoiceError: If no mode has the name, or what stands after it is nothing that the mode takes.
    """
    name, slash, rest = str(judge).partition("/")  # any value may stand for an option
    mode = MODES.get(name)
    if mode is None or (slash and mode.asks_pairs and mode.chunk == 1) or (slash and not rest):
        raise UnknownChoiceError("judge", judge, "one of " + ", ".join((*MODES, *others)))
    if not slash or mode.by_vectors:
        return mode, rest
    return _sized(mode, judge, rest), ""


def _sized(mode: Mode, judge: str, size: str) -> Mode:
    """The same mode with another number of answers a call."""
    if not re.fullmatch(r"[1-9][0-9]{0,3}", size) or size == "1":
        raise UnknownChoiceError(
            "judge", judge, f"how many answers {mode.name} is shown in a call, such as {mode.name}/10"
        )
    return replace(mode, name=judge, judge=partial(mode.judge, chunk=int(size)), chunk=int(size))


def mode_of(judge: str) -> Mode:
    """The record of a judge that asks a grader.

    Raises:
        UnknownChoiceError: If no mode has the name.
    """
    return mode_and_fit(judge)[0]


def graders_for(judge: str, *, panel_alone: bool = False) -> tuple[Model, ...]:
    """The models that a judge asks, one or a jury; none when it asks no model.

    Args:
        judge: One of list, pairwise and embedded, or whatever else asks the grader, such as `ttcw`.
        panel_alone: Whether a task could do with its panel alone, for the error message.

    Raises:
        PrerequisiteError: If the judge asks a model and no grader role is bound, one cannot do what it needs, or a jury
            has one of them twice.
    """
    if judge == EMBEDDED:
        return ()
    is_mode = judge.partition("/")[0] in MODES
    models = graders(judge, replaceable=is_mode, panel_alone=panel_alone)
    if is_mode and (check := mode_of(judge).check):
        try:
            for model in models:
                check(model)
        except UnknownChoiceError as error:
            raise unmet(error) from error
    _refuse_doubles(models)
    return models


def _refuse_doubles(models: Sequence[Model]) -> None:
    """Refuse a jury in which one grader sits twice: it would agree with itself, and count double."""
    known: set[str] = set()
    for model in models if len(models) > 1 else ():
        # as signatures and cache keys know it: settings that the instrument overrides make no other grader
        if (reader := GraderReader(model).signature) in known:
            raise unmet(f"grader {model} is named twice in the role, expected each grader of a jury once")
        known.add(reader)


def cache_for(model: Model, cache: Cache | None) -> Cache | None:
    """The cache, but none for a replay: it is at once, and an upgrade may bring another record."""
    return None if ModelName(model).api == RECORDED else cache
