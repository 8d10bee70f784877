"""Whoever asks a model again does it through `until_read`: a repeat elsewhere would get the cached reply once more."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import genie_inspect

SOURCE = Path(genie_inspect.__file__).parent
ONE_PLACE = SOURCE / "graders" / "readable.py"


def settings_of_a_cache(source: str) -> Iterator[int]:
    """The lines that switch Inspect's cache for a request: `cache=False`, or `cache=` of a GenerateConfig."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            if keyword.arg == "cache" and (off or ast.unparse(node.func).endswith("GenerateConfig")):
                yield keyword.lineno


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("generate(state, cache=False)", [1]),
        ("a = 1\nmodel.generate(x, config=GenerateConfig(max_tokens=3, cache=policy))", [2]),
        ("generate(state, cache=cache_for(number))\ndef genie(cache: bool = True): ...", []),
    ],
)
def test_what_switches_a_cache_is_seen(source: str, lines: list[int]) -> None:
    assert list(settings_of_a_cache(source)) == lines


def test_nobody_but_until_read_goes_past_the_providers_cache() -> None:
    files = [path for path in sorted(SOURCE.rglob("*.py")) if path != ONE_PLACE]
    places = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in files
        for line in settings_of_a_cache(path.read_text(encoding="utf-8"))
    ]
    assert places == []
    assert list(settings_of_a_cache(ONE_PLACE.read_text(encoding="utf-8")))
