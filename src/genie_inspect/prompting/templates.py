"""Instruction templates: Markdown files whose blanks are checked; and the fence that data cannot close or fake."""

import json
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeVar

from genie_inspect.errors import TemplateError, UnknownChoiceError, UnreadableReplyError
from genie_inspect.prompting.texts import spoken
from genie_inspect.scripts import words
from genie_inspect.signature import digest

ItemT = TypeVar("ItemT")
OPEN, CLOSE = "```json\n", "\n```"
# inside JSON strings these may be written as escapes, so that no data ever shows a fence or a tag
ESCAPES = {"`": "\\u0060", "<": "\\u003c", ">": "\\u003e"}


def fenced(data: Mapping[str, Any]) -> str:
    r"""The data as one fenced JSON block, whatever it contains.

    >>> print(fenced({"document": "The end.\n```"}))
    ```json
    {"document":"The end.\n\u0060\u0060\u0060"}
    ```
    """
    block = json.dumps(data, ensure_ascii=False, separators=(",", ":"))  # spaces would be a token an item
    for character, escape in ESCAPES.items():
        block = block.replace(character, escape)
    return OPEN + block + CLOSE


def numbered(items: Iterable[ItemT]) -> dict[str, ItemT]:
    """The items by number from 1, by which a reply names them and never by position."""
    return {str(number): item for number, item in enumerate(items, start=1)}


def unfenced(request: str) -> dict[str, Any]:
    """The data of the one fenced block in a request, as `fenced` wrote it."""
    start, end = request.rfind(OPEN), request.rfind(CLOSE)
    if start < 0 or end < start:
        raise UnreadableReplyError("the request has no fenced JSON block")
    try:
        data = json.loads(request[start + len(OPEN) : end])
    except (ValueError, RecursionError) as error:  # a ValueError alone is of a number of 5,000 digits
        raise UnreadableReplyError(f"the request's fenced block is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise UnreadableReplyError(f"the request's fenced block is a {type(data).__name__}, expected an object")
    return data


RUN = 16  # words; nobody who answers repeats so many of the instructions
SHARE = 1 / 3  # of the instructions' runs, so that a sentence that is quoted makes no echo
_FIRST_KEY = re.compile(r'\{"[^"]{1,40}":')


def without_echo(reply: str, request: str) -> str:
    """What a reply says beyond its request; empty where it repeats a good part of it.

    A reply that begins with the whole request, as base models and some servers give it, is what stands behind it.
    """
    begun, whole = reply.lstrip(), request.strip()
    rest = begun[len(whole) :].strip() if whole and begun.startswith(whole) else reply
    text = spoken(rest)
    # the instructions, and the blocks of data, which cannot hold a fence of their own
    first, *fences = request.split(OPEN)
    parts = [part.partition(CLOSE) for part in fences]
    instructions, blocks = "\n".join([first, *(after for _, _, after in parts)]), [block for block, _, _ in parts]
    dense = re.sub(r"\s+", "", text)
    begins_data = any(key and key[0] in dense for key in map(_FIRST_KEY.match, blocks))
    runs = _runs(instructions)
    plain = " ".join(words(text.casefold())) if runs else ""
    is_echo = bool(runs) and sum(run in plain for run in runs) >= SHARE * len(runs)
    return "" if begins_data or is_echo else rest


@lru_cache(maxsize=64)  # of a million requests all but the data is the same
def _runs(instructions: str) -> tuple[str, ...]:
    told = words(instructions.casefold())
    return tuple(" ".join(told[start : start + RUN]) for start in range(0, len(told) - RUN + 1, RUN))


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
