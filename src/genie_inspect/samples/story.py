"""What a sample says of its story, where that has an id of its own, as in files of votes."""

from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai.log import EvalSample

KEY = "existing_story"
"""Where a dataset puts it in a sample's metadata."""


@dataclass(frozen=True, slots=True)
class StoryFacts:
    """A story that exists."""

    id: str
    reference: str = ""
    """The id or title of the story that it is held against; empty where it has none."""
    reference_words: int = 0

    def as_metadata(self) -> dict[str, Any]:
        """For a sample's metadata; `story_of` reads it back."""
        return {KEY: asdict(self)}


def story_of(sample: EvalSample) -> StoryFacts | None:
    """What a sample says of its story; None where it names none."""
    facts = (sample.metadata or {}).get(KEY)
    # a log is untrusted: what does not have this shape is not ours
    if not isinstance(facts, dict) or set(facts) != set(StoryFacts.__slots__):
        return None
    kinds = {"id": str, "reference": str, "reference_words": int}
    return StoryFacts(**facts) if all(isinstance(facts[name], kind) for name, kind in kinds.items()) else None
