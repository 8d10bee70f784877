"""Words as 16-bit symbols."""

from collections import Counter
from pathlib import Path

import pytest

from genie_inspect.engines.models import vocabulary
from genie_inspect.engines.models.vocabulary import HIGH, LOW, MOST_WORDS, SEPARATOR, SINGLE, UNUSED, Vocabulary
from genie_inspect.errors import CorpusError


def test_frequent_words_are_one_symbol_and_rare_ones_two() -> None:
    words = Vocabulary(f"w{number}" for number in range(SINGLE + LOW + 1))
    assert words.symbols(["w0", f"w{SINGLE - 1}"]) == [0, SINGLE - 1]
    assert words.symbols([f"w{SINGLE}"]) == [SINGLE, SINGLE + HIGH]
    assert words.symbols([f"w{SINGLE + LOW}"]) == [SINGLE + 1, SINGLE + HIGH]
    assert words.symbols(["w0", "never seen"]) is None


def test_no_word_has_the_symbols_that_stand_between_documents() -> None:
    assert UNUSED < SEPARATOR < 1 << 16
    last_high, last_low = divmod(MOST_WORDS - 1 - SINGLE, LOW)
    assert SINGLE + last_high < SINGLE + HIGH
    assert SINGLE + HIGH + last_low < UNUSED


def test_words_are_numbered_by_frequency_then_by_spelling() -> None:
    assert Vocabulary.of(Counter("bbbaac")).words == ["b", "a", "c"]
    assert Vocabulary.of(Counter("cba")).words == ["a", "b", "c"]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    written = Vocabulary(["the", "\u2028odd", "…", "x"])
    written.write(tmp_path)
    assert Vocabulary.read(tmp_path).words == written.words
    assert Vocabulary.read(tmp_path).digest == written.digest
    assert Vocabulary(["x", "the"]).digest != written.digest


def test_too_many_words_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MOST_WORDS", 2)
    with pytest.raises(CorpusError, match="3 different words, expected at most 2"):
        Vocabulary("abc")
