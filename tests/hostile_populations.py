"""Damaged populations by name: what a command that takes a population may be given."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.building.scripts import read_by

from genie_inspect.populations.population import ANSWERS, DOCUMENTS, MANIFEST, QUESTIONS, identity
from genie_inspect.populations.schema import Manifest, file_digest

Damage = Callable[[Path], None]
"""Changes a sound population in its folder."""
DEEP = b"[" * 100_000
LONG = "9" * 5_000
FILES = (DOCUMENTS, QUESTIONS, ANSWERS, MANIFEST)


def sound_population(folder: Path) -> Path:
    """A population of two prompts, all questions answered by one reader."""
    return read_by(folder, {"r": lambda document: f"a bird {document.id}"}).folder


def damages() -> dict[str, Damage]:
    return {
        **{f"{file} {name}": partial(_bytes, file, change) for file in FILES for name, change in BYTES.items()},
        **{f"{file} {name}": partial(_replaced, file, make) for file in FILES for name, make in OTHER_THINGS.items()},
        **{f"manifest {name}": partial(_manifest, place, text) for name, (place, text) in MANIFESTS.items()},
        **{f"row {name}": partial(_row, *damage) for name, damage in ROWS.items()},
        "two files swapped": _swapped,
        "another format": partial(_manifest, "format", "2"),
    }


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "deep": lambda content: DEEP,
    "no UTF-8": lambda content: b"\xff\xfe" + content,
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "a list": lambda content: b"[]\n",
}


def _bytes(file: str, change: Callable[[bytes], bytes], folder: Path) -> None:
    (folder / file).write_bytes(change((folder / file).read_bytes()))
    _sealed(folder)


def _sealed(folder: Path) -> None:
    """With digests that fit, as somebody who edits a population by hand would make them."""
    try:
        fields = json.loads((folder / MANIFEST).read_bytes())
        manifest = Manifest.model_validate(fields)
    except (ValueError, RecursionError):
        return
    files = {name: file_digest(folder / name) for name in FILES[:3]}
    whole = identity(manifest.features, files, manifest.counts)
    (folder / MANIFEST).write_text(json.dumps(fields | {"files": files, "digest": whole}))


OTHER_THINGS: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": os.mkfifo,
}


def _replaced(file: str, make: Callable[[Path], object], folder: Path) -> None:
    (folder / file).unlink()
    make(folder / file)


def _swapped(folder: Path) -> None:
    shutil.move(folder / DOCUMENTS, folder / "aside")
    shutil.move(folder / QUESTIONS, folder / DOCUMENTS)
    shutil.move(folder / "aside", folder / QUESTIONS)
    _sealed(folder)


def _changed(fields: dict[str, Any], place: str, text: str) -> str:
    holder: Any = fields
    *outer, last = place.split(".")
    for key in outer:
        holder = holder[key]
    holder[last] = "@here@"
    return json.dumps(fields).replace('"@here@"', text)


def _manifest(place: str, text: str, folder: Path) -> None:
    (folder / MANIFEST).write_text(_changed(json.loads((folder / MANIFEST).read_text()), place, text))
    _sealed(folder)


def _row(file: str, place: str, text: str, folder: Path) -> None:
    first, *rest = (folder / file).read_text().splitlines()
    (folder / file).write_text("\n".join([_changed(json.loads(first), place, text), *rest, ""]))
    _sealed(folder)


MANIFESTS = {
    "of a billion documents": ("counts.documents", "1000000000"),
    "of a billion prompts": ("counts.prompts", "1000000000"),
    "of fewer answers": ("counts.answers", "1"),
    "of a negative count": ("counts.questions", "-4"),
    "of 5,000 digits": ("counts.documents", LONG),
    "of infinitely many": ("counts.documents", "1e999"),
    "without features": ("features", "[]"),
    "with one feature twice": (
        "features",
        '[{"name": "plot", "definition": "x"}, {"name": "plot", "definition": "y"}]',
    ),
    "with a steering name": ("name", '"\\u001b[2J[/bold]"'),
    "with half a pair": ("name", '"\\ud800"'),
    "whose licence is a list": ("licence", "[]"),
    "whose files are elsewhere": ("files", '{"../documents.jsonl": "0"}'),
    "whose files are a list": ("files", "[]"),
    "whose counts are null": ("counts", "null"),
    "with a field of another's": ("colour", '"blue"'),
}


def _rows() -> Iterator[tuple[str, tuple[str, str, str]]]:
    for file, field in ((DOCUMENTS, "text"), (QUESTIONS, "text"), (ANSWERS, "document")):
        for name, text in {"null": "null", "a list": "[1]", "blank": '" "', "a number": LONG}.items():
            yield f"{file} {field} {name}", (file, field, text)
    yield "half a pair", (DOCUMENTS, "text", '"\\ud800"')
    yield "a document beyond the limit", (DOCUMENTS, "text", json.dumps("An owl. " * 200_000))
    yield "an unknown feature", (QUESTIONS, "feature", '"smell"')
    yield "another prompt", (DOCUMENTS, "prompt", '"Else."')


ROWS = dict(_rows())
