"""Charts are drawn in a process that ends with the one that started it."""

import atexit
import os
import signal
import subprocess
import sys
import time
from typing import Any

import altair
import pytest

from genie_inspect.reports import drawing

VERSION = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
BARS: dict[str, Any] = {
    "data": {"values": [{"a": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}
KILLED = f"""
import os, signal
from genie_inspect.reports import drawing
drawing.drawn({BARS}, {VERSION!r})
print(drawing._process().pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_charts_are_drawn_one_after_the_other_in_one_process_beside_this_one() -> None:
    beside = drawing.drawn(BARS, VERSION)
    process = drawing._process()
    assert beside.startswith("<svg")
    assert drawing.drawn(BARS | {"mark": "point"}, VERSION) != beside
    assert drawing._process() is process
    assert process.pid != os.getpid()
    assert process.poll() is None
    assert drawing._svg(BARS, VERSION) == beside


def test_where_the_process_has_ended_they_are_drawn_in_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen(
        [sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    ended.wait()
    monkeypatch.setattr(drawing, "_process", lambda: ended)
    assert drawing.drawn(BARS, VERSION).startswith("<svg")
    drawing._end(ended)


def test_where_no_process_can_be_had_they_are_drawn_in_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(drawing, "_process", refuse)
    assert drawing.drawn(BARS, VERSION).startswith("<svg")


def test_what_cannot_be_drawn_is_an_error_here_and_the_next_is_drawn() -> None:
    with pytest.raises(ValueError, match="conversion failed"):
        drawing.drawn({"mark": "not a specification"}, VERSION)
    assert drawing.drawn(BARS, VERSION).startswith("<svg")


def test_it_ends_when_the_process_that_started_it_is_killed() -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)
    assert killed.returncode < 0, killed.stderr
    pid = int(killed.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


def test_the_process_is_asked_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    process, held = drawing._process(), []

    def noted() -> "subprocess.Popen[str]":
        held.append(drawing._turn.locked())
        return process

    monkeypatch.setattr(drawing, "_process", noted)
    assert drawing.drawn(BARS, VERSION).startswith("<svg")
    assert held == [True]
    assert not drawing._turn.locked()


def test_it_is_ended_with_this_process_and_killed_where_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", lambda *end: ends.append(end))
    process = drawing._process.__wrapped__()
    ((end, *whom),) = ends
    assert whom == [process]
    end(*whom)
    assert process.returncode == 0
    monkeypatch.setattr(drawing, "LONGEST", 0.01)
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as endless:
        drawing._end(endless)
        assert endless.wait(5) == -signal.SIGKILL
