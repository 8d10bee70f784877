"""Fixtures of all tests."""

from pathlib import Path

import pytest
from hypothesis import settings
from inspect_ai.util._concurrency import init_concurrency  # Inspect resets it for each eval, in no public way
from tests.hostile import EXAMPLES

# a slow machine is no failure
settings.register_profile("genie", deadline=None)
settings.register_profile("parsers", deadline=None, max_examples=EXAMPLES)  # GENIE_EXAMPLES says how many
settings.load_profile("genie")


@pytest.fixture(autouse=True)
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's own cache."""
    folder = tmp_path / "genie-cache"
    monkeypatch.setenv("GENIE_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _own_event_loop() -> None:
    """Without a semaphore of an earlier test's event loop, asyncio and trio can take turns."""
    init_concurrency()
