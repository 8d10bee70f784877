from pathlib import Path
from typing import Any

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.results import results_of

DIGITS = "0123456789ab"


def warned(folder: Path, model: str, signature: str, **metadata: Any) -> list[str]:
    """What is said of a log of this model under this signature."""
    file = made_log(folder, [{"genie": scored({"plot": 0.5}, signature, **metadata)}], model=model)
    return list(results_of(read_scored_log(file), "genie").warnings)


def by(*graders: str) -> str:
    """The signature of these graders."""
    judges, readers = (
        "+".join(f"{kind}({name}@{DIGITS},template=00)" for name in graders) for kind in ("list", "grader")
    )
    return f"measure:genie|judge:{judges}|reader:{readers}|population:small-1@0|version:1"


@pytest.mark.parametrize(
    ("model", "grader"),
    [
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("openai/gpt-4o-2024-08-06", "openai/gpt-4o"),
        ("openrouter/openai/gpt-4o", "openai/GPT-4o"),
        ("anthropic/claude-3-5-sonnet-latest", "anthropic/claude-3-5-sonnet-20241022"),
        ("vllm/org/tiny", "openai-api/local/tiny"),
    ],
)
def test_a_grader_of_the_models_own_name_is_marked(model: str, grader: str, tmp_path: Path) -> None:
    (line,) = warned(tmp_path, model, by("mock/other", grader))
    writer = "" if model == grader else f" ({model})"
    assert line.startswith(f"{grader} judges what a model of its name wrote{writer}: judges")
    assert "self-preference" in line


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        ("openai/gpt-4o", by("openai/gpt-4o-mini", "mock/gpt-4")),
        ("openai/gpt-4o", "measure:genie|judge:test|population:gpt-4o@0123456789ab|version:1"),
        ("openai/gpt-4o", "none"),
    ],
)
def test_others_are_not(model: str, signature: str, tmp_path: Path) -> None:
    assert warned(tmp_path, model, signature) == []


def test_the_populations_own_documents_are_nobodys_own(tmp_path: Path) -> None:
    assert warned(tmp_path, "mock/grader", by("mock/grader"), left_out=["d-1"]) == []
    assert warned(tmp_path / "told", "mock/grader", by("mock/grader"), left_out=[]) != []
