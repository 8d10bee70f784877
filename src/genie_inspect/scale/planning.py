"""A study whose requests go out in files: what it would still ask, and the files of one step beside their plan."""

from dataclasses import dataclass
from pathlib import Path

from inspect_ai.model import Model

from genie_inspect.building.work import Progress
from genie_inspect.judges.choices import mode_of
from genie_inspect.judges.instrument import Instrument
from genie_inspect.scale.shards import REQUESTS, Plan, ScaleError, shards, write_plan
from genie_inspect.scale.walk import Found, Sources, walk


@dataclass(frozen=True)
class Study:
    """What is measured, how, and by whom.

    Args:
        sources: The documents.
        instrument: How they are measured.
        model: The grader, of whom nothing is asked here.
        plan: What the requests of a step have in common: judge, grader and length of answers.

    Raises:
        ScaleError: If the judge's replies cannot come from files.
    """

    sources: Sources
    instrument: Instrument
    model: Model
    plan: Plan

    def __post_init__(self) -> None:
        mode = mode_of(self.plan.judge)
        if mode.asks_pairs and mode.said is None:
            raise ScaleError(
                f"judge is {self.plan.judge!r}, whose replies cannot be taken from files, expected another"
            )

    async def write(
        self, step: str, first: Path, progress: Progress, most: int = REQUESTS, new: bool = False
    ) -> tuple[Found, list[Path]]:
        """Write what a step would ask; no file where nothing is left to ask.

        Args:
            step: `read` or `judge`.
            first: The first file of requests.
            progress: Told how many documents were looked at.
            most: Most requests in a file.
            new: Refuse to replace files.
        """
        with shards(first, most, new=new) as files:
            found, signature = await walk(self.sources, self.instrument, self.model, step, files.write, progress)
        if files.files:
            names = tuple(file.name for file in files.files)
            facts = {"step": step, "signature": signature, "requests": files.count, "files": names}
            write_plan(first, self.plan.model_copy(update=facts))
        return found, files.files

    async def left(self, step: str, progress: Progress) -> Found:
        """What a step would still ask.

        Args:
            step: `read` or `judge`.
            progress: Told how many documents were looked at.
        """
        return (await walk(self.sources, self.instrument, self.model, step, _nothing, progress))[0]


def _nothing(name: str, body: str) -> None:
    """What becomes of a request that is only counted."""
