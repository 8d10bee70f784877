"""Both rounds in one call: afterwards a run asks nothing, and scores as it would have by asking."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from tests.scale.engines import called
from tests.scale.ray.stand_in import Ray, standing_in
from tests.scale.test_round_trip import rating, scored
from tests.scripted import FOX, OWL, evaluated, grading, saying, small_population
from tests.served import BROKEN, NAMES, OK, Served, serving

from genie_inspect.scorers.compression import compression


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    return standing_in(monkeypatch)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with serving(Served(grading(rating=rating).reply, logprobs=lambda request: {"1": -0.7, "3": -1.5})) as running:  # type: ignore[arg-type]
        monkeypatch.setenv("VLLM_BASE_URL", running.url)
        monkeypatch.setenv("VLLM_API_KEY", "none")
        yield running


@pytest.fixture
def log(tmp_path: Path) -> EvalLog:
    return evaluated(compression(), saying("An owl slept.", "A fox ran."), None, tmp_path, (OWL, FOX), max_samples=1)


def rounds(log: EvalLog, folder: Path, grader: str, served: Served, judge: str, form: str) -> dict[str, Any]:
    study = ("--grader", grader, "--judge", judge, "--population", folder)
    job = ("--url", served.url, "-o", folder.parent / "replies", "--form", form, "--retries", 0)
    return called("ray", "rounds", log.location, *study, *job)


@pytest.mark.parametrize(("judge", "form"), [("list", "jsonl"), ("pairwise", "parquet"), ("logit", "jsonl")])
def test_two_rounds_leave_nothing_to_ask_and_score_as_a_run_that_asks(
    judge: str, form: str, ray: Ray, served: Served, log: EvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_population(tmp_path / "small").folder
    grader = f"vllm/m-{next(NAMES)}"
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "asked"))
    asked = scored(log, folder, grader, judge)
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "imported"))
    said = rounds(log, folder, grader, served, judge, form)
    assert (said["left_to_read"], said["left_to_judge"]) == (0, 0)
    for step in ("read", "judge"):
        assert said[step]["asking"]["answered"] == said[step]["imported"]["used"] > 0
        assert len(list((tmp_path / "replies" / step).glob(f"part-*.{form}"))) == 1
    before = len(served.bodies)
    again = scored(log, folder, grader, judge)
    assert len(served.bodies) == before, "nothing was asked"
    assert [str(one.value) for one in again] == [str(one.value) for one in asked]
    once_more = rounds(log, folder, grader, served, judge, form)
    assert (once_more["read"]["asking"]["requests"], len(served.bodies)) == (0, before)


def test_a_round_that_failed_in_part_goes_on_and_what_an_earlier_one_brought_is_no_fault(
    ray: Ray, served: Served, log: EvalLog, tmp_path: Path
) -> None:
    folder = small_population(tmp_path / "small").folder
    grader = f"vllm/m-{next(NAMES)}"
    served.fault = lambda number, request: BROKEN if number % 2 else OK
    first = rounds(log, folder, grader, served, "list", "jsonl")
    assert first["left_to_read"] == first["read"]["asking"]["faults"]["error: 'server_error'"] > 0
    assert first["unread"]
    served.fault = lambda number, request: OK
    second = rounds(log, folder, grader, served, "list", "jsonl")
    assert second["read"]["asking"]["asked"] == first["left_to_read"]
    assert (second["left_to_read"], second["left_to_judge"]) == (0, 0)
    assert "of no request in the plan" not in second["read"]["imported"]["faults"]


def test_replies_that_were_not_yet_imported_are_not_asked_again(
    ray: Ray, served: Served, log: EvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_population(tmp_path / "small").folder
    grader = f"vllm/m-{next(NAMES)}"
    rounds(log, folder, grader, served, "list", "jsonl")
    before = len(served.bodies)
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "lost"))
    said = rounds(log, folder, grader, served, "list", "jsonl")
    assert len(served.bodies) == before
    assert said["read"]["asking"]["on_path"] == said["read"]["imported"]["used"] > 0
    assert (said["left_to_read"], said["left_to_judge"]) == (0, 0)
