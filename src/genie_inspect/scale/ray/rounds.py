"""Reading and judging as one call: what each asks is written, asked on Ray, and taken into the cache."""

import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from genie_inspect.building.work import Progress
from genie_inspect.judges.cache import Cache
from genie_inspect.scale.importing import FOREIGN, Imported, Importer
from genie_inspect.scale.parts import JSONL, parts
from genie_inspect.scale.planning import Study
from genie_inspect.scale.ray.asking import Job, Outcome, ask
from genie_inspect.scale.shards import places
from genie_inspect.scale.walk import JUDGE, READ, STEPS, Found


@dataclass(slots=True)
class Round:
    """What became of one step."""

    asking: Outcome = field(default_factory=Outcome)
    imported: Imported = field(default_factory=Imported)


@dataclass(slots=True)
class Rounds:
    """What became of both, and what a run would still ask."""

    read: Round
    judge: Round
    left_to_read: int
    left_to_judge: int
    found: Found


def rounds(study: Study, output: str, job: Job, cache: Cache, progress: Progress, form: str = JSONL) -> Rounds:
    """Read, then judge what was read.

    A job that was killed goes on where it was: the requests are found anew, and those whose replies stand in the output
    are not asked again.

    Args:
        study: What is measured.
        output: A folder, wherever fsspec reaches, for the replies of each step.
        job: Who answers.
        cache: Where replies go.
        progress: Told how much of each step is done.
        form: Of the files: `jsonl` or `parquet`.

    Raises:
        MissingExtraError: If Ray is not installed.
        ScaleError: If a file cannot be used, or the job fails.
    """
    read, judge = (_round(study, step, f"{output.rstrip('/')}/{step}", job, cache, progress, form) for step in STEPS)
    left = {step: anyio.run(study.left, step, partial(_named, progress, f"left to {step}")) for step in STEPS}
    return Rounds(read, judge, left[READ].requests, left[JUDGE].requests, left[JUDGE])


def _round(study: Study, step: str, output: str, job: Job, cache: Cache, progress: Progress, form: str) -> Round:
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / f"{step}.jsonl"
        _, files = anyio.run(study.write, step, first, partial(_named, progress, f"find what to {step}"))
        if not files:
            return Round()
        asking = ask([str(file) for file in files], output, job, progress, form, step)
        return Round(asking, anyio.run(_imported, cache, first, output))


async def _imported(cache: Cache, first: Path, output: str) -> Imported:
    importer = Importer(cache, places(first))
    for part in parts(output):
        await importer.take(part)
    # replies to what an earlier job asked and took into the cache stand there too
    del importer.result.faults[FOREIGN]
    return importer.result


def _named(progress: Progress, name: str, step: str, done: int, total: int) -> None:
    progress(name, done, total)
