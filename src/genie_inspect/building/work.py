"""Where a command keeps what it has done so far, and how a folder comes into being at once."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from inspect_ai.model import Model

from genie_inspect.building.stand_ins.recorded_model import FILE, RecordedModel, ReplyRecord
from genie_inspect.files.folders import clear_left, new_folder
from genie_inspect.files.writing import unwritable

Progress = Callable[[str, int, int], None]
"""Told the name of a step, how much of it is done, and of how much."""


def no_progress(step: str, done: int, total: int) -> None:
    """The default of every `progress` parameter: does nothing."""


def work_folder(output: Path) -> Path:
    """The folder beside the output that holds what is done so far; it is made when missing."""
    folder = record_folder(output)
    with unwritable(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def record_folder(output: Path) -> Path:
    """The path of the work folder, whether it exists or not."""
    return Path(os.path.abspath(output) + ".work")


def recorded(model: Model, work: Path, *, keep_cut: bool = True) -> RecordedModel:
    """The model with its record of replies in the work folder; `keep_cut` as for `RecordedModel`."""
    return RecordedModel(model, ReplyRecord(work / FILE), keep_cut=keep_cut)


@contextmanager
def appearing(output: Path, work: Path) -> Iterator[Path]:
    """A folder to write in, which becomes the output when all is done, and only then; see `new_folder`.

    Raises:
        UnwritableError: If something stands at the output.
    """
    # on the same disk as the output: only there is a rename one step
    with new_folder(output, work) as folder:
        yield folder
    clear_left(work)
