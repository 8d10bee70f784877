"""A model to plan with."""

import pytest
from inspect_ai.model import Model, ModelName, get_model

from genie_inspect import inspect_private
from genie_inspect.graders.cost import planned_model
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.graders.identity import identified_model


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-sonnet-4-0", "hf/some/model", "vllm/tiny"])
def test_a_model_is_planned_with_without_its_key_or_package(name: str) -> None:
    model = planned_model(name)
    assert str(model) == name
    assert ModelName(model).api == name.partition("/")[0]


def test_what_the_real_model_has_said_is_found_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planned_model("openai/gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "nobody asks it")
    assert identified_model(planned) == identified_model(get_model("openai/gpt-4o", memoize=False))


@pytest.mark.parametrize("name", ["nobody/x", "gpt-4o"])
def test_a_provider_that_inspect_does_not_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        planned_model(name)


def test_a_bundled_model_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PrerequisiteError, match="nobody"):
        planned_model("bundled/nobody")


@pytest.mark.anyio
async def test_a_planned_model_cannot_be_asked() -> None:
    with pytest.raises(NotImplementedError, match="cannot be asked"):
        await planned_model("openai/gpt-4o").generate("Who?")


def test_where_the_wire_is_gone_planning_takes_what_asking_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_private, "_wire", lambda module, name: None)
    with pytest.raises(PrerequisiteError, match="OPENAI_API_KEY"):
        planned_model("openai/gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "nobody asks it")
    assert isinstance(planned_model("openai/gpt-4o"), Model)
