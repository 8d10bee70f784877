"""What a sample of a metric study says of its text: an original, an edit of a feature, or a paraphrase."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai.log import EvalSample
from inspect_ai.solver import TaskState

KEY = "intervention"
"""Where a dataset puts it in a sample's metadata."""


@dataclass(frozen=True, slots=True)
class InterventionFacts:
    """What was done to a text."""

    kind: str
    """`original`, `edit` or `paraphrase`."""
    original: str
    """The id of the text that it was made of; an original's own."""
    feature: str = ""
    """Which an edit changed."""
    alternative: str = ""
    """The value that the edit gave it."""
    original_text: str = ""
    """Of an edit or paraphrase; nothing is compared with the text that it was made of."""

    def as_metadata(self) -> dict[str, Any]:
        """For a sample's metadata; `intervention_of` reads it back."""
        return {KEY: asdict(self)}


def intervention_of(sample: TaskState | EvalSample) -> InterventionFacts | None:
    """What was done to the sample's text; None where the sample is none of a metric study."""
    return intervention_in(sample.metadata)


def intervention_in(metadata: Mapping[str, Any] | None) -> InterventionFacts | None:
    """The same of a sample's metadata."""
    facts = (metadata or {}).get(KEY)
    # a log is untrusted: what does not have this shape is not ours
    if not isinstance(facts, dict) or set(facts) != set(InterventionFacts.__slots__):
        return None
    return InterventionFacts(**facts) if all(isinstance(value, str) for value in facts.values()) else None


def made_of(sample: TaskState | EvalSample) -> str:
    """The text that the sample's was made of, with which it is not compared; empty where it was made of none."""
    facts = intervention_of(sample)
    return facts.original_text if facts else ""
