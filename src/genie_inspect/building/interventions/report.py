"""What a check came to, feature by feature, and the folder that it leaves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from genie_inspect.building.interventions.checking import Checked, Checker, Limits, faults, mean_of
from genie_inspect.building.interventions.instructions import Editor
from genie_inspect.building.stand_ins.recorded_model import RecordedModel
from genie_inspect.building.work import Progress, appearing, no_progress
from genie_inspect.errors import InterventionsError
from genie_inspect.interventions.collection import INTERVENTIONS, LEFT_OUT, Interventions, rows_of
from genie_inspect.interventions.schema import PARAPHRASE
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.instrument import Instrument
from genie_inspect.populations.files import write_rows
from genie_inspect.populations.population import Population

CHECKS = "checks.jsonl"


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """What the check says of the edits of one feature, or of the paraphrases: means, NaN without any."""

    feature: str
    """`paraphrase` for the paraphrases."""
    texts: int
    left_out: int
    valid: float
    """Share of edits that have the new value, 0 to 1."""
    effect: float
    """Share of the feature's questions whose answer changed, 0 to 1."""
    invasiveness: float
    """Share of the other questions whose answer changed, 0 to 1; of paraphrases that of all questions."""
    words_changed: float
    """Share, 0 to 1."""
    length_ratio: float
    """Words over the original's."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is checked, and by which instruments."""

    interventions: Interventions
    population: Population
    """Whose questions are asked."""
    judge: str = "list"
    limits: Limits = field(default_factory=Limits)
    templates: Path | None = None


async def check_interventions(
    order: Order, output: Path, model: RecordedModel, work: Path, progress: Progress = no_progress
) -> list[CheckFigures]:
    """Write a folder of the texts with what the check says of each, and which are left out; it appears when complete.

    Raises:
        InterventionsError: If no text has a prompt that the population has questions for.
        GraderFailedError: If the grader cannot be reached; running again goes on from there.
    """
    interventions, population = order.interventions, order.population
    if not any(population.questions(original.prompt) for original in interventions.originals.values()):
        raise InterventionsError(f"{population.name} has no question for any prompt of {interventions.file}")
    templates = str(order.templates) if order.templates else None
    # a cache of this check alone: a dry run's made-up ratings must not come into the user's
    reader, judge = Instrument(order.judge, templates=templates).reader_and_judge(
        model, population.features, cache=Cache(work)
    )
    definitions = {feature.name: feature.definition for feature in population.features}
    checker = Checker(population, reader, judge, Editor(model, order.templates), definitions)
    total = len(interventions.changed)
    checked = await checker.check(interventions, lambda done: progress("checking texts", done, total))
    bad = faults(checked, order.limits)
    with appearing(output, work) as folder:
        write_rows(folder / INTERVENTIONS, [*interventions.originals.values(), *interventions.changed])
        write_rows(folder / CHECKS, checked)
        write_rows(folder / LEFT_OUT, bad)
    return figures(checked, {row.id for row in bad})


def figures(checked: Sequence[Checked], left_out: set[str]) -> list[CheckFigures]:
    """A row a feature in the order in which they come, the paraphrases last."""
    groups: dict[str, list[Checked]] = {}
    for row in sorted(checked, key=lambda row: row.kind == PARAPHRASE):
        groups.setdefault(row.feature or PARAPHRASE, []).append(row)
    return [
        CheckFigures(
            feature,
            len(rows),
            sum(row.id in left_out for row in rows),
            mean_of([row.valid for row in rows]),
            mean_of([row.effect for row in rows]),
            mean_of([row.invasiveness for row in rows]),
            mean_of([row.words_changed for row in rows]),
            mean_of([row.length_ratio for row in rows]),
        )
        for feature, rows in groups.items()
    ]


def read_checks(interventions: Interventions) -> list[Checked]:
    """What a check left beside the texts; empty where there was none.

    Raises:
        InterventionsError: If the file cannot be read.
    """
    file = interventions.file.parent / CHECKS
    if not file.is_file():
        return []
    return list(rows_of(file, Checked))
