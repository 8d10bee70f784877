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
from genie_inspect import scripts
from genie_inspect.agreement.votes import VotesError, from_letters, prompt_of, writer_of
from genie_inspect.batch.importing import reply_in
from genie_inspect.building.collecting import loses_most, trimmed, up_to_sentence
from genie_inspect.building.features import split
from genie_inspect.building.prompts import concepts
from genie_inspect.building.questions import breach
from genie_inspect.engines.identity import identity
from genie_inspect.errors import GenieError, PopulationError, UnreadableReplyError
from genie_inspect.files.json_lines import json_object, json_row
from genie_inspect.files.values import one_line, printable
from genie_inspect.graders.offline_judge import pronoun_answer, sentences
from genie_inspect.measures.marks import QuotedText
from genie_inspect.populations.prompts import cell as table_cell
from genie_inspect.populations.prompts import clean_prompt
from genie_inspect.populations.schema import Document, parsed
from genie_inspect.populations.writing import plain
from genie_inspect.prompting import answers, fence, forms, replies
from genie_inspect.prompting import texts as prompt_texts
from genie_inspect.providers.replay import short
from genie_inspect.samples import no_document
from genie_inspect.scorers.explanation import cell, cut
from genie_inspect.signature import Signature

COUNT = 9  # items in a request
SENTENCE = "The owl, which had slept, went out."
REQUEST = "Rate them. " * 40 + fence.fenced({"question": "Who is it?", "others": {"1": "an owl"}})
TEXTS = frozenset({"reply", "text", "answer", "document", "generation", "question", "request", "story", "letters"})
"""What a function's first argument is called that comes from outside."""

Parser = tuple[Callable[[str], object], type[GenieError] | None]
_NO = None  # raises nothing
_UNREADABLE = UnreadableReplyError


def _all(read: Callable[[str], Iterator[object]]) -> Callable[[str], object]:
    return lambda text: list(read(text))


