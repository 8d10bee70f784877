"""Instruction templates: one Markdown file each, checked against the blanks that the caller fills."""

import string
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from genie_inspect.errors import TemplateError
from genie_inspect.signature import digest

BUNDLED = Path(__file__).parent / "templates"


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


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of the package: the name of its template, and the blanks that whoever gives it fills."""

    name: str
    blanks: frozenset[str]

    def template(self, folder: Path | str | None = None) -> Template:
        """Its template, from the user's own folder where that has one."""
        return load_template(self.name, self.blanks, folder)


def load_template(name: str, blanks: Set[str], folder: Path | str | None = None) -> Template:
    """The template `name`.md from the user's folder where it has one, else the bundled one."""
    if folder is not None and not Path(folder).is_dir():
        raise TemplateError(f"templates folder {str(folder)!r} does not exist, expected a folder of *.md files")
    custom = Path(folder) / f"{name}.md" if folder is not None else None
    path = custom if custom is not None and custom.is_file() else BUNDLED / f"{name}.md"
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
