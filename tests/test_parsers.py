"""Nothing that a model, a grader or a file sends breaks a reader of it, or holds it up."""

import contextlib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import partial

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

import genie_inspect
from genie_inspect.agreement.votes import VotesError
from genie_inspect.batch.importing import reply_in
from genie_inspect.building.features import split
from genie_inspect.errors import GenieError, PopulationError, UnreadableReplyError
from genie_inspect.files.json_lines import json_object, json_row
from genie_inspect.measures.marks import QuotedText
from genie_inspect.populations.prompts import cell
from genie_inspect.populations.schema import Document, parsed
from genie_inspect.prompting import answers, replies, templates
from genie_inspect.prompting.texts import whole_text
from genie_inspect.signature import Signature

SENTENCE = "The owl, which had slept, went out."
REQUEST = "Rate them. " * 40 + templates.fenced({"question": "Who is it?", "others": {"1": "an owl"}})
TEXTS = frozenset({"reply", "text", "answer", "document", "generation", "question", "request", "story", "letters"})
"""What a function's first argument is called that comes from outside."""
GIVEN: dict[str, object] = {
    **{"count": 9, "counts": [9, 2], "lowest": 0, "highest": 5, "numbers": {1, 3}, "width": 80, "where": "a line"},
    **{"sentence": SENTENCE, "rest": "An owl.", "request": REQUEST, "question": REQUEST},
    "choices": ["keep", "two things"],
}
"""What a parser is given beside the text, by name."""


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


SPECIAL: dict[str, Callable[[str], object]] = {
    "building.features.split": lambda text: list(split([text])),
    "files.json_lines.json_object": lambda text: json_object(as_bytes(text), "a line", PopulationError),
    "files.json_lines.json_row": lambda text: json_row(as_bytes(text), Document, "a line", PopulationError),
    "populations.schema.parsed": lambda text: parsed(whole_text(text), Document, "a line"),
    "measures.marks.QuotedText.find": lambda text: [QuotedText(text).find(quote) for quote in ("a", SENTENCE)],
    "prompting.answers.normalised": answers.normalised.__wrapped__,
    "prompting.templates.unfenced": lambda text: templates.unfenced(f"{templates.OPEN}{text}{templates.CLOSE}"),
    "batch.importing.reply_in": lambda text: reply_in(as_bytes(text)),
    "populations.prompts.cell": cell,
    "prompting.replies.json_lists": replies.json_lists,
    "prompting.replies.json_objects": replies.json_objects,
    "prompting.replies.pair_rating": replies.pair_rating,
    "prompting.replies.quality_level": replies.quality_level,
    "signature.Signature": Signature,
}
"""Parsers that take more than a text and what is given, or have their text under another name."""
RAISED: dict[str, type[GenieError]] = {
    **dict.fromkeys(
        ("files.json_lines.json_object", "files.json_lines.json_row", "populations.schema.parsed"), PopulationError
    ),
    "agreement.votes.from_letters": VotesError,
    "prompting.templates.unfenced": UnreadableReplyError,
    **{
        f"prompting.{module}.{name}": UnreadableReplyError
        for module, names in {
            "forms": ("last_sound_sentence", "one_sentence", "quotes", "sentences_to_cut", "written_text"),
            "replies": (
                *("pair_rating", "preferred", "preferred_at_once", "preferred_for_a_reason", "quality_level"),
                *("rating_between", "verdict", "yes_or_no"),
            ),
        }.items()
        for name in names
    },
}
"""What a parser documents that it raises; the others raise nothing."""
OTHERS = {
    "signature.comparable": "takes a signature, which is ours",
    "cli.terminal.confirm": "asks, by printable",
    "cli.terminal.echo": "prints, by printable",
    "engines.identity.redacted": "takes an option of the user's, for an error message",
    "agreement.raters.pair": "takes an id",
    "agreement.machine_scores.judged_in_log": "takes an id",
    "engines.corpora.copied": "a slice between tokens, as excerpt",
    "engines.corpora.excerpt": "a slice between tokens",
    "engines.embedders.static_token_count": "a library's tokenizer",
    "engines.served_embedders.most_tokens": "an estimate from the length",
    "engines.served_embedders.windows": "asks a tokenizer",
    "graders.equivalence.class_of": "asks a model",
    "graders.list_judge.list_ratings": "through numbered_ratings",
    "measures.tokens.word_count": "a count, no reading",
    "engines.corpora.spaced_tokens": "as tokens",
    "measures.tokens.split_expressions": "an object an expression of a document, at words alone",
    "measures.tokens.without_outside": "a character at either end after the other",
    "measures.tokens.plain_typography": "a table of characters",
    "scorers.expression_novelty.with_small_first": "takes an expression",
    "scorers.expression_novelty.measurement": "looks up the expressions of a document",
    "measures.marks.covered_share": "a count of words",
    "measures.marks.pieces": "cuts a text at places that are given",
    "scorers.close_reading.evidence": "takes a text for its length, beside readings of it",
    "scorers.close_reading.explained": "by printable and cell, of at most 20,000 characters",
    "scorers.close_reading.with_marks": "as explained",
    "measures.tokens.tokens": "an object a word of a document, which costs what the measure costs",
    "measures.tokens.placed_tokens": "as tokens",
    "populations.survey.shingles": "a number a word of a document",
    "prompting.replies.last_labels": "through verdict and yes_or_no",
    "reports.first_figure.width_of": "looks up the width of a character after the other",
    "graders.cost.tokens": "an estimate from the length",
}
"""Functions that are no parsers, though their first argument is a text, with the reason."""


