"""What a sample says of its story, in a log that may come from anywhere."""

import pytest
from inspect_ai.log import EvalSample

from genie_inspect.samples.story import KEY, StoryFacts, story_of


def sample(facts: object) -> EvalSample:
    return EvalSample(id=1, epoch=1, input="", target="", metadata={KEY: facts})


def test_what_was_said_is_read_back() -> None:
    facts = StoryFacts("0_GPT4", "Bees", 12)
    assert story_of(sample(facts.as_metadata()[KEY])) == facts


@pytest.mark.parametrize("facts", [None, "0_GPT4", {"id": "0_GPT4"}, {"id": 3, "reference": "", "reference_words": 1}])
def test_what_has_another_shape_is_none(facts: object) -> None:
    assert story_of(sample(facts)) is None
