"""Probabilities, perplexities and shares of novel n-grams against plain counting."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.processes import tries

from genie_inspect.measures.infinity_gram import RunNovelty, log_perplexity, novel_share, novelties, probability
from genie_inspect.measures.suffix_array import TokenIndex, sorted_by_doubling, suffix_order

Documents = Sequence[Sequence[str]]
WORDS = st.lists(st.sampled_from(list("abc")), max_size=16)
CORPUS = st.lists(WORDS, max_size=5)


def plain_count(run: Sequence[str], corpus: Documents) -> int:
    """At every place of every document; the run of nothing stands at every token."""
    size = len(run)
    return sum(
        list(document[place : place + size]) == list(run)
        for document in corpus
        for place in range(len(document) - size + 1 - (not run))
    )


def plain_probability(context: Sequence[str], word: str, corpus: Documents) -> float:
    suffixes = (context[start:] for start in range(len(context) + 1))
    longest = next((suffix for suffix in suffixes if plain_count(suffix, corpus)), None)
    return math.nan if longest is None else plain_count([*longest, word], corpus) / plain_count(longest, corpus)


def plain_novel_share(tokens: Sequence[str], corpus: Documents) -> float:
    for n in range(1, len(tokens) + 1):
        absent = [not plain_count(tokens[i : i + n], corpus) for i in range(len(tokens) - n + 1)]
        if any(absent):
            return sum(absent) / len(absent)
    return 0.0


def made_corpus(seed: int) -> tuple[list[str], list[list[str]]]:
    """A text and documents of words of Zipf's law, so that most runs are rare and some are not."""
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 60))
    documents = [[str(word) for word in draw.zipf(1.4, size=draw.integers(0, 200)) % size] for _ in range(5)]
    return [str(word) for word in draw.zipf(1.4, size=draw.integers(1, 12)) % (size + 2)], documents


@pytest.mark.repeated
@pytest.mark.parametrize("sorter", [sorted_by_doubling, suffix_order])
def test_a_thousand_probabilities_are_those_of_plain_counting(sorter: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.measures.suffix_array.suffix_order", sorter)
    looked_up, seeds = 0, tries(80, 250)
    for seed in range(seeds):
        tokens, documents = made_corpus(seed)
        index = TokenIndex(documents)
        for place in range(min(len(tokens), 6)):
            expected = plain_probability(tokens[:place], tokens[place], documents)
            assert probability(tokens[:place], tokens[place], index) == pytest.approx(expected, nan_ok=True)
            looked_up += 1
    assert looked_up > 4 * seeds


@given(WORDS, CORPUS)
@example(list("ab"), [list("a"), list("b")])  # a run never crosses from one document to the next
@example(list("aaaa"), [list("aaaaaaaa"), list("aaaaaaaa")])
@example(list("ba"), [list("ab")])  # "b" stands at the very end, where nothing follows
def test_perplexity_and_novel_share_are_those_of_plain_counting(tokens: list[str], corpus: list[list[str]]) -> None:
    if not tokens or not any(corpus):
        assert math.isnan(log_perplexity(tokens, corpus))
        assert math.isnan(novel_share(tokens, corpus))
        return
    likely = [plain_probability(tokens[:place], word, corpus) for place, word in enumerate(tokens)]
    expected = -sum(math.log(one or 1e-5) for one in likely) / len(likely)
    assert log_perplexity(tokens, corpus, floor=1e-5) == pytest.approx(expected)
    assert novel_share(tokens, corpus) == pytest.approx(plain_novel_share(tokens, corpus))


@given(st.lists(WORDS, max_size=6), CORPUS)
def test_many_runs_at_once_are_each_as_if_alone(runs: list[list[str]], corpus: list[list[str]]) -> None:
    together = novelties(runs, corpus)
    alone = [RunNovelty(log_perplexity(run, corpus), novel_share(run, corpus)) for run in runs]
    for one, other in zip(together, alone, strict=True):
        assert one.log_perplexity == pytest.approx(other.log_perplexity, nan_ok=True)
        assert one.novel_share == pytest.approx(other.novel_share, nan_ok=True)


@given(WORDS, CORPUS, st.lists(st.tuples(st.integers(0, 16), st.integers(0, 16)), max_size=8))
def test_counts_are_those_of_plain_counting(
    tokens: list[str], corpus: list[list[str]], places: list[tuple[int, int]]
) -> None:
    runs = [(min(pair), max(pair)) for pair in places if max(pair) <= len(tokens)]
    starts, ends = (np.array([run[side] for run in runs], dtype=np.int64) for side in (0, 1))
    expected = [plain_count(tokens[start:end], corpus) for start, end in runs]
    assert TokenIndex(corpus).counts(tokens, starts, ends).tolist() == expected


TEXT = ["the", "owl", "sat", "on", "the", "station", "clock", "and", "counted", "every", "train"]


def test_all_of_it_in_the_corpus_is_0_and_only_the_whole_absent_is_1() -> None:
    assert novel_share(TEXT, [["so", *TEXT, "again"]]) == 0
    # every run but the whole stands in one of these
    assert novel_share(TEXT, [TEXT[:-1], TEXT[1:]]) == 1
    assert novel_share(["unheard", "of"], [TEXT]) == 1
    # n = 1: of four words one is unknown
    assert novel_share(["the", "owl", "unheard", "on"], [TEXT]) == 1 / 4
    # n = 2: "owl on" is absent, "the owl" and "on the" are not
    assert novel_share(["the", "owl", "on", "the"], [TEXT]) == 1 / 3


def test_a_word_that_never_follows_is_improbable_and_counts_as_the_floor() -> None:
    assert probability(["the", "owl"], "flew", [TEXT]) == 0
    # "the owl" was never before "flew": "the" is 2 of 11 words, "owl" follows it once of twice
    expected = -(math.log(2 / 11) + math.log(1 / 2) + math.log(1.2e-10)) / 3
    assert log_perplexity(["the", "owl", "flew"], [TEXT]) == pytest.approx(expected)
    assert log_perplexity(["unheard", "of"], [TEXT]) == pytest.approx(-math.log(1.2e-10))


def test_what_of_the_context_is_unknown_is_left_off() -> None:
    assert probability(["zzz", "on", "the"], "station", [TEXT]) == probability(["on", "the"], "station", [TEXT]) == 1
    assert probability(["zzz"], "the", [TEXT]) == probability([], "the", [TEXT]) == 2 / 11


def test_a_corpus_without_tokens_tells_nothing() -> None:
    empty: list[Documents] = [[], [[]]]
    for corpus in empty:
        assert math.isnan(probability(["a"], "b", corpus))
        assert math.isnan(log_perplexity(["a"], corpus))
        assert math.isnan(novel_share(["a"], corpus))