def discovered() -> dict[str, Callable[..., object]]:
    """The public functions of the package whose first argument is a text from outside, by name."""
    functions: dict[str, Callable[..., object]] = {}
    for found in pkgutil.walk_packages(genie_inspect.__path__, "genie_inspect."):
        module = importlib.import_module(found.name)
        for name, function in vars(module).items():
            if not name.startswith("_") and getattr(function, "__module__", "") == found.name and _reads(function):
                functions[f"{found.name.removeprefix('genie_inspect.')}.{name}"] = function
    return functions


def with_what_is_given(function: Callable[..., object]) -> Callable[[str], object]:
    """The function of its text alone; a KeyError names an argument that it must have and that nothing is given for."""
    _, *others = inspect.signature(function).parameters.values()
    return partial(function, **{other.name: GIVEN[other.name] for other in others if other.default is other.empty})


def _reads(function: object) -> bool:
    plain = inspect.unwrap(function) if callable(function) else None
    if not inspect.isfunction(plain):
        return False
    first = next(iter(inspect.signature(plain).parameters.values()), None)
    # a class or a string of one, as the module imports annotations
    kinds = getattr(first, "annotation", None), getattr(getattr(first, "annotation", None), "__name__", None)
    is_text = any(kind in ("str", "bytes", str, bytes) or "str |" in str(kind) for kind in kinds)
    return first is not None and is_text and first.name in TEXTS


# characters of each repeated piece
LENGTHS = dict.fromkeys(PIECES, FULL - 100 if EXAMPLES >= THOROUGH else 3_000)
LENGTHS |= dict.fromkeys(WORST, FULL - 100 if EXAMPLES >= THOROUGH else 100_000)
SECONDS_A_KB = 0.05
DISCOVERED = discovered()
PARSERS = SPECIAL | {
    name: with_what_is_given(function)
    for name, function in DISCOVERED.items()
    if name not in SPECIAL.keys() | OTHERS.keys()
}
EVERY_PARSER = pytest.mark.parametrize("name", PARSERS)


def test_what_is_no_parser_is_there_and_so_are_parsers_that_raise() -> None:
    assert OTHERS.keys() <= DISCOVERED.keys()
    assert RAISED.keys() <= PARSERS.keys()


def read(name: str, text: str) -> None:
    """Read a text; what the parser documents that it raises is no fault."""
    with contextlib.suppress(*[RAISED[name]] if name in RAISED else []):
        found = PARSERS[name](text)
        if isinstance(found, Iterator):
            list(found)


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
