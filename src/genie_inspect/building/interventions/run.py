"""A folder of interventions: originals, edits and paraphrases, with the record of what was rejected."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genie_inspect.building.interventions.instructions import Editor
from genie_inspect.building.interventions.sources import materials
from genie_inspect.building.interventions.writing import PARAPHRASES, InterventionWriter
from genie_inspect.building.stand_ins.recorded_model import RecordedModel
from genie_inspect.building.work import Progress, appearing, no_progress
from genie_inspect.errors import InterventionsError
from genie_inspect.interventions.collection import INTERVENTIONS
from genie_inspect.interventions.schema import EDIT, PARAPHRASE
from genie_inspect.judges.grader_reader import READ, GraderReader
from genie_inspect.populations.files import write_rows
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Feature

REJECTED = "rejected.jsonl"


@dataclass(frozen=True, slots=True)
class Order:
    """The documents that are changed, and how."""

    sources: Sequence[str]
    """A population, or logs."""
    features: tuple[Feature, ...]
    population: Population | None = None
    """Whose questions are asked about the documents of logs."""
    limit: int | None = None
    """Most documents of a prompt."""
    paraphrases: int = PARAPHRASES
    seed: int = 0
    templates: Path | None = None


async def write_interventions(
    order: Order, output: Path, model: RecordedModel, work: Path, progress: Progress = no_progress
) -> dict[str, Any]:
    """Write the folder; it appears when it is complete.

    Raises:
        InterventionsError: If nothing could be used; what was rejected stands in the work folder.
        GenieError: If a source cannot be read.
        GraderFailedError: If the editor cannot be reached; running again goes on from there.
    """
    editor = Editor(model, order.templates)
    documents = materials(order.sources, order.population, order.limit, work, progress)
    reader = GraderReader(model, READ.template(order.templates))
    writer = InterventionWriter(editor, reader, order.features, str(model), order.paraphrases, order.seed)
    written = await writer.write(documents, lambda done: progress("editing documents", done, len(documents)))
    kinds = Counter(text.kind for text in written.texts)
    if not kinds[EDIT] + kinds[PARAPHRASE]:
        write_rows(work / REJECTED, written.rejected)
        reasons = ", ".join(f"{count} {reason}" for reason, count in written.reasons.items())
        raise InterventionsError(f"no edit and no paraphrase can be used: {reasons} (record: {work / REJECTED})")
    with appearing(output, work) as folder:
        write_rows(folder / INTERVENTIONS, written.texts)
        write_rows(folder / REJECTED, written.rejected)
    edits = Counter(text.feature for text in written.texts if text.kind == EDIT)
    return {
        "originals": len(documents),
        "edits": {feature.name: edits[feature.name] for feature in order.features},
        "paraphrases": kinds[PARAPHRASE],
        "rejected": written.reasons,
        "unreadable_requests": editor.unreadable,
    }
