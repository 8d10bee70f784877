"""The critic on a real vLLM server: `make test-vllm`, with VLLM_BASE_URL and VLLM_MODEL (tiny unless given)."""

import os
import re
import urllib.request
from pathlib import Path

import pytest
from inspect_ai import eval as evaluate

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif("VLLM_BASE_URL" not in os.environ, reason="VLLM_BASE_URL names no server"),
]
MODEL = f"vllm/{os.environ.get('VLLM_MODEL', 'tiny')}"


def counted(metric: str) -> float:
    server = os.environ["VLLM_BASE_URL"].removesuffix("/v1")
    with urllib.request.urlopen(f"{server}/metrics", timeout=10) as reply:
        return sum(map(float, re.findall(rf"^vllm:{metric}\{{[^\n]*\}} (\S+)$", reply.read().decode(), re.MULTILINE)))


@pytest.mark.parametrize("analyse", [False, True])
def test_a_whole_story_is_judged_in_28_requests_held_to_the_labels(
    analyse: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked, hits = counted("prefix_cache_queries_total"), counted("prefix_cache_hits_total")
    [log] = evaluate(
        "genie_inspect/ttcw",
        model=MODEL,
        model_roles={"grader": MODEL},
        task_args={"analyse": analyse},
        limit=1,
        max_tokens=900,
        display="none",
    )
    assert log.status == "success", log.error
    assert log.samples
    [sample] = log.samples
    assert sample.scores
    metadata = sample.scores["ttcw"].metadata or {}
    assert metadata["judged"] == 14
    assert metadata["faults"] == {}
    calls = [event for event in sample.events if event.event == "model"]
    assert len(calls) == 1 + 28
    served = (counted("prefix_cache_hits_total") - hits) / (counted("prefix_cache_queries_total") - asked)
    assert served > 0.5  # the two orders are read once each, the other 26 requests find them
