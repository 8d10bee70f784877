"""How a critic's tests are put to a story, and the score that comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.critic.critic import Critic
from genie_inspect.critic.critique import Critique
from genie_inspect.critic.instructions import Instructions
from genie_inspect.critic.rubrics import Rubric
from genie_inspect.prompting.texts import has_word
from genie_inspect.samples.document import document_of
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.scoring.critique.explanation import evidence, explained
from genie_inspect.scoring.explanation import cut
from genie_inspect.scoring.outcome import scored_or_reason, unscored
from genie_inspect.signature import signature

NO_REFERENCE = "no reference story"
SHOWN = 160  # characters of the prompt in the metadata


@dataclass(frozen=True)
class Examination:
    """How stories are put to the tests."""

    rubric: Rubric
    """Its name begins the keys."""
    instructions: Instructions
    cutoff: int | None
    """From which score on a test passes; None where the candidate stands alone and passes on a yes."""
    settings: Mapping[str, str]
    """What else the numbers depend on, for the signature; the rubric first."""

    async def score(self, critic: Critic, state: TaskState, reference: str | None) -> Score:
        """The score of a sample's story, beside a reference or alone."""
        text, facts = document_of(state), self._facts(critic, state)
        keys = self.rubric.keys

        async def measured() -> Score:
            # a reference of nothing but punctuation would lose every test
            if not (reference is None or has_word(reference)):
                return unscored(keys, NO_REFERENCE, f"Not scored: {NO_REFERENCE}.", text, facts)
            judgements = await critic.compare(text, reference, self.rubric.tests)
            critique = Critique(self.rubric, tuple(judgements), self.cutoff)
            return Score(
                value=dict(critique.value),
                answer=text,
                explanation=explained(critique, text, reference or ""),
                reason=None if critique.judged else "invalid_response_format",
                metadata=evidence(critique, **facts),
            )

        return await scored_or_reason(state, keys, facts, measured)

    def _facts(self, critic: Critic, state: TaskState) -> dict[str, str]:
        """The metadata of every score."""
        facts = {
            "judge": critic.signature,
            **self.settings,
            "stories": str(state.metadata.get("references", "unknown")),
        }
        if self.cutoff is not None:
            facts["cutoff"] = str(self.cutoff)
        return {
            "signature": signature("ttcw", version="1-A", **facts),
            "judge": critic.signature,
            "prompt": cut(prompt_of(state), SHOWN),
        }
