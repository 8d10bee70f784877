"""Charts drawn in a process of their own: the engine that draws takes a hundred megabytes, as much as Inspect does.

Run as a module it is that process: a specification a line on standard input, its SVG a line on standard output, both
JSON. It ends when standard input does, however the process that started it ended.
"""

import atexit
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import IO, Any, TypeVar, cast

LONGEST = 5.0  # seconds that it may take to end
_TWO_HALVES = re.compile(r"[\U00010000-\U0010ffff]")
_turn = Lock()
Drawing = TypeVar("Drawing", str, bytes)


def drawn(spec: dict[str, Any], version: str) -> str:
    """The SVG of a Vega-Lite specification, drawn beside this process; in it where no other can be had."""
    try:
        with _turn:
            process = _process()
            specifications, drawings = cast("tuple[IO[str], IO[str]]", (process.stdin, process.stdout))
            specifications.write(json.dumps([spec, version]) + "\n")
            specifications.flush()
            # an empty line, where it has ended, is no JSON and so a ValueError
            svg: str = json.loads(drawings.readline())
            return svg
    except (OSError, ValueError):
        # a machine that allows no more processes, one that ended, or a specification that cannot be drawn
        return _svg(spec, version)


@lru_cache(maxsize=1)
def _process() -> "subprocess.Popen[str]":
    # started anew and not forked: a fork would hold all that this process holds
    process = subprocess.Popen(  # noqa: S603  # this Python and this module
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    atexit.register(_end, process)
    return process


def _end(process: "subprocess.Popen[str]") -> None:
    try:
        process.communicate(timeout=LONGEST)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        process.kill()


def _svg(spec: dict[str, Any], version: str) -> str:
    import vl_convert

    return converted(vl_convert.vegalite_to_svg, spec, vl_version=version)


def converted(convert: Callable[..., Drawing], spec: dict[str, Any], **options: Any) -> Drawing:
    try:
        return convert(spec, **options)
    except ValueError:
        # Vega cuts long labels in the middle of characters that take two halves in JavaScript
        text = _TWO_HALVES.sub("\N{REPLACEMENT CHARACTER}", json.dumps(spec, ensure_ascii=False))
        return convert(json.loads(text), **options)


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_svg(*json.loads(line))) + "\n")  # noqa: TID251  # a pipe to the process above
        sys.stdout.flush()
