"""Fixtures of all tests of batches."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from inspect_ai.log import EvalLog
from tests.scripted import FOX, OWL, evaluated, grading, saying, small_population
from tests.served import Served, serving

from genie_inspect.batch import walk
from genie_inspect.scorers.compression import compression


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a folder that is not on a disk, in memory: its scheme is one that is reached for once."""
    monkeypatch.setattr(walk, "SCHEMES", (*walk.SCHEMES, "memory"))
    return f"memory://{uuid4()}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_population(tmp_path / "small").folder


@pytest.fixture
def log(tmp_path: Path) -> EvalLog:
    """Stories that were written and not yet judged; two are alike, and one is no story."""
    writer = saying("An owl slept.", "A fox ran.", "An owl slept.", "", "Some owl.")
    return evaluated(compression(), writer, None, tmp_path, (OWL, FOX, OWL, OWL, OWL), max_samples=1)


@pytest.fixture
def grader_served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server of graders by OpenAI's and vLLM's names, whose ratings differ."""
    script = grading(rating=lambda answer, other: (len(answer) * 7 + len(other)) % 5)
    spread = {"1": -0.7, "3": -1.5, "4": -2.0}
    with serving(Served(script.reply, logprobs=lambda request: spread)) as running:  # type: ignore[arg-type]
        for name in ("OPENAI", "VLLM"):
            monkeypatch.setenv(f"{name}_BASE_URL", running.url)
            monkeypatch.setenv(f"{name}_API_KEY", "none")
        yield running
