"""What must not appear in the package: held by ruff's rules, which are shown to fire, and where it has none, here."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "genie_inspect"
WRITERS = ("files/writing.py",)  # each file whole or not at all
RULES = {
    "import yaml\nyaml.load(text)": "S506",
    "import yaml\nyaml.load(text, Loader=yaml.UnsafeLoader)": "S506",
    "import pickle\npickle.loads(content)": "S301",
    "import marshal\nmarshal.loads(content)": "S302",
    "import torch\ntorch.load(path)": "TID251",
    "import subprocess\nsubprocess.run(command, shell=True)": "S602",
    "import os\nos.system(command)": "S605",
    "eval(text)": "S307",
    "exec(text)": "S102",
    "import tempfile\ntempfile.mktemp()": "S306",
    "import httpx\nhttpx.get(url, verify=False)": "S501",
    "print(text)": "T201",
    "from pprint import pprint\npprint(text)": "T203",
    "import click\nclick.echo(text)": "TID251",
    "from click import secho\nsecho(text)": "TID251",
    "import click\nclick.confirm(text)": "TID251",
    "import click\nclick.prompt(text)": "TID251",
    "import rich\nrich.print(text)": "TID251",
    "from rich.console import Console": "TID251",
    "import sys\nsys.stdout.write(text)": "TID251",
    "import sys\nsys.stderr.write(text)": "TID251",
}
ROOMS = ("src/genie_inspect/cli/results.py", "src/genie_inspect/engines/new.py", "tasks/new.py")


def codes(source: str, name: str) -> list[tuple[int, str]]:
    """Line and code of each breach of a rule by a source as that file of the package."""
    command = [sys.executable, "-m", "ruff", "check", "--output-format", "json", "--stdin-filename", name, "-"]
    found = subprocess.run(command, input=source, capture_output=True, text=True, cwd=ROOT, check=False)
    return [(breach["location"]["row"], breach["code"]) for breach in json.loads(found.stdout)]


@pytest.mark.parametrize("room", ROOMS)
def test_every_rule_fires_in_every_room_of_the_package(room: str) -> None:
    # all stand in one file, for starting ruff takes longest
    starts = list(accumulate((source.count("\n") + 1 for source in RULES), initial=1))
    found = codes("\n".join(RULES), room)
    for source, (start, end) in zip(RULES, pairwise(starts), strict=True):
        assert RULES[source] in {code for line, code in found if start <= line < end}, source


def test_only_the_door_itself_may_print() -> None:
    found = codes("import click\nclick.echo(text)", "src/genie_inspect/cli/terminal.py")
    assert "TID251" not in {code for _, code in found}


def writes(source: str) -> Iterator[int]:
    """The lines that write a file by themselves; no rule of ruff's knows the methods of a path."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        mode = [*node.args, *(word.value for word in node.keywords if word.arg == "mode")]
        modes = [word.value for word in mode if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        opens = name in ("open", "fdopen", "FileIO") and any(set(word) & set("wax+") for word in modes if len(word) < 4)
        if opens or (name in ("write_text", "write_bytes") and isinstance(node.func, ast.Attribute)):
            yield node.lineno


def test_a_write_is_seen_and_reading_and_the_one_writer_are_none() -> None:
    for source in (
        *("open(path, 'w')", "open(path, mode='a')", "path.open('wb')", "path.open('r+')", "io.open(path, 'x')"),
        *("os.fdopen(number, 'w')", "path.write_text(text)", "path.write_bytes(content)", "Path(p).write_text(text)"),
    ):
        assert list(writes(f"\n{source}")) == [2], source
    for source in ("open(path)", "path.open('rb')", "open('w.txt')", "write_bytes(path, content)"):
        assert list(writes(source)) == [], source


def test_files_are_written_in_one_room_alone() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).as_posix() not in WRITERS]
    assert len(files) > 100
    found = {str(path.relative_to(PACKAGE)): list(writes(path.read_text(encoding="utf-8"))) for path in files}
    assert {path: lines for path, lines in found.items() if lines} == {}
