"""The real `vllm run-batch` takes our requests, and what it replies scores as the same replies do when they are asked.

`make test-vllm` with VLLM_COMMAND, a `vllm` that runs, and VLLM_FOLDER, a small chat model's. A random one will not do:
a pattern holds its replies to their form, and nothing makes it end an answer.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.batch.engines import lines, scored
from tests.cli.called import as_json
from tests.scripted import FOX, OWL, evaluated, saying
from tests.served import Served, serving

from genie_inspect.scorers.compression import compression

COMMAND, FOLDER = os.environ.get("VLLM_COMMAND", ""), os.environ.get("VLLM_FOLDER", "")
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(not (COMMAND and FOLDER), reason="VLLM_COMMAND and VLLM_FOLDER name no vLLM and no model"),
]
NAME = "tiny-in-a-batch"  # Inspect keeps one server a name
ARGUMENTS = "--max-model-len 8192 --enforce-eager --gpu-memory-utilization 0.1"


def run_batch(first: Path, replies: Path) -> None:
    """What a user calls, with as little memory as it takes."""
    command = [COMMAND, "run-batch", "-i", str(first), "-o", str(replies), "--model", FOLDER]
    command += ["--served-model-name", NAME, *ARGUMENTS.split()]
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@dataclass
class Again(Served):
    """A server that says what the engine has said to the same request, with everything that came beside it."""

    said: Mapping[str, Any] = field(default_factory=dict)

    def choice(self, index: int, conversation: Any, body: dict[str, Any], fault: str) -> dict[str, Any]:
        self.requests.append(conversation[-1]["content"])
        return dict(self.said[self.requests[-1]])


def test_requests_run_by_vllm_and_imported_leave_nothing_to_ask_and_score_as_the_same_replies_asked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stories = saying("An owl slept until it rained.", "A fox ran home.")
    log = evaluated(compression(), stories, None, tmp_path, (OWL, FOX), max_samples=1)
    grader = ("--grader", f"vllm/{NAME}", "--population", folder)
    said: dict[str, Any] = {}
    with serving(Again(str, said=said)) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        monkeypatch.setenv("VLLM_API_KEY", "none")
        for step in ("read", "judge"):
            first, replies = tmp_path / f"{step}.jsonl", tmp_path / f"{step}-replies.jsonl"
            written = as_json("batch", "requests", log.location, "--step", step, "-o", first, *grader)
            assert written["requests"]
            run_batch(first, replies)
            result = as_json("cache", "import", replies, "--requests", first)
            assert (result["lines"], result["used"], result["missing"]) == (written["requests"],) * 2 + (0,)
            assert not result["faults"]
            by_id = {line["custom_id"]: line["response"]["body"]["choices"][0] for line in lines(replies)}
            said |= {line["body"]["messages"][-1]["content"]: by_id[line["custom_id"]] for line in lines(first)}
        left = as_json("batch", "status", log.location, *grader)
        assert (left["left_to_read"], left["left_to_judge"]) == (0, 0), json.dumps(said)[:2000]
        imported = scored(log, folder, f"vllm/{NAME}", "list")
        assert server.requests == [], "nothing was asked"
        monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "asked"))
        asked = scored(log, folder, f"vllm/{NAME}", "list")
    assert len(server.requests) == len(said)
    assert [str(one.value) for one in imported] == [str(one.value) for one in asked]
    assert [one.metadata for one in imported] == [one.metadata for one in asked]
