"""`genie`, `inspect` and scripts in processes of their own, without the seconds in which each would import Inspect."""

import atexit
import functools
import importlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType, TracebackType
from typing import Any

TESTS = Path(__file__).parent
COLUMNS = "100"  # rich may read it when it is imported
HEAD_START = 0.05  # seconds in which all have read their command


def tries(few: int, many: int) -> int:
    """How often a race is run: few times, and many where CI is set."""
    return many if os.environ.get("CI") else few


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    """Negative: the signal that ended it."""
    stdout: str
    stderr: str

    @property
    def errors(self) -> list[str]:
        return [line for line in self.stderr.splitlines() if line.startswith(("Error", "Aborted"))]


@functools.cache
def everything_imported() -> socket.socket:
    """Where a process that has imported everything takes clients' sockets; one for all processes of a run, as long."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    place = Path(gettempdir()) / f"genie-tests-{run}"
    ours = socket.socket(socket.AF_UNIX)
    with place.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        try:
            ours.connect(str(place))
        except OSError:  # nobody is there yet, or no longer
            _start(place)
            ours.connect(str(place))
    atexit.register(ours.close)
    return ours


def _start(place: Path) -> None:
    place.unlink(missing_ok=True)
    path = os.pathsep.join([str(TESTS.parent), *filter(None, sys.path)])
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(place))
        door.listen()
        process = subprocess.Popen(
            [sys.executable, TESTS / "forked.py"],
            stdin=door.fileno(),
            env=os.environ | {"PYTHONPATH": path, "COLUMNS": COLUMNS},
        )

    def stop() -> None:
        with suppress(subprocess.TimeoutExpired):  # it lasts as long as any of those that call
            process.wait(5)
        place.with_suffix(".lock").unlink(missing_ok=True)

    atexit.register(stop)


class Commands:
    """A fork of a process in which everything is imported, and which runs each command in a process of its own."""

    def __init__(self, folder: Path, memory: int = 0) -> None:  # bytes of addresses that a command may take
        self.folder, self._out, self._err = folder, folder / "stdout.txt", folder / "stderr.txt"
        self._socket, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(everything_imported(), [b"."], [theirs.fileno()])
        self._ends = self._socket.makefile("r")
        environment = os.environ | {"GENIE_CACHE_DIR": str(folder / "cache"), "COLUMNS": COLUMNS}
        self._send({"memory": memory, "environment": environment})

    def __enter__(self) -> "Commands":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ends.close()
        self._socket.close()

    def run(self, *arguments: object, **options: Any) -> Ended:
        self.start(*arguments, **options)
        return self.end()

    def start(
        self,
        *arguments: object,
        program: str | Path = "genie",
        folder: Path | None = None,
        at: float = 0.0,
        **options: Any,
    ) -> None:
        """Start a command at a time.

        Other options: files in place of ours for `stdout` and `stderr`; `closed`, where nobody reads standard output;
        `interrupt`, the seconds until Ctrl-C.
        """
        for file in (self._out, self._err):
            file.unlink(missing_ok=True)
        order = {"program": str(program), "arguments": [str(argument) for argument in arguments], "start": at}
        order |= {"stdout": str(self._out), "stderr": str(self._err), "folder": str(folder or self.folder)}
        order |= {"closed": False, "interrupt": None}
        self._send(order | {name: value for name, value in options.items() if value is not None})

    def end(self) -> Ended:
        code = int(self._ends.readline())
        out, err = (path.read_text(errors="replace") if path.exists() else "" for path in (self._out, self._err))
        return Ended(code, out, err)

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.sendall((json.dumps(message) + "\n").encode())


def race(racers: Sequence[Commands], commands: Sequence[Sequence[object]]) -> list[Ended]:
    """Run a command in each, all from the same moment on."""
    at = time.time() + HEAD_START
    for racer, command in zip(racers, commands, strict=True):
        racer.start(*command, at=at)
    return [racer.end() for racer in racers]


ROOT = Path(__file__).parents[1]


def tool_named(name: str, folder: str = "tools") -> ModuleType:
    """A script as a module; it finds the others of its folder as it does when it is run."""
    path = str(ROOT / folder)
    if path not in sys.path:
        sys.path.append(path)
    return importlib.import_module(name)
