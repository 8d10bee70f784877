"""The steps of benchmarks/scale.py at a small size: both ways come to the same scores, files leave nothing to ask."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tools import tool_named

from genie_inspect.batch import shards as bodies

SIZE = {"documents": 3, "population": 2, "questions": 2}
READINGS, JUDGED = 3 + 2, 3 * 2  # requests


PROVIDERS = bodies.PROVIDERS


@pytest.fixture
def steps() -> Iterator[dict[str, Any]]:
    """The steps by name; the stand-in's provider takes requests in files while they are tried."""
    yield tool_named("scale_steps", "benchmarks").STEPS
    bodies.PROVIDERS = PROVIDERS


@pytest.fixture(autouse=True)
def _stand_in(steps: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PROVIDERS", (*PROVIDERS, "standin"))


def test_through_files_the_scores_are_those_of_asking_directly_and_a_run_asks_nothing(
    steps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tool_named("scaled", "benchmarks").CALLS
    steps["setting"](tmp_path, {"size": SIZE})
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "direct"))
    calls[0] = 0
    direct = steps["scored"](tmp_path, {"connections": 4})
    assert (direct["calls"], direct["missing"]) == (READINGS + JUDGED, 12), "of six features two have questions"

    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "files"))
    for name, asked in (("read", READINGS), ("judge", JUDGED)):
        assert steps["requests"](tmp_path, {"round": name})["requests"] == asked
        steps["answered"](tmp_path, {"round": name})
        assert steps["imported"](tmp_path, {"round": name})["kept"] > 0
    calls[0] = 0
    again = steps["scored"](tmp_path, {"connections": 4})
    assert (again["calls"], again["checksum"]) == (0, direct["checksum"])


def test_a_filled_cache_is_looked_up_exported_and_merged_whole(
    steps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "kept"))
    steps["filled"](tmp_path, {"ratings": 2_000})
    whole = 2 * 17 * 50  # two documents
    assert steps["counted"](tmp_path, {}) == {"ratings": whole}
    assert steps["looked_up"](tmp_path, {"ratings": 2_000})["most"] < 1_000
    steps["exported"](tmp_path, {})
    assert len((tmp_path / "export.jsonl").read_text().splitlines()) == whole
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "joined"))
    assert steps["merged"](tmp_path, {}) == {"kept": whole}
