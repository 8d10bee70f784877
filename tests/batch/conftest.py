"""Fixtures of all tests of batches."""

from uuid import uuid4

import pytest

from genie_inspect.batch import walk


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a folder that is not on a disk, in memory: its scheme is one that is reached for once."""
    monkeypatch.setattr(walk, "SCHEMES", (*walk.SCHEMES, "memory"))
    return f"memory://{uuid4()}"
