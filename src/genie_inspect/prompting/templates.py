"""Instruction templates: one Markdown file each, checked against the blanks that the caller fills."""

import string
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from genie_inspect.errors import TemplateError, UnknownChoiceError
from genie_inspect.prompting.fence import fenced
from genie_inspect.signature import digest

BUNDLED = Path(__file__).parent / "templates"
ORIGINAL = "original"
REWORDINGS = tuple(sorted(folder.name for folder in BUNDLED.iterdir() if folder.is_dir()))
"""The shipped rewordings of the instructions to read and to rate, by name; any other is as in the original."""


@dataclass(frozen=True, slots=True)
class Template:
    """An instruction text with blanks; its digest is part of every signature that depends on it."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """Twelve hex digits of the text."""
        return digest(self.text)

    def fill(self, **blanks: object) -> str:
        """The instruction with its blanks filled; every blank must be given."""
        # string.Template, not str.format: braces are ordinary characters in JSON and in stories
        return string.Template(self.text).substitute(blanks)

    def request(self, data: Mapping[str, Any], **blanks: object) -> str:
        """The instruction with this data, fenced, in its blank `data`."""
        return self.fill(data=fenced(data), **blanks)


class Recording(Protocol):
    """What a replay has on record; the KeyError of each says what it lacks."""

    def answer(self, document: str, question: str) -> str | None: ...
    def rating(self, question: str, answer: str, other: str) -> int: ...
    def marks(self, text: str, aspect: str) -> list[dict[str, str]]: ...
    def has_value(self, text: str, value: str) -> bool: ...


_BY_NAME: "dict[str, Instruction]" = {}


@dataclass(frozen=True)
class Instruction:
    """One instruction of the package, and what answers a request of it in a model's place."""

    name: str  # of its template
    blanks: Set[str] = frozenset({"data"})
    keys: Set[str] = frozenset()  # of the fenced data, by which a request is known to be of it
    rehearsed: Callable[[dict[str, Any]], str] | None = None  # a readable reply, by the data
    recorded: Callable[[Recording, dict[str, Any]], str] | None = None  # the reply of a replay, by the data
    is_prose: bool = False  # whether the reply is as long as what it was made of, and not so many short items

    def __post_init__(self) -> None:
        if self.keys:
            _BY_NAME[self.name] = self

    def template(self, folder: Path | str | None = None) -> Template:
        """Its template, from the user's own folder where that has one."""
        return load_template(self.name, self.blanks, folder)


def instruction_of(data: Mapping[str, Any]) -> Instruction | None:
    """The instruction that a request with this data is of: its keys are there, and it has the most."""
    fitting = [instruction for instruction in _BY_NAME.values() if instruction.keys <= data.keys()]
    return max(fitting, key=lambda instruction: len(instruction.keys), default=None)


def load_template(name: str, blanks: Set[str], folder: Path | str | None = None) -> Template:
    """The template `name`.md from the user's folder or a rewording where it has one, else the bundled one."""
    custom = _folder(folder) / f"{name}.md"
    path = custom if custom.is_file() else BUNDLED / f"{name}.md"
    try:
        template = Template(name, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise TemplateError(f"template {path} is not UTF-8: {error}") from error
    parsed = string.Template(template.text)
    if not parsed.is_valid():
        raise TemplateError(f"template {path.name} has a stray '$', write '$$' for a dollar sign")
    if set(parsed.get_identifiers()) != set(blanks):
        raise TemplateError(
            f"template {path.name} has the blanks {sorted(parsed.get_identifiers())}, expected {sorted(blanks)}"
        )
    return template


def _folder(source: Path | str | None) -> Path:
    if source is None or str(source) == ORIGINAL:
        return BUNDLED
    if str(source) in REWORDINGS:
        return BUNDLED / str(source)
    if not Path(source).is_dir():
        shipped = ", ".join((ORIGINAL, *REWORDINGS))
        raise TemplateError(
            f"templates folder {str(source)!r} does not exist, expected a folder of *.md files or one of {shipped}"
        )
    return Path(source)


Templates = str | Sequence[str] | None  # a folder, a rewording, or several of these


def wordings(templates: Templates) -> tuple[str | None, ...]:
    """The wordings that `templates=` names, one or several with commas between them; a folder's name may have commas.

    >>> wordings("original,terse"), wordings(None)
    (('original', 'terse'), (None,))
    """
    if templates is None or templates == "":
        return (None,)
    if isinstance(templates, str | PathLike) and Path(templates).is_dir():
        return (str(templates),)
    names = templates.split(",") if isinstance(templates, str) else templates
    is_list = isinstance(names, list | tuple) and bool(names)
    if not is_list or not all(isinstance(name, str) and name.strip() for name in names):
        raise UnknownChoiceError("templates", templates, "a folder, or names of wordings with commas between them")
    return tuple(name.strip() for name in names)
