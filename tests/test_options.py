"""What an option may be: what is refused is named with its value and with what would do."""

import re
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.errors import (
    MissingExtraError,
    UnknownChoiceError,
    check_between,
    check_count,
    check_share,
    check_switch,
    check_text,
)

Check = Callable[[str, Any], None]
CHECKS: list[tuple[Check, list[Any], list[Any], str]] = [
    (check_share, [0, 0.5, 1, 1.0], [-0.1, 1.1, True, "half", None, float("nan")], "0 to 1"),
    (partial(check_between, lowest=-1, highest=1, scale="a cosine"), [-1, 0, 1.0], [7.0], "-1 to 1, a cosine"),
    (partial(check_between, lowest=1, highest=5), [1, 5], [0.5], "1 to 5"),
    (check_count, [1, 2], [0, -1, 2.0, True, "two", None], "a whole number of at least 1"),
    (
        partial(check_count, lowest=2, reason="one is no set"),
        [2],
        [1],
        "a whole number of at least 2: one is no set",
    ),
    (check_switch, [True, False], ["no", 0, 1, None], "true or false"),
    (check_text, ["starter", Path("folder")], [5, None, True, ["a"]], "a name or a path"),
]


@pytest.mark.parametrize(("check", "passing", "refused", "expected"), CHECKS)
def test_what_is_in_range_or_of_the_type_passes_and_else_is_refused_with_its_value(
    check: Check, passing: list[Any], refused: list[Any], expected: str
) -> None:
    for value in passing:
        check("option", value)
    for value in refused:
        with pytest.raises(UnknownChoiceError, match=rf"^{re.escape(f'option is {value!r}, expected {expected}')}$"):
            check("option", value)


PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("extra", PROJECT["optional-dependencies"])
def test_an_extra_is_named_as_pip_takes_it(extra: str) -> None:
    said = str(MissingExtraError("a picture", extra, "Or none"))
    assert said == f"a picture needs the extra {extra}: pip install '{PROJECT['name']}[{extra}]'. Or none"
