"""What Inspect keeps private is used in one place, is there in this version, and can be done without."""

import ast
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import cast
from zipfile import ZipFile

import pytest
from inspect_ai._util.constants import HTTP, TRACE
from inspect_ai.log import EvalLog, transcript
from inspect_ai.model import GenerateConfig, Model, ModelUsage, get_model
from inspect_ai.scorer import SampleScore, mean
from inspect_ai.util import AdaptiveConcurrency, registry_info
from tests.left_out import with_ci
from tests.scripted import OWL, Script, evaluated, grading, scores, small_population

import genie_inspect
from genie_inspect import inspect_private
from genie_inspect.inspect_private import (
    called_as,
    connections,
    count_usage,
    loaded_scorer,
    resolved_settings,
    retried,
    run_has_begun,
    sample_epoch,
    sample_member,
    sample_members,
    task_scorers,
    unlogged,
    waiting,
    with_metrics,
)
from genie_inspect.populations.population import Population
from genie_inspect.scorers.genie import genie

SOURCES = Path(genie_inspect.__file__).parent
QUESTIONS, STORIES = 17, 50


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    """17 questions about 50 documents: 850 pairs a document."""
    documents = {OWL: [f"Owl number {number} flies." for number in range(STORIES)]}
    questions = {OWL: tuple(("plot" if n % 2 else "style", f"What is thing {n}?") for n in range(QUESTIONS))}
    return small_population(tmp_path_factory.mktemp("population"), documents, questions)


def read_and_rated(population: Population, judge: str, folder: Path) -> tuple[EvalLog, Script]:
    grader = grading(answer=lambda document, question: f"an answer to {question} that tells of {document}")
    writer = Script(lambda request: "An owl sleeps.")
    return evaluated(genie(str(population.folder), judge=judge), writer, grader, folder), grader


@with_ci("850 calls per document, for the size of its log")
def test_850_calls_stay_under_150_kilobytes_of_log_and_their_tokens_are_counted(
    population: Population, tmp_path: Path
) -> None:
    read_and_rated(population, "list", tmp_path / "first")  # puts what the documents say on record
    log, grader = read_and_rated(population, "pairwise", tmp_path / "second")
    assert len(grader.requests) == QUESTIONS * STORIES
    assert Path(log.location).stat().st_size < 150_000
    (sample,) = log.samples or []
    assert len(sample.model_dump_json()) < 150_000, "also before it is compressed"
    assert not any(event.event == "model" and event.role == "grader" for event in sample.events)
    with ZipFile(log.location) as archive:
        assert sample_members(archive) == [sample_member(sample.id, 1)], "samples stand where Inspect writes them"
    # every scripted call says that it took one token in and one out
    assert log.stats.role_usage["grader"].total_tokens == 2 * QUESTIONS * STORIES
    (score,) = scores(log)
    assert score.metadata is not None
    assert score.metadata["pairs"] == {"plot": "400/400", "style": "450/450"}


async def test_calls_inside_leave_no_trace_and_those_beside_them_and_after_an_error_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logging.addLevelName(TRACE, "TRACE")  # as Inspect's start does
    model = Script(lambda request: "yes").model()
    with caplog.at_level(1, "inspect_ai.model._model"):
        with unlogged():
            await model.generate("a small call")
            assert not caplog.records
            logging.getLogger("inspect_ai.model._model").log(HTTP, "a retry")
        assert caplog.messages == ["a retry"]
        caplog.clear()
        await model.generate("a call of its own")
        assert {record.levelname for record in caplog.records} == {"TRACE"}
    before = transcript()
    with suppress(ValueError), unlogged():
        transcript().info("not kept")
        raise ValueError("wrong")
    assert transcript() is before
    # as it is printed: what other tests of this process left there need not be JSON
    assert not any("not kept" in repr(event) for event in before.events)


