"""Every judge mode and every task on a real vLLM server, whose tiny random model writes, reads and judges.

`make test-vllm` with VLLM_BASE_URL. The model's words mean nothing: what is seen is that every sample ends, with scores
or without them and then with a reason, that what is missing is accounted for, and that tokens are counted.
"""

import math
import os
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model
from inspect_ai.scorer import Score
from tests.scripted import DOCUMENTS, OWL, Asked, small_population
from tests.tasks.runs import run as run_task

from genie_inspect.graders import critic
from genie_inspect.graders.logit_judge import LogitJudge
from genie_inspect.graders.protocols import OFF_LABELS, Answer

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif("VLLM_BASE_URL" not in os.environ, reason="VLLM_BASE_URL names no server"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Inspect closes connections when the process ends
]
MODEL = os.environ.get("VLLM_MODEL", "vllm/tiny")
QUESTION, ANSWER = Asked("How does it end?"), Answer("in the rain")
OTHERS = [Answer(text) for text in ("at sea", "in a storm", "at home", "at a wedding")]
TASKS: dict[str, dict[str, Any]] = {
    "synthetic_prompts": {"population": "small", "panel": "cheap"},
    "writing_prompts": {"population": "small"},
    "population_prompts": {"population": "small"},
    "novelty_partition": {"k": 2},
    "ttcw": {"words": 40},
}


def run(task: str, folder: Path, **arguments: Any) -> EvalLog:
    """A finished run of a task on one prompt; stories are short, because a random model never ends one."""
    if arguments.get("population") == "small":
        arguments["population"] = str(small_population(folder / "population", {OWL: DOCUMENTS[OWL]}).folder)
    return run_task(task, folder, MODEL, MODEL, epochs=1, limit=1, max_tokens=60, task_args=arguments)


def settled(score: Score) -> bool:
    """Whether a score is numbers, or none and a reason."""
    values = score.value.values() if isinstance(score.value, dict) else [score.value]
    return bool(score.reason) or any(isinstance(value, int | float) and not math.isnan(value) for value in values)


@pytest.mark.parametrize("task", TASKS)
def test_every_sample_of_every_task_ends_scored_or_unscored_with_a_reason(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(critic, "MOST_TOKENS", 60)  # a random model never ends an analysis
    log = run(task, tmp_path, **TASKS[task])
    assert log.samples
    for sample in log.samples:
        assert sample.error is None
        assert sample.scores
        for name, score in sample.scores.items():
            assert settled(score), f"{name} has neither a value nor a reason"
    assert log.stats.role_usage["grader"].output_tokens > 0


@pytest.mark.parametrize("judge", ["list", "pairwise", "logit"])
def test_every_judge_scores_a_document_or_says_why_not_and_accounts_for_every_pair(judge: str, tmp_path: Path) -> None:
    log = run("population_prompts", tmp_path, population="small", judge=judge)
    (sample,) = log.samples or []
    assert sample.scores
    score = sample.scores["genie"]
    assert settled(score)
    assert score.metadata is not None
    read, used, possible = (
        [int(share.split("/")[part]) for share in score.metadata[counts].values()]
        for counts, part in (("coverage", 0), ("pairs", 0), ("pairs", 1))
    )
    # the three questions of the owl, and the three stories that each answer is rated against
    assert sum(read) == 3 or score.metadata["faults"]
    assert sum(possible) == 3 * sum(read)
    assert sum(used) == sum(possible) or score.metadata["faults"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the client of OpenAI knows no other
async def test_the_logit_judge_reads_in_one_request_how_little_a_random_model_has_on_the_labels() -> None:
    async with get_model(MODEL, memoize=False) as model:
        strict = await LogitJudge(model).rate(QUESTION, ANSWER, OTHERS)
        judge = LogitJudge(model)
        judge.most_off_labels = 1.0
        lenient = await judge.rate(QUESTION, ANSWER, OTHERS)
    assert strict.off_labels == pytest.approx(lenient.off_labels, abs=0.05)
    assert strict.off_labels is not None
    assert 0.5 < strict.off_labels <= 1
    assert set(strict.faults.values()) == {OFF_LABELS}
    assert OFF_LABELS not in lenient.faults.values()
