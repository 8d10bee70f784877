"""How many tokens a strategy's replies may take, by who sets a limit."""

import json
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.solver import Solver
from inspect_ai.tool import ToolChoice, ToolInfo
from tests.scripted import OWL, saying
from tests.solvers.runs import run

from genie_inspect.solvers.negative_sampling import negative_sampling
from genie_inspect.solvers.outline import outline
from genie_inspect.solvers.verbalized_sampling import verbalized_sampling

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
        """Two owls."""
        made = ModelOutput.from_content("roomy/model", TWO)
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made


def limits(
    solver: Solver,
    folder: Path,
    *,
    task: int | None = None,
    model: int | None = None,
    name: str = "model",
    **options: Any,
) -> list[int | None]:
    """The tokens that each request allows, where the task or the model sets a limit."""
    made = get_model(f"roomy/{name}", memoize=False, config=GenerateConfig(max_tokens=model), **options)
    (log,) = evaluate(
        Task(
            dataset=MemoryDataset([Sample(input=OWL, id="owl")]), solver=solver, config=GenerateConfig(max_tokens=task)
        ),
        model=made, log_dir=str(folder), display="none",
    )  # fmt: skip
    assert log.status == "success", log.error
    events = [event for sample in log.samples or [] for event in sample.events]
    return [event.config.max_tokens for event in events if event.event == "model"]


def test_where_nobody_limits_a_reply_neither_does_a_strategy(tmp_path: Path) -> None:
    assert limits(verbalized_sampling(), tmp_path) == [None]
    assert limits(verbalized_sampling(words=500), tmp_path) == [None]


def test_k_documents_of_unknown_length_have_k_times_the_default_where_the_provider_would_cut_the_reply(
    tmp_path: Path,
) -> None:
    assert limits(verbalized_sampling(k=5), tmp_path, allowed=2048) == [5 * 2048 + 200]
    assert limits(verbalized_sampling(k=2), tmp_path, allowed=300) == [2 * 2048 + 200]


def test_a_provider_that_allows_more_by_itself_is_left_alone(tmp_path: Path) -> None:
    assert limits(verbalized_sampling(k=5), tmp_path, allowed=32_000) == [32_000]


def test_a_limit_that_stands_with_the_model_counts_as_the_tasks_does(tmp_path: Path) -> None:
    assert limits(verbalized_sampling(k=5), tmp_path, model=400, allowed=32_000) == [5 * 400 + 200]
    assert limits(verbalized_sampling(k=5), tmp_path, task=300, model=400) == [5 * 300 + 200]


def test_no_more_is_asked_for_than_the_model_is_known_to_write_and_never_less_than_a_reply_has_anyway(
    tmp_path: Path,
) -> None:
    known = "anthropic/claude-3-5-haiku-20241022"  # Inspect's table has 8,192 tokens for it
    assert limits(verbalized_sampling(k=5), tmp_path, task=1000, name=known) == [5200]
    assert limits(verbalized_sampling(k=5), tmp_path, task=2000, name=known) == [8192]
    assert limits(verbalized_sampling(k=5), tmp_path, task=9000, name=known) == [9000]


def test_one_document_in_a_reply_has_the_tasks_limit_or_what_its_length_needs(tmp_path: Path) -> None:
    planner = saying("a storm")
    run(outline(stages="plot"), planner, tmp_path, max_tokens=750)
    assert [config.max_tokens for config in planner.configs] == [750, 750]
    longer = saying("a storm")
    run(outline(stages="plot"), longer, tmp_path, words=500, max_tokens=750)
    assert [config.max_tokens for config in longer.configs] == [750, 2 * 500 + 200]
    again = saying("word " * 400)
    run(negative_sampling(), again, tmp_path, max_tokens=750)
    assert [config.max_tokens for config in again.configs] == [750, 2 * 400 + 200]
