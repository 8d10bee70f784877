"""Rubrics: the tests that a critic applies to a story, from a file."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.shipped import DATA
from genie_inspect.signature import digest

FOLDER = DATA / "rubrics"
BUNDLED = ("ttcw", "gomez_williams")
TOTAL = "total"
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class RubricError(GenieError):
    """A rubric file cannot be used; the message names the file, the place and what would work."""


class Test(BaseModel):
    """One test: what is asked of a story."""

    __test__ = False  # no test of pytest's
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$", max_length=40)]
    name: Words
    question: Words
    dimension: Name | None = None

    @property
    def digest(self) -> str:
        """Twelve hex digits of what a critic is asked."""
        # the id is left out: renumbered, a test is the same and its verdicts on record stay good
        return digest(self.name, self.question)


class Rubric(BaseModel):
    """Tests that are applied one by one; the rubric's name begins every key of the scores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    source: str = ""
    tests: tuple[Test, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _keys_differ(self) -> Self:
        twice = [test for test, count in Counter(test.id for test in self.tests).items() if count > 1]
        if twice:
            raise ValueError(f"test id {twice[0]!r} stands there twice, expected ids that differ")
        # tests, dimensions and the total share one set of keys in a score
        taken = {TOTAL, *self.dimensions} & {test.id for test in self.tests}
        if taken:
            raise ValueError(f"test id {min(taken)!r} is the name of a sum, expected another id")
        if TOTAL in self.dimensions:
            raise ValueError(f"dimension {TOTAL!r} is the name of the sum of all tests, expected another name")
        return self

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions, in order of appearance; none in a rubric without them."""
        return tuple(dict.fromkeys(test.dimension for test in self.tests if test.dimension))

    @property
    def digest(self) -> str:
        """Twelve hex digits of all tests."""
        return digest(self.name, json.dumps([test.model_dump() for test in self.tests], sort_keys=True))

    def key(self, part: str) -> str:
        """The score's key of a test, a dimension or the total: `ttcw_01`, `ttcw_fluency`, `ttcw_total`."""
        return f"{self.name}_{part}"

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, the total first, then the dimensions, then the tests."""
        return tuple(map(self.key, (TOTAL, *self.dimensions, *(test.id for test in self.tests))))


def load_rubric(rubric: str) -> Rubric:
    """A rubric by its name, or from a YAML or JSON file.

    Raises:
        UnknownChoiceError: If it is neither a bundled rubric nor a file.
        RubricError: If the file is no rubric.
    """
    return _bundled(rubric) if rubric in BUNDLED else _read(rubric, Path(rubric))


@cache
def _bundled(rubric: str) -> Rubric:
    """A bundled rubric, which is read once a process: every scorer of it opens it, and YAML is slow to read."""
    return _read(rubric, FOLDER / f"{rubric}.yaml")


def _read(rubric: str, path: Path) -> Rubric:
    import yaml

    if not path.is_file():
        raise UnknownChoiceError("rubric", rubric, f"one of {', '.join(BUNDLED)}, or a YAML or JSON file")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))  # JSON is YAML
    # dates and numbers that are none end PyYAML itself in a ValueError or an AttributeError
    except (OSError, yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise RubricError(f"rubric {rubric} cannot be read: {reason}") from error
    try:
        return Rubric.model_validate(content)
    except ValidationError as error:
        raise RubricError(f"rubric {rubric}: {_first(error.errors(), content)}") from error


def renamed(rubric: Rubric, name: str) -> Rubric:
    """The same tests under another name, with which the keys begin.

    Raises:
        UnknownChoiceError: If it cannot begin a key.
    """
    try:
        return Rubric.model_validate({**rubric.model_dump(), "name": name})
    except ValidationError:
        raise UnknownChoiceError("prefix", name, "small letters, digits and _, a letter first") from None


def _first(errors: Sequence[Any], content: object) -> str:
    """The first fault in one line, with the place where it stands."""
    if not isinstance(content, dict):
        return f"the file holds a {type(content).__name__}, expected the fields name and tests"
    place = ".".join(map(str, errors[0]["loc"]))
    reason = errors[0]["msg"].removeprefix("Value error, ")
    return f"{place}: {reason}" if place else str(reason)
