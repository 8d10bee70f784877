"""A population's yardstick: how novel each of its documents is among the others, as a scorer finds it."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from genie_inspect.asking.gathering import gathered
from genie_inspect.building.work import Progress, no_progress
from genie_inspect.errors import GraderFailedError, RefusalError
from genie_inspect.judges.protocols import GRADER_FAILED
from genie_inspect.populations.schema import Document
from genie_inspect.populations.yardstick import Measured
from genie_inspect.samples.document import REFUSAL
from genie_inspect.scoring.assessor import Assessor
from genie_inspect.scoring.jury import Jury
from genie_inspect.statistics.descriptive.digits import three_digits
from genie_inspect.statistics.descriptive.spread import Spread, pooled
from genie_inspect.statistics.intervals import Interval, prompt_interval

STEP = "leaving one out"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What came of comparing each document of a population with the others."""

    measured: Measured
    means: Mapping[str, Interval]
    """By feature, over prompts."""
    spread: Mapping[str, Spread]
    """By feature, of the similarities of one document to the others, within questions."""
    missing: Mapping[str, int]
    """Documents, answers and ratings that could not be had, by reason."""


async def left_out(assessor: Assessor | Jury, progress: Progress = no_progress) -> LeftOut:
    """Each document of a population compared with the others of its prompt.

    Args:
        assessor: With the population, its reader and its judge.
        progress: Told how far it is.

    Raises:
        PopulationError: If the population lacks documents or questions.
        GraderFailedError: If the grader failed, be it once: running again goes on from what it has said.
    """
    assessor.population.require_documents("the yardstick")
    assessor.population.require_questions("the yardstick")
    comparing = _Comparing(assessor, progress)
    novelty: dict[str, dict[str, float]] = {}
    prompts: list[str] = []
    for prompt in assessor.population.prompts:
        # a prompt at a time: a large population need not be in memory
        documents = assessor.population.documents(prompt)
        values = await gathered(*map(comparing.novelty, documents))
        novelty |= {document.id: found for document, found in zip(documents, values, strict=True)}
        prompts += [prompt] * len(documents)
    return LeftOut(
        Measured(signature=assessor.signature, novelty={name: _kept(values) for name, values in novelty.items()}),
        {
            key: prompt_interval([values[key] for values in novelty.values()], prompts, bounds=(0.0, 1.0))
            for key in comparing.features
        },
        {key: pooled(parts) for key, parts in comparing.spreads.items()},
        dict(comparing.missing),
    )


class _Comparing:
    """Compares one document after another, and counts what is missing.

    Args:
        assessor: As above, like the progress.
        progress: Told of each document.
    """

    def __init__(self, assessor: Assessor | Jury, progress: Progress) -> None:
        self.features = [feature.name for feature in assessor.population.features]
        self.missing: Counter[str] = Counter()
        self.spreads: dict[str, list[Spread]] = {feature: [] for feature in self.features}
        self._assessor = assessor
        self._progress = progress
        self._done = 0

    async def novelty(self, document: Document) -> dict[str, float]:
        """By feature; NaN where nothing could be measured."""
        try:
            assessment = await self._assessor.assess(document.text, document.prompt)
        except RefusalError:
            self.missing[REFUSAL] += 1
            found = dict.fromkeys(self.features, math.nan)
        else:
            faults = assessment.faults()
            # unlike a score, which says that it is poorer, a yardstick is kept for all later scores
            if lost := faults.get(GRADER_FAILED, 0):
                raise GraderFailedError(f"the grader failed on {lost} ratings of document {document.id}: run it again")
            self.missing.update(faults)
            found = assessment.novelty(self.features)
            for feature, spread in assessment.spread(self.features).items():
                self.spreads[feature].append(spread)
        self._done += 1
        self._progress(STEP, self._done, self._assessor.population.manifest.counts.documents)
        return found


def _kept(novelty: Mapping[str, float]) -> dict[str, float | None]:
    return {feature: None if math.isnan(value) else three_digits(value) for feature, value in novelty.items()}
