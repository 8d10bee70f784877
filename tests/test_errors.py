"""What a message of a missing extra tells to install."""

import tomllib
from pathlib import Path

import pytest

from genie_inspect.errors import MissingExtraError

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("extra", PROJECT["optional-dependencies"])
def test_an_extra_is_named_as_pip_takes_it(extra: str) -> None:
    said = str(MissingExtraError("a picture", extra, "Or none"))
    assert said == f"a picture needs the extra {extra}: pip install '{PROJECT['name']}[{extra}]'. Or none"
