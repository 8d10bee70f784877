from types import SimpleNamespace
from typing import Any, cast

import pytest
from inspect_ai.solver import TaskState

from genie_inspect.samples.intervention import KEY, InterventionFacts, intervention_of, made_of


def sample(metadata: Any) -> TaskState:
    return cast("TaskState", SimpleNamespace(metadata=metadata))


def test_what_was_done_to_a_text_is_read_back_from_its_sample() -> None:
    facts = InterventionFacts("edit", "d-1", "plot", "a fire", "Once.")
    assert intervention_of(sample(facts.as_metadata())) == facts
    assert made_of(sample(facts.as_metadata())) == "Once."


@pytest.mark.parametrize("metadata", [None, {}, {KEY: "edit"}, {KEY: {"kind": "edit"}}])
def test_any_other_sample_is_of_no_study_and_made_of_nothing(metadata: Any) -> None:
    assert intervention_of(sample(metadata)) is None
    assert made_of(sample(metadata)) == ""


def test_facts_that_are_no_text_are_none_of_ours() -> None:
    facts = InterventionFacts("edit", "d-1").as_metadata()
    assert intervention_of(sample({KEY: {**facts[KEY], "feature": 5}})) is None
