"""How many tokens a strategy's replies may take, by who sets a limit."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.solver import Solver
from inspect_ai.tool import ToolChoice, ToolInfo
from tests.scripted import saying
from tests.solvers.runs import run

from genie_inspect.solvers.prompting_methods import negative_sampling, outline, verbalized_sampling

TWO = json.dumps({"responses": [{"text": "An owl.", "probability": 0.1}] * 2})


@modelapi(name="roomy")
class Roomy(ModelAPI):
    """A provider that allows a reply so many tokens when nobody says."""

    def __init__(self, model_name: str, allowed: int | None = None, **options: Any) -> None:
        super().__init__(model_name, config=options.get("config", GenerateConfig()))
        self.allowed = allowed

    def max_tokens(self) -> int | None:
        """What Inspect sends when nobody says."""
        return self.allowed

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  # Inspect's own name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        made = ModelOutput.from_content("roomy/model", TWO)
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made


KNOWN = "anthropic/claude-3-5-haiku-20241022"  # Inspect's table has 8,192 tokens for it


@pytest.mark.parametrize(
    ("options", "task", "model", "name", "allowed", "expected"),
    [
        # where nobody limits a reply neither does a strategy
        ({}, None, None, "model", None, None),
        # k documents of unknown length have k times the default where the provider would cut the reply
        ({"k": 5}, None, None, "model", 2048, 5 * 2048 + 200),
        # a provider that allows more by itself is left alone
        ({"k": 5}, None, None, "model", 32_000, 32_000),
        # a limit that stands with the model counts as the task's does
        ({"k": 5}, None, 400, "model", 32_000, 5 * 400 + 200),
        ({"k": 5}, 300, 400, "model", None, 5 * 300 + 200),
        # no more than the model is known to write, and never less than a reply has anyway
        ({"k": 5}, 1000, None, KNOWN, None, 5200),
        ({"k": 5}, 2000, None, KNOWN, None, 8192),
        ({"k": 5}, 9000, None, KNOWN, None, 9000),
        # 180 words take 560 tokens, less than the task allows one document
        ({"k": 4, "words": 180}, 750, None, "model", None, 4 * 750 + 200),
        ({"k": 1}, 750, None, "model", None, 750),
    ],
)
def test_k_documents_have_k_times_the_room_of_one_within_what_task_model_and_provider_allow(
    options: dict[str, Any], task: int | None, model: int | None, name: str, allowed: int | None, expected: int | None,
    tmp_path: Path,
) -> None:  # fmt: skip
    says: dict[str, Any] = {"allowed": allowed} if allowed else {}
    made = get_model(f"roomy/{name}", memoize=False, config=GenerateConfig(max_tokens=model), **says)
    (sample,) = run(verbalized_sampling(**options), made, tmp_path, max_tokens=task)
    assert {event.config.max_tokens for event in sample.events if event.event == "model"} == {expected}


@pytest.mark.parametrize(
    ("solver", "reply", "words", "expected"),
    [
        (outline(stages="plot"), "a storm", None, [750, 750]),
        (outline(stages="plot"), "a storm", 500, [750, 2 * 500 + 200]),
        (negative_sampling(), "word " * 400, None, [750, 2 * 400 + 200]),
    ],
)
def test_one_document_in_a_reply_has_the_tasks_limit_or_what_its_length_needs(
    solver: Solver, reply: str, words: int | None, expected: list[int], tmp_path: Path
) -> None:
    writer = saying(reply)
    run(solver, writer, tmp_path, words=words, max_tokens=750)
    assert [config.max_tokens for config in writer.configs] == expected
