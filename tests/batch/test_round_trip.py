"""Requests out, replies in, scored: the same scores as when the grader is asked, and nothing left to ask."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai._cli.util import parse_model_role_cli_args
from inspect_ai.log import EvalLog
from tests.batch.engines import FORMS, called, lines, replied, write
from tests.scripted import FOX, OWL, evaluated, grading, saying, small_population
from tests.served import NAMES, Served, serving

from genie_inspect.scorers.compression import compression
from genie_inspect.scorers.genie import genie

GRADERS = {"openai": "{model: openai/gpt-4o, seed: 3, model_args: {responses_api: false}}", "vllm": "vllm/{name}"}
JUDGES = [("openai", "list"), ("vllm", "list"), ("openai", "pairwise"), ("openai", "logit"), ("vllm", "logit")]


def rating(answer: str, other: str) -> int:
    return (len(answer) * 7 + len(other)) % 5


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    script = grading(rating=rating)
    spread = {"1": -0.7, "3": -1.5, "4": -2.0}
    with serving(Served(script.reply, logprobs=lambda request: spread)) as running:  # type: ignore[arg-type]
        for name in ("OPENAI", "VLLM"):
            monkeypatch.setenv(f"{name}_BASE_URL", running.url)
            monkeypatch.setenv(f"{name}_API_KEY", "none")
        yield running


@pytest.fixture
def log(tmp_path: Path) -> EvalLog:
    """Stories that were written and not yet judged; two are alike, and one is no story."""
    writer = saying("An owl slept.", "A fox ran.", "An owl slept.", "", "Some owl.")
    return evaluated(compression(), writer, None, tmp_path, (OWL, FOX, OWL, OWL, OWL), max_samples=1)


def scored(log: EvalLog, folder: Path, grader: str, judge: str) -> list[Any]:
    roles = parse_model_role_cli_args((f"grader={grader}",))  # as `inspect score` does
    again = score(log, genie(str(folder), judge), model_roles=roles, display="none", action="overwrite")
    return [(sample.scores or {})["genie"] for sample in again.samples or []]


def two_rounds(served: Served, log: EvalLog, folder: Path, grader: str, judge: str, engine: str) -> list[Any]:
    """What was asked, after both rounds have gone through files."""
    named, bodies = ["--grader", grader, "--judge", judge, "--population", folder], []
    for step in ("read", "judge"):
        first = folder.parent / f"{step}.jsonl"
        written = called("requests", log.location, "--step", step, "-o", first, "--shard", 4, *named)
        assert written["requests"] > 4
        assert len(written["files"]) == -(-written["requests"] // 4)
        shards = [Path(file) for file in written["files"]]
        bodies += [line["body"] for shard in shards for line in lines(shard)]
        replies = write(folder.parent / f"{step}-replies.jsonl", replied(served, shards, FORMS[engine]))
        result = called("cache", "import", replies, "--requests", first)
        assert result["used"] == written["requests"]
        assert not result["missing"]
        assert not result["faults"]
    left = called("requests", log.location, "--status", *named)
    assert (left["left_to_read"], left["left_to_judge"]) == (0, 0)
    return bodies


@pytest.mark.parametrize(("engine", "judge"), JUDGES)
def test_replies_from_files_score_as_replies_to_a_run_do_and_nothing_is_left_to_ask(
    engine: str, judge: str, served: Served, log: EvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_population(tmp_path / "small").folder
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "asked"))
    grader = GRADERS[engine].replace("{name}", f"m-{next(NAMES)}")  # whose provider keeps one server a name
    asked = scored(log, folder, grader, judge)
    direct = {json.dumps(body, sort_keys=True) for body in served.bodies}
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "imported"))

    batched = two_rounds(served, log, folder, grader, judge, engine)
    if (engine, judge) != ("vllm", "logit"):  # which a run sends many at once
        assert {json.dumps(body, sort_keys=True) for body in batched} == direct, "byte for byte what a run sends"

    before = len(served.bodies)
    again = scored(log, folder, grader, judge)
    assert len(served.bodies) == before, "nothing was asked"
    assert str([one.value for one in again]) == str([one.value for one in asked]), "NaN is NaN"
    assert any(not math.isnan(value) for one in again for value in one.value.values())
    assert [one.metadata for one in again] == [one.metadata for one in asked]


def test_a_populations_own_documents_are_asked_about_as_each_against_the_others(served: Served, tmp_path: Path) -> None:
    folder = small_population(tmp_path / "small").folder
    read = tmp_path / "read.jsonl"
    written = called("requests", folder, "--step", "read", "--grader", "openai/gpt-4o", "-o", read)
    assert written["requests"] == 5, "a reading a document"
    write(tmp_path / "replies.jsonl", replied(served, [read], FORMS["openai"]))
    called("cache", "import", tmp_path / "replies.jsonl", "--requests", read)
    left = called("requests", folder, "--status", "--grader", "openai/gpt-4o")
    assert (left["left_to_read"], left["left_to_judge"]) == (0, 3 * 3 + 2 * 1), "a request an answer"