def imported_names(source: str) -> Iterator[str]:
    """Every dotted name that a module imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_nothing_else_imports_what_inspect_keeps_private() -> None:
    private = {
        f"{path.relative_to(SOURCES)}: {name}"
        for path in SOURCES.rglob("*.py")
        for name in imported_names(path.read_text(encoding="utf-8"))
        if name.startswith("inspect_ai.") and any(part.startswith("_") for part in name.split("."))
    }
    assert private == {
        "inspect_private.py: inspect_ai._util.error.PrerequisiteError",
        "graders/logit_judge.py: inspect_ai.model._providers.vllm.VLLMAPI",  # for the type checker alone
    }


# by module of Inspect's the names that we look up there
WIRES = {
    "_control.eval_state": "get_eval_state",
    "_eval.loader": "scorer_from_spec",
    "_util.registry": "registry_find registry_info registry_lookup registry_unqualified_name set_registry_info",
    "_util.working": "sample_wait",
    "log._samples": "sample_active",
    "log._transcript": "init_transcript",
    "model._model": ("Model._resolve_config _model_roles active_model log_model_retry record_and_check_model_usage"),
    "model._providers.vllm": "VLLMAPI._ensure_server_started",
    "model._retry": "model_retry_config",
    "scorer._score": "_scorers",
    "scorer._scorer": "ScorerSpec",
    "solver._task_state": "sample_state",
    "util._concurrency": "adaptive_active resolve_adaptive",
}


def test_this_inspect_has_the_wires_and_every_one_that_is_looked_up_is_named_here() -> None:
    for module, names in WIRES.items():
        for name in names.split():
            assert attrgetter(name)(import_module(f"inspect_ai.{module}")) is not None
    source = (SOURCES / "inspect_private.py").read_text(encoding="utf-8")
    modules = re.findall(r'_wire\("([a-z_.]+)"', source)
    assert len(modules) >= 9
    assert WIRES.keys() - {"model._providers.vllm"} == set(modules)


@pytest.fixture
def none_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Inspect in which every wire is gone, as far as we can see."""
    monkeypatch.setattr(inspect_private, "_wire", lambda module, name: None)


def small(**config: object) -> Model:
    return get_model("mockllm/model", config=GenerateConfig.model_validate(config), memoize=False)


def test_the_settings_of_a_run_reach_a_grader_as_inspect_resolves_them() -> None:
    settings = resolved_settings(small(temperature=0.5))
    assert settings.temperature == 0.5

    class Plain:
        config = GenerateConfig(temperature=0.25)

    assert resolved_settings(cast("Model", Plain())).temperature == 0.25, "the model's own, where there is no resolving"


def test_connections_are_inspects_and_a_batch_has_no_limit() -> None:
    assert connections(small(max_connections=7)) == 7
    assert connections(small(batch=True)) is None
    adaptive = AdaptiveConcurrency(min=1, start=2, max=33)
    assert connections(small(adaptive_connections=adaptive)) == 33


def test_without_its_wire_a_metric_of_inspects_stays_as_it_is() -> None:
    def own(scores: list[SampleScore]) -> float:
        return 1.0

    inspects = mean()
    assert called_as(inspects, own) is own
    vars(inspects).clear()
    vars(own).clear()
    assert called_as(inspects, own) is inspects


def test_every_metric_of_a_scorer_is_changed_of_whatever_form_and_without_metrics_it_stays_as_it_is() -> None:
    changed = with_metrics(loaded_scorer("genie_inspect/compression", {"population": "starter"}), str)  # type: ignore[arg-type]
    by_key, ratio = registry_info(changed).metadata["metrics"]
    assert [type(metric) for metric in (*by_key["*"], ratio)] == [str] * 4
    # another of the same name is as it was
    other = loaded_scorer("genie_inspect/compression", {"population": "starter"})
    assert callable(registry_info(other).metadata["metrics"][1])
    registry_info(changed).metadata.clear()
    assert with_metrics(changed, str) is changed  # type: ignore[arg-type]


@pytest.mark.usefixtures("none_left")
async def test_without_wires_nothing_crashes_and_calls_are_logged() -> None:
    assert connections(small(max_connections=7)) == 7
    assert connections(small(adaptive_connections=True)) == small().api.max_connections(), "the provider's"
    compression = loaded_scorer("genie_inspect/compression", {"population": "starter"})
    assert registry_info(compression).name == "genie_inspect/compression", "found by its name alone"
    assert not run_has_begun()
    assert sample_epoch() == 1
    assert task_scorers() == []
    assert retried(small(), lambda: small().generate("a")) is None
    count_usage(small(), ModelUsage())
    with waiting():
        pass
    before = transcript()
    with unlogged():
        assert transcript() is before


@pytest.mark.usefixtures("none_left")
def test_without_wires_a_whole_run_scores_as_it_does_with_them(population: Population, tmp_path: Path) -> None:
    log, _ = read_and_rated(population, "list", tmp_path)
    (score,) = scores(log)
    assert score.metadata is not None
    assert score.metadata["pairs"] == {"plot": "400/400", "style": "450/450"}
    assert any(event.event == "model" and event.role == "grader" for event in (log.samples or [])[0].events)


def test_a_sample_that_was_written_twice_is_read_once_as_it_was_last_and_other_members_are_left_to_inspect(
    tmp_path: Path,
) -> None:
    with ZipFile(tmp_path / "new.eval", "w") as archive:
        archive.writestr("parts/1.json", "{}")
        assert sample_members(archive) == []
    member = sample_member("a", 1)
    with ZipFile(tmp_path / "old.eval", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of a name that is there twice
        for text in ("first", "last"):
            archive.writestr(member, text)
    with ZipFile(tmp_path / "old.eval") as archive:
        assert sample_members(archive) == [member]
        assert archive.read(member) == b"last"
