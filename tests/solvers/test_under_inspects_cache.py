"""Strategies under `--cache`: a reply that cannot be read is in the cache too, and asked for anew all the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import Solver
from tests.scripted import OWL, Script, saying

from genie_inspect.solvers.negative_sampling import negative_sampling
from genie_inspect.solvers.outline import outline
from genie_inspect.solvers.trim import trim
from genie_inspect.solvers.verbalized_sampling import verbalized_sampling

TWO_OWLS = json.dumps({"responses": [{"text": "An owl.", "probability": 0.1}] * 2})


class Case(NamedTuple):
    """A strategy, and what it hears: each second reply is one that can be read."""

    strategy: Callable[[], Solver]
    writer: tuple[str, ...]
    grader: tuple[str, ...]
    document: str


CASES = {
    "outline": Case(lambda: outline(stages="plot"), ("", "a storm", " ", "An owl."), (), "An owl."),
    "verbalized_sampling": Case(lambda: verbalized_sampling(k=2), ("Here are two.", TWO_OWLS), (), "An owl."),
    "negative_sampling": Case(negative_sampling, ("", "A ship.", " ", "An owl."), (), "An owl."),
    "trim": Case(trim, ("Sure! An owl.",), ("Nothing to cut, I think.", '{"cut": [1]}'), "An owl."),
}


@pytest.fixture(autouse=True)
def _empty_cache_of_inspects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))


def cached_run(strategy: Solver, writer: Script, grader: Script, folder: Path) -> EvalSample:
    task = Task(
        dataset=MemoryDataset([Sample(input=OWL, id="owl")]), solver=strategy, config=GenerateConfig(cache=True)
    )
    (log,) = evaluate(
        task, model=writer.model(), model_roles={"grader": grader.model()}, log_dir=str(folder), display="none"
    )
    assert log.status == "success", log.error
    assert log.samples
    return log.samples[0]


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_read_is_asked_for_past_the_cache(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    writer, grader = saying(*case.writer), saying(*(case.grader or ("",)))
    sample = cached_run(case.strategy(), writer, grader, tmp_path)
    assert sample.output.completion == case.document
    assert sample.output.error is None
    assert len(writer.requests) == len(case.writer)
    assert len(grader.requests) == len(case.grader)


@pytest.mark.parametrize("name", CASES)
def test_a_later_run_finds_the_unreadable_reply_in_the_cache_and_asks_anew_too(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    for _ in range(2):
        writer, grader = saying(*case.writer), saying(*(case.grader or ("",)))
        cached_run(case.strategy(), writer, grader, tmp_path)
    readable = case.writer[1::2], case.grader[1::2]
    later, judge = saying(*(readable[0] or ("",))), saying(*(readable[1] or ("",)))
    sample = cached_run(case.strategy(), later, judge, tmp_path)
    assert sample.output.completion == case.document
    assert len(later.requests) == len(readable[0])
    assert len(judge.requests) == len(readable[1])