PARSERS: dict[str, Parser] = {
    "building.features.split": (lambda text: list(split([text])), _NO),
    "files.values.printable": (printable, _NO),
    "files.values.one_line": (one_line, _NO),
    "populations.prompts.clean_prompt": (clean_prompt, _NO),
    "populations.prompts.cell": (table_cell, _NO),
    "engines.identity.identity": (identity, _NO),
    "files.json_lines.json_object": (
        lambda text: json_object(text.encode("utf-8", "surrogatepass"), "a line", PopulationError),
        PopulationError,
    ),
    "files.json_lines.json_row": (
        lambda text: json_row(text.encode("utf-8", "surrogatepass"), Document, "a line", PopulationError),
        PopulationError,
    ),
    "graders.offline_judge.sentences": (sentences, _NO),
    "graders.offline_judge.pronoun_answer": (pronoun_answer, _NO),
    "populations.writing.plain": (plain, _NO),
    "populations.schema.parsed": (
        lambda text: parsed(prompt_texts.whole_text(text), Document, "a line"),
        PopulationError,
    ),
    "building.collecting.trimmed": (trimmed, _NO),
    "building.collecting.up_to_sentence": (partial(up_to_sentence, sentence=SENTENCE), _NO),
    "building.collecting.loses_most": (partial(loses_most, rest="An owl."), _NO),
    "measures.marks.QuotedText.find": (lambda text: [QuotedText(text).find(quote) for quote in ("a", SENTENCE)], _NO),
    "prompting.answers.normalised": (answers.normalised.__wrapped__, _NO),
    "prompting.answers.says_nothing": (answers.says_nothing, _NO),
    "prompting.answers.is_unspecified": (answers.is_unspecified, _NO),
    "prompting.answers.repeats_question": (partial(answers.repeats_question, question=REQUEST), _NO),
    "prompting.fence.without_echo": (partial(fence.without_echo, request=REQUEST), _NO),
    "prompting.fence.unfenced": (lambda text: fence.unfenced(f"{fence.OPEN}{text}{fence.CLOSE}"), _UNREADABLE),
    "prompting.replies.numbered_sameness": (partial(replies.numbered_sameness, count=COUNT), _NO),
    "prompting.replies.quality_level": (replies.quality_level, _UNREADABLE),
    "prompting.replies.preferred": (replies.preferred, _UNREADABLE),
    "prompting.replies.preferred_at_once": (replies.preferred_at_once, _UNREADABLE),
    "prompting.replies.preferred_for_a_reason": (replies.preferred_for_a_reason, _UNREADABLE),
    "prompting.replies.yes_or_no": (replies.yes_or_no, _UNREADABLE),
    "building.prompts.concepts": (concepts, _NO),
    "building.questions.breach": (breach, _NO),
    "prompting.forms.quotes": (forms.quotes, _UNREADABLE),
    "prompting.replies.up_to_label": (replies.up_to_label, _NO),
    "prompting.replies.rating_in": (partial(replies.rating_in, lowest=0, highest=4), _NO),
    "prompting.replies.rating_between": (partial(replies.rating_between, lowest=1, highest=5), _UNREADABLE),
    "prompting.replies.pair_rating": (replies.pair_rating, _UNREADABLE),
    "prompting.answers.reading_reply": (partial(answers.reading_reply, count=COUNT), _NO),
    "prompting.texts.refuses": (prompt_texts.refuses, _NO),
    "prompting.replies.numbered_answers": (partial(replies.numbered_answers, count=COUNT), _NO),
    "prompting.replies.numbered_questions": (partial(replies.numbered_questions, count=COUNT), _NO),
    "prompting.replies.numbered_choices": (
        partial(replies.numbered_choices, count=COUNT, choices=["keep", "two things"]),
        _NO,
    ),
    "prompting.replies.numbered_ratings": (partial(replies.numbered_ratings, count=COUNT), _NO),
    "prompting.replies.numbered_values": (partial(replies.numbered_values, count=COUNT), _NO),
    "prompting.replies.is_short_text": (replies.is_short_text, _NO),
    "prompting.replies.json_objects": (_all(replies.json_objects), _NO),
    "prompting.replies.json_lists": (_all(replies.json_lists), _NO),
    "prompting.replies.verdict": (replies.verdict, _UNREADABLE),
    "prompting.replies.analysis": (replies.analysis, _NO),
    "prompting.forms.one_sentence": (forms.one_sentence, _UNREADABLE),
    "prompting.forms.verbalized_responses": (forms.verbalized_responses, _NO),
    "prompting.forms.sentences_to_cut": (partial(forms.sentences_to_cut, count=COUNT), _UNREADABLE),
    "prompting.forms.last_sound_sentence": (forms.last_sound_sentence, _UNREADABLE),
    "prompting.forms.written_text": (forms.written_text, _UNREADABLE),
    "prompting.texts.sentence_spans": (prompt_texts.sentence_spans, _NO),
    "prompting.texts.last_sentence": (prompt_texts.last_sentence, _NO),
    "prompting.texts.without_sentences": (partial(prompt_texts.without_sentences, numbers={1, 3}), _NO),
    "prompting.texts.without_repeated_tail": (prompt_texts.without_repeated_tail, _NO),
    "prompting.texts.whole_text": (prompt_texts.whole_text, _NO),
    "prompting.texts.whole_json": (prompt_texts.whole_json, _NO),
    "prompting.texts.has_word": (prompt_texts.has_word, _NO),
    "prompting.texts.spoken": (prompt_texts.spoken, _NO),
    "prompting.texts.shortened": (prompt_texts.shortened, _NO),
    "providers.replay.short": (short, _NO),
    "agreement.votes.prompt_of": (prompt_of, _NO),
    "agreement.votes.writer_of": (writer_of, _NO),
    "agreement.votes.from_letters": (lambda text: from_letters(text, "a line"), VotesError),
    "samples.no_document": (no_document, _NO),
    "batch.importing.reply_in": (lambda text: reply_in(text.encode("utf-8", "surrogatepass")), _NO),
    "scorers.explanation.cell": (cell, _NO),
    "scorers.explanation.cut": (partial(cut, width=80), _NO),
    "scripts.words": (scripts.words, _NO),
    "scripts.word_spans": (_all(scripts.word_spans), _NO),
    "scripts.spaced_words": (scripts.spaced_words, _NO),
    "scripts.spaced_word_spans": (_all(scripts.spaced_word_spans), _NO),
    "scripts.is_unspaced": (scripts.is_unspaced, _NO),
    "scripts.main_script": (scripts.main_script, _NO),
    "scripts.is_english": (scripts.is_english, _NO),
    "signature.Signature": (Signature, _NO),
}
OTHERS = {
    "versions.comparable": "takes a signature, which is ours",
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
    "measures.expressions.split_expressions": "an object an expression of a document, at words alone",
    "measures.expressions.without_outside": "a character at either end after the other",
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
    "graders.cost.tokens": "an estimate from the length",
}
"""Functions that are no parsers, though their first argument is a text, with the reason."""


def discovered() -> set[str]:
    """The public functions of the package whose first argument is a text from outside."""
    names: set[str] = set()
    for found in pkgutil.walk_packages(genie_inspect.__path__, "genie_inspect."):
        module = importlib.import_module(found.name)
        for name, function in vars(module).items():
            if not name.startswith("_") and getattr(function, "__module__", "") == found.name and _reads(function):
                names.add(f"{found.name.removeprefix('genie_inspect.')}.{name}")
    return names


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
