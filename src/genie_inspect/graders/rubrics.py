"""Rubrics: the tests that a critic applies to a story, from a file."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.writing import DATA
from genie_inspect.prompting.forms import Form, label_form
from genie_inspect.prompting.replies import LEVELS, YES_NO, labels, up_to_label, verdict, yes_or_no
from genie_inspect.prompting.templates import Template, load_template
from genie_inspect.signature import digest

FOLDER = DATA / "rubrics"
BUNDLED = ("ttcw", "gomez_williams")
TOTAL = "total"
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class RubricError(GenieError):
    """A rubric file cannot be used; the message names the file, the place and what would work."""


class Test(BaseModel):
    __test__ = False  # no test of pytest's
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$", max_length=40)]
    name: Words
    question: Words
    dimension: Name | None = None

    @property
    def digest(self) -> str:
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
            raise ValueError(f"test id {twice[0]!r} appears twice, expected ids that differ")
        # tests, dimensions and the total share one set of keys in a score
        taken = {TOTAL, *self.dimensions} & {test.id for test in self.tests}
        if taken:
            raise ValueError(f"test id {min(taken)!r} is the name of a sum, expected another id")
        if TOTAL in self.dimensions:
            raise ValueError(f"dimension {TOTAL!r} is the name of the sum of all tests, expected another name")
        return self

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(test.dimension for test in self.tests if test.dimension))

    @property
    def digest(self) -> str:
        return digest(self.name, json.dumps([test.model_dump() for test in self.tests], sort_keys=True))

    def key(self, part: str) -> str:
        """The score's key of a test, a dimension or the total: `ttcw_01`, `ttcw_fluency`, `ttcw_total`."""
        return f"{self.name}_{part}"

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(map(self.key, (TOTAL, *self.dimensions, *(test.id for test in self.tests))))


def load_rubric(rubric: str) -> Rubric:
    return _bundled(rubric) if rubric in BUNDLED else _read(rubric, Path(rubric))


@cache  # every scorer of it opens it, and YAML is slow to read
def _bundled(rubric: str) -> Rubric:
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
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise RubricError(f"rubric {rubric}: the file contains a {kind}, expected the fields name and tests")
    try:
        return Rubric.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place, reason = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        raise RubricError(f"rubric {rubric}: {f'{place}: ' if place else ''}{reason}") from error


def renamed(rubric: Rubric, name: str) -> Rubric:
    try:
        return Rubric.model_validate({**rubric.model_dump(), "name": name})
    except ValidationError:
        raise UnknownChoiceError("prefix", name, "small letters, digits and _, a letter first") from None


AFTER: Final = "after"  # an analysis behind the label
Analyse = bool | Literal["after"]
_FORMS = {True: "analyse", False: "label", AFTER: "rate"}


@dataclass(frozen=True)
class Instructions:
    stories: Template  # the part that holds the stories: shared by all tests
    test: Template  # the part that names the aspect
    scale: Template
    form: Form
    read: Callable[[str], int]  # points in a reply: of story A over story B; of a story alone 1 = yes, 0 = no
    analyses: bool  # whether the critic analyses, before it chooses or behind

    @classmethod
    def load(
        cls, levels: int = 5, *, analyse: Analyse = True, reference: bool = True, folder: Path | str | None = None
    ) -> Self:
        if levels not in LEVELS:
            raise UnknownChoiceError("levels", levels, "one of " + ", ".join(map(str, LEVELS)))
        if not (isinstance(analyse, bool) or analyse == AFTER):
            raise UnknownChoiceError("analyse", analyse, f"true, false or {AFTER}")
        stories, test = ("critic_pair", "critic") if reference else ("critic_alone", "critic_alone")
        choices = labels(levels) if reference else YES_NO
        # the parser belongs to the labels: one for another scale would read other verdicts
        read = partial(verdict, levels=levels) if reference else yes_or_no
        return cls(
            load_template(stories, {"data"}, folder),
            load_template(f"{test}_{_FORMS[analyse]}", {"scale", "data"}, folder),
            load_template(f"scale_{levels}" if reference else "scale_yes_no", set(), folder),
            label_form(choices, analysed=analyse is True, reasons=analyse == AFTER),
            (lambda reply: read(up_to_label(reply))) if analyse == AFTER else read,
            bool(analyse),
        )

    @property
    def digest(self) -> str:
        """Twelve hex digits of the texts and of the labels that count."""
        return digest(self.stories.text, self.test.text, self.scale.text, self.form.pattern)


@dataclass(frozen=True, slots=True)
class Setup:
    name: str
    said: str  # in words
    levels: int = 5
    analyse: Analyse = True
    reference: bool = True

    @property
    def facts(self) -> dict[str, str]:
        """What the signature of a score says of it."""
        scale = {"levels": str(self.levels)} if self.reference else {}
        return scale | {"analyse": str(self.analyse).lower(), "reference": str(self.reference).lower()}


_ALL = (
    Setup("both", "reference, analyse then rate"),
    Setup("baseline", "alone, yes or no", analyse=False, reference=False),
    Setup("reference_only", "reference, rate only", analyse=False),
    Setup("analysis_only", "alone, analyse then yes or no", reference=False),
    Setup("rate_first", "reference, rate then analyse", analyse=AFTER),
    Setup("levels_3", "reference, 3 levels", levels=3),
    Setup("levels_7", "reference, 7 levels", levels=7),
)
SETUPS = {setup.name: setup for setup in _ALL}
PUBLISHED, EVERY = "published", "all"
_GROUPS = {PUBLISHED: ("both", "baseline"), EVERY: tuple(SETUPS)}


def setups_of(names: str | Iterable[str]) -> list[Setup]:
    listed = names.split(",") if isinstance(names, str) else list(names)
    single = [part for name in listed for part in _GROUPS.get(str(name).strip(), (str(name).strip(),))]
    unknown = [name for name in single if name not in SETUPS]
    if unknown or not single:
        raise UnknownChoiceError(
            "setups", unknown[0] if unknown else names, f"some of {', '.join([*_GROUPS, *SETUPS])}"
        )
    return [SETUPS[name] for name in dict.fromkeys(single)]


def setup_said(facts: Mapping[str, str]) -> str:
    """In words how a critic was asked, by the facts of a score's signature.

    >>> setup_said({"levels": "5", "analyse": "true", "reference": "true"})
    'reference, analyse then rate'
    >>> setup_said({"levels": "3", "analyse": "false", "reference": "true"})
    'levels=3 analyse=false reference=true'
    """
    told = {name: facts[name] for name in ("levels", "analyse", "reference") if name in facts}
    named = next((setup.said for setup in _ALL if setup.facts == told), "")
    return named or " ".join(f"{name}={value}" for name, value in told.items())
