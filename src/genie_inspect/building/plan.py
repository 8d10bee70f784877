"""The plan of a population, and the counts of its building."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from genie_inspect.building.questions.writing import Wanted
from genie_inspect.populations.intake.shingles import THRESHOLD
from genie_inspect.populations.schema import Feature

GRADER, NONE = "grader", "none"


@dataclass(frozen=True, slots=True)
class Plan:
    """Logs, questions and options that a population is built from."""

    logs: Sequence[str]
    output: Path
    name: str
    licence: str
    features: tuple[Feature, ...]
    version: str = "1"
    description: str = ""
    questions: Path | None = None
    """A file or population whose questions are asked; None has them written."""
    wanted: Wanted = field(default_factory=Wanted)
    per_prompt: int = 50
    """Most documents a prompt."""
    seed: int = 0
    near_duplicates: float = THRESHOLD
    coherence: str = GRADER
    """`grader`, `reward/<hub id or folder>` of ArmoRM, or `none`."""
    min_coherence: float | None = None
    """Least coherence on the rater's own scale; its middle unless given."""
    clean_by_model: bool = False
    """Whether the grader is asked where each document falls apart, and what stands behind that is cut."""
    templates: Path | None = None
    yardstick: str = NONE
    """The judge, `list` or `pairwise`, with which the documents are compared with each other; or `none`."""


@dataclass(slots=True)
class Built:
    """Counts of a build, for people and scripts."""

    population: str = ""
    generations: int = 0
    documents: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    """Generations that did not join, by reason."""
    coherence_unrated: int = 0
    """Documents that joined although their coherence could not be rated."""
    prompts_without_documents: int = 0
    """Prompts that lost all of them, and so their questions."""
    questions: int = 0
    rejected_questions: dict[str, int] = field(default_factory=dict)
    """By step and reason."""
    answers: int = 0
    unspecified: int = 0
    """Answers that say that the document does not say."""
    unreadable_answers: int = 0
    """Answers that could not be had; they are not on record and are read again by whoever scores."""
    unreadable_replies: int = 0
    """Replies about questions that held nothing, or lacked something that was asked for."""
    asked_again: int = 0
    """Requests that only an unreadable reply made necessary."""
    cleaned: dict[str, int] | None = None
    """What came of asking where documents fall apart, and how many words were cut; None where nobody was asked."""

    def provenance(self, plan: Plan) -> dict[str, str]:
        """How the population was made, for its card."""
        # the card is all that a reader of the population has of how it was built
        counted = ", ".join(f"{count} {reason}" for reason, count in self.dropped.items())
        written = "written, filtered and mapped by the grader"
        return {
            "Generations found in logs": str(self.generations),
            "Dropped": counted or "none",
            "Coherence": f"by {plan.coherence}; {self.coherence_unrated} unreadable and kept",
            "Documents a prompt": f"at most {plan.per_prompt}, stratified by model, seed {plan.seed}",
            "Near-duplicates": f"dropped from {plan.near_duplicates:.0%} shared runs of five words",
            "Questions": f"from {plan.questions.name}" if plan.questions else written,
            "Yardstick": f"by judge={plan.yardstick}" if plan.yardstick != NONE else NONE,
            "Answers": f"{self.answers}: {self.unspecified} not specified; {self.unreadable_answers} more unreadable",
        }
