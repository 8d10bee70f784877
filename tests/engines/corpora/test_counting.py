"""Counts of runs of words: corpora in memory and those that can only be asked, with and without the text itself."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.engines.corpora.counting import CountsWithout, LookedUpCounts
from genie_inspect.engines.corpora.documents import DocumentsCorpus
from genie_inspect.measures.infinity_gram import novelties
from genie_inspect.measures.words.suffix_array import TokenIndex

WORDS = st.lists(st.sampled_from(list("abc")), max_size=12)
TOLD = "The old owl sat on the station clock. It counted every train that did not stop."
OTHERS = "A young fox sat on the station roof, and counted every star.", "The owl slept on the clock."


def plain_count(run: Sequence[str], documents: Sequence[Sequence[str]]) -> int:
    return sum(list(document[place : place + len(run)]) == list(run) for document in documents for place in range(99))


@given(st.lists(WORDS, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
def test_a_corpus_that_can_only_be_asked_gives_the_numbers_of_an_index_with_no_look_up_twice(
    runs: list[list[str]], documents: list[list[str]]
) -> None:
    asked: list[tuple[str, ...]] = []

    def count(run: Sequence[str]) -> int:
        asked.append(tuple(run))
        return plain_count(run, documents)

    looked_up = LookedUpCounts(count, sum(map(len, documents)))
    assert repr(novelties(runs, looked_up)) == repr(novelties(runs, documents))
    assert len(asked) == len(set(asked)) <= 4 * sum(map(len, runs))
    assert all(any(run == tuple(whole[i : i + len(run)]) for whole in runs for i in range(99)) for run in asked)


@given(WORDS, st.lists(WORDS, max_size=4), st.integers(1, 3))
def test_an_index_without_a_text_counts_as_if_it_had_never_held_it(
    text: list[str], documents: list[list[str]], times: int
) -> None:
    index = TokenIndex([*[text] * times, *documents])
    without = CountsWithout(index, range(times), text)
    assert without.tokens == sum(map(len, documents))
    limits = np.full(len(text), len(text))
    assert without.lengths(text, limits).tolist() == TokenIndex(documents).lengths(text, limits).tolist()
    assert repr(novelties([text, text[1:]], without)) == repr(novelties([text, text[1:]], documents))


def test_the_text_itself_is_left_out_of_the_documents_however_it_is_spaced() -> None:
    whole = DocumentsCorpus("all", [("told", TOLD), *((text[:5], text) for text in OTHERS)])
    others = DocumentsCorpus("others", ((text[:5], text) for text in OTHERS))
    found, expected = whole.counted(TOLD.replace(" ", "\n")), others.counted(TOLD)
    assert (found.left_out, expected.left_out) == (("told",), ())
    runs = [found.words("sat on the station clock"), found.words("counted every train")]
    assert novelties(runs, found.counts) == novelties(runs, expected.counts)
    assert whole.counted("Another text.").counts.tokens == others.counted("").counts.tokens + len(TOLD.split()) + 2


def test_words_of_an_expression_are_those_of_the_documents() -> None:
    counted = DocumentsCorpus("one", [("one", "He said “don’t” to Zoë.")]).counted("")
    (known,) = novelties([counted.words("don't\" to Zoë")], counted.counts)
    assert known.novel_share == 0
    assert known.log_perplexity == pytest.approx(np.log(counted.counts.tokens) / 4)
