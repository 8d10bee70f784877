"""`genie` in processes of its own: what tests of races, full disks, closed pipes and Ctrl-C share."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

SERVER = """
import gc, importlib, json, os, random, resource, signal, sys, time, traceback
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from genie_inspect.building.rehearsal import rehearsed
from genie_inspect.cli import VERBS, main
from genie_inspect.prompting.fence import unfenced
import anyio

@modelapi(name="atonce")
class AtOnce(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        await anyio.sleep(random.random() / 50)
        output = ModelOutput.from_content("atonce", rehearsed(unfenced(input[-1].text)))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

MODULES = ["building.populating", "building.combining", "reports.page.page"]
for name in [*(f"cli.verbs.{verb}" for verb in VERBS), *MODULES]:
    importlib.import_module(f"genie_inspect.{name}")
def end(main, arguments):
    # as Python ends, without the seconds that it takes to clear what was imported
    code = 1
    try:
        main(arguments, prog_name="genie")
    except SystemExit as error:
        code = error.code or 0
    except BaseException:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError as error:
        print(f"Exception ignored: {error}", file=sys.stderr)
        code = 120
    sys.stderr.flush()
    os._exit(code)

gc.freeze()
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, path in enumerate([os.devnull, order["stdout"], order["stderr"]]):
            os.dup2(os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600), number)
        if order["closed"]:
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, 1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.umask(order["umask"])
        if memory := int(os.environ["MEMORY"]):
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        while time.time() < order["start"]:
            pass
        end(main, order["arguments"])
    if order["interrupt"] is not None:
        time.sleep(order["interrupt"])
        os.kill(child, signal.SIGINT)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
HEAD_START = 0.05  # seconds in which all have read their command


def tries(few: int, many: int) -> int:
    """How often a race is run: few times, and many where CI is set."""
    return many if os.environ.get("CI") else few


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    """Negative: the signal that ended it."""
    stdout: str
    stderr: str

    @property
    def errors(self) -> list[str]:
        """The lines that say what went wrong."""
        return [line for line in self.stderr.splitlines() if line.startswith(("Error", "Aborted"))]


class Commands:
    """A process in which everything is imported, and which runs each command in a process of its own.

    Args:
        folder: Where the commands run.
        memory: Bytes of addresses that a command may take; as many as there are unless given.
    """

    def __init__(self, folder: Path, memory: int | None = None) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=os.environ | {"GENIE_CACHE_DIR": str(folder / "cache"), "COLUMNS": "100", "MEMORY": str(memory or 0)},
        )

    def __enter__(self) -> "Commands":
        assert self._line() == "ready"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate(timeout=60)

    def run(
        self,
        *arguments: object,
        stdout: str | None = None,
        closed: bool = False,
        umask: int = 0o022,
        interrupt: float | None = None,
    ) -> Ended:
        """Run a command to its end.

        Args:
            arguments: What follows `genie`.
            stdout: Where standard output goes; kept and returned unless given.
            closed: Whether nobody reads standard output any more.
            umask: Of the process.
            interrupt: Seconds until Ctrl-C.
        """
        self.start(*arguments, stdout=stdout, closed=closed, umask=umask, interrupt=interrupt)
        return self.end()

    def start(self, *arguments: object, at: float = 0.0, stdout: str | None = None, **options: object) -> None:
        """Start a command, `at` a time."""
        for file in (self._out, self._err):
            file.unlink(missing_ok=True)
        order = {"arguments": [str(argument) for argument in arguments], "start": at, "stderr": str(self._err)}
        order |= {"stdout": stdout or str(self._out), "closed": False, "umask": 0o022, "interrupt": None} | options
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def end(self) -> Ended:
        """Wait for the command that was started."""
        code = int(self._line())
        out, err = (path.read_text(errors="replace") if path.exists() else "" for path in (self._out, self._err))
        return Ended(code, out, err)

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    @property
    def _out(self) -> Path:
        return self.folder / "stdout.txt"

    @property
    def _err(self) -> Path:
        return self.folder / "stderr.txt"


def race(racers: Sequence[Commands], commands: Sequence[Sequence[object]]) -> list[Ended]:
    """Run a command in each, all from the same moment on."""
    at = time.time() + HEAD_START
    for racer, command in zip(racers, commands, strict=True):
        racer.start(*command, at=at)
    return [racer.end() for racer in racers]
