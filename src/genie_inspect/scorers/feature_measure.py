"""Novelty of documents by feature, one after another, with one grader or a jury: the scorer `genie`."""

import math
from functools import lru_cache, partial
from typing import Any

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.graders.grader import bound_when_scored
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.protocols import caution
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.yardstick import yardstick_of
from genie_inspect.samples import document_of, made_of, prompt_of
from genie_inspect.scorers.assessor import Assessor, Jury, assessor_of, jury_facts, jury_notes
from genie_inspect.scorers.explanation import WIDTHS, cut, evidence, explained, length_facts, notes_on, why_nothing
from genie_inspect.scorers.outcome import PopulationStanding, scored_or_reason, standing_facts, unscored

ANSWERS_ALONE = (
    "The population holds recorded answers alone, by {readers}: another reader would have answered otherwise."
)
UNKNOWN_PROMPT = "the population has no questions for this prompt"


def suited(population: str, instrument: Instrument) -> Population:
    """The population, when it has what the instrument needs."""
    opened = open_population(population)
    opened.require_questions("measure genie")
    yardstick_of(opened.folder)  # a damaged one shows before anything is asked
    if instrument.is_smoke_test:
        opened.require_documents("judge=embedded")
    return opened


class FeatureMeasure:
    """Measures one document after another against a population, by one grader or a jury."""

    def __init__(self, population: Population, instrument: Instrument) -> None:
        self.population = population
        self.instrument = instrument
        self.features = [feature.name for feature in population.features]
        # what was read of the population stays in memory from one document to the next
        self.assessor = bound_when_scored(instrument.graders, partial(assessor_of, population, instrument))
        self.standing = lru_cache(maxsize=1)(partial(PopulationStanding, population))

    async def score(self, state: TaskState) -> Score:
        """The score of one sample."""
        assessor, prompt = self.assessor(), prompt_of(state)
        facts = self._facts(assessor, prompt)
        return await scored_or_reason(
            state,
            self.features,
            facts,
            lambda: self._measured(assessor, document_of(state), prompt, facts, made_of(state)),
        )

    async def _measured(
        self, assessor: Assessor | Jury, text: str, prompt: str, facts: dict[str, Any], origin: str
    ) -> Score:
        # unscored, not 0: a document to a prompt that the population does not know has no others to be like
        if not self.population.questions(prompt):
            return unscored(self.features, UNKNOWN_PROMPT, f"Not scored: {UNKNOWN_PROMPT}.", text, facts)
        assessment = await assessor.assess(text, prompt, origin)
        novelty = assessment.novelty(self.features)
        standings = self.standing(assessor.signature).of(novelty, prompt)
        alone = [ANSWERS_ALONE.format(readers=", ".join(self.population.readers))]
        notes = alone if self.population.answers_alone else []
        by_grader = jury_facts(assessment, self.features)
        notes += [*jury_notes(by_grader, self.features), *notes_on(assessment, caution(assessor.judged_by))]
        return Score(
            value=dict(novelty),
            answer=text,
            explanation=explained(assessment, self.features, notes, standings),
            # a reason marks the whole score as unscored: with one feature measured there is none
            reason=why_nothing(assessment.poorest) if all(map(math.isnan, novelty.values())) else None,
            metadata=evidence(
                assessment,
                self.features,
                **facts,
                **by_grader,
                length=length_facts(assessment, self.features),
                **standing_facts(standings),
            ),
        )

    def _facts(self, assessor: Assessor | Jury, prompt: str) -> dict[str, Any]:
        """The metadata of every score."""
        facts = {
            "signature": assessor.signature,
            "judge": assessor.judged_by,
            "reader": assessor.read_by,
            # the beginning, for people; reports take the prompt from the sample itself
            "prompt": cut(prompt, WIDTHS[0]),
        }
        if self.population.answers_alone:
            facts["population_read_by"] = ", ".join(self.population.readers)
        return facts
