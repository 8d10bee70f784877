"""Nothing that a model, a grader or a file sends breaks a reader of it, or holds it up."""

import contextlib

import pytest
from hypothesis import given, settings
from tests.hostile import (
    EXAMPLES,
    FULL,
    PIECES,
    SECONDS_A_MILLION,
    SPARE_SECONDS,
    THOROUGH,
    WHOLE,
    WORST,
    mixed,
    repeated,
    seconds,
    texts,
)
from tests.parsers import OTHERS, PARSERS, discovered

# characters of each repeated piece
LENGTHS = dict.fromkeys(PIECES, FULL - 100 if EXAMPLES >= THOROUGH else 3_000)
LENGTHS |= dict.fromkeys(WORST, FULL - 100 if EXAMPLES >= THOROUGH else 100_000)
SECONDS_A_KB = 0.05
EVERY_PARSER = pytest.mark.parametrize("name", PARSERS)


def test_every_function_that_reads_a_text_from_outside_is_tried_here() -> None:
    assert discovered() - PARSERS.keys() == OTHERS.keys()


def read(name: str, text: str) -> None:
    """Read a text; what the parser documents that it raises is no fault."""
    parser, documented = PARSERS[name]
    with contextlib.suppress(documented) if documented else contextlib.nullcontext():
        parser(text)


def is_read_within(most: float, name: str, text: str) -> bool:
    """Whether one of three attempts takes no longer: something else may have come between."""
    return any(seconds(lambda: read(name, text)) < most for _ in range(3))


@EVERY_PARSER
def test_whatever_is_repeated_is_read_in_time_linear_in_its_length(name: str) -> None:
    for piece, length in LENGTHS.items():
        most = SPARE_SECONDS + SECONDS_A_MILLION * length / FULL
        assert is_read_within(most, name, repeated(piece, length)), f"{piece!r} again and again"


@EVERY_PARSER
def test_a_million_characters_of_anything_are_read_in_a_second(name: str) -> None:
    most = SPARE_SECONDS + SECONDS_A_MILLION
    everything = {**WHOLE, "all pieces": mixed(FULL)} if EXAMPLES >= THOROUGH else {"all pieces": mixed(FULL)}
    assert [what for what, text in everything.items() if not is_read_within(most, name, text)] == []


@settings(settings.get_profile("parsers"))
@given(texts())
def test_any_text_is_read_or_refused_as_documented_and_soon(text: str) -> None:
    most = SECONDS_A_KB * max(1, len(text) / 1_000)
    assert [name for name in PARSERS if not is_read_within(most, name, text)] == []


@EVERY_PARSER
@pytest.mark.parametrize("what", [what for what, text in WHOLE.items() if len(text) < 20_000])
def test_what_once_broke_a_reader_is_read_or_refused_as_documented(name: str, what: str) -> None:
    read(name, WHOLE[what])
