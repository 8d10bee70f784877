"""Two processes that run `genie` at the same moment, as often as asked: what tests of races share."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

RACER = """
import contextlib, importlib, io, json, sys, time
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from genie_inspect.building.rehearsal import rehearsed
from genie_inspect.cli import main
from genie_inspect.prompting.fence import unfenced

@modelapi(name="atonce")
class AtOnce(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        output = ModelOutput.from_content("atonce", rehearsed(unfenced(input[-1].text)))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

for name in ("cli.population", "building.populating", "building.combining", "reports.page", "reports.report"):
    importlib.import_module("genie_inspect." + name)
out = sys.stdout
print("ready", file=out, flush=True)
for line in sys.stdin:
    start, arguments = json.loads(line)
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        while time.time() < start:
            pass
        try:
            main(arguments, prog_name="genie")
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            code = repr(error)
    print(json.dumps([code, stdout.getvalue(), stderr.getvalue()]), file=out, flush=True)
"""
TRIES = 15 if os.environ.get("CI") else 3
HEAD_START = 0.05  # seconds in which both have read their command


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int | str
    """The exit code; an exception as text where one came through."""
    stdout: str
    stderr: str

    @property
    def errors(self) -> list[str]:
        """The lines that say what went wrong."""
        return [line for line in self.stderr.splitlines() if line.startswith("Error")]


class Racers:
    """Processes in which everything is imported, so that commands begin within a millisecond of each other."""

    def __init__(self, folder: Path, count: int = 2) -> None:
        environment = os.environ | {"GENIE_CACHE_DIR": str(folder / "cache")}
        command = [sys.executable, "-c", RACER]
        self._processes = [
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
            )
            for _ in range(count)
        ]

    def __enter__(self) -> "Racers":
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.communicate(timeout=60)

    def run(self, *commands: Sequence[object]) -> list[Ended]:
        """Run a command in each process, all from the same moment on."""
        start = time.time() + HEAD_START
        for process, arguments in zip(self._processes, commands, strict=True):
            assert process.stdin is not None
            process.stdin.write(json.dumps([start, [str(argument) for argument in arguments]]) + "\n")
            process.stdin.flush()
        ended = []
        for process in self._processes:
            assert process.stdout is not None
            ended.append(Ended(*json.loads(process.stdout.readline())))
        return ended
