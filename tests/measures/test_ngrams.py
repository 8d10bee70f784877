"""Runs of tokens that stand in a corpus, and how likely it makes words, against plain counting."""

import math
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from genie_inspect.measures.infinity_gram import RunCounts, RunsInCorpus, log_perplexity, novel_share, probability
from genie_inspect.measures.ngrams import (
    TokenIndex,
    copied_spans,
    counted_match_lengths,
    coverage,
    creativity_index,
    match_lengths,
    near_matches,
    sorted_by_doubling,
    suffix_order,
)

WORDS = st.lists(st.sampled_from(list("abc")), max_size=24)
CORPUS = st.lists(WORDS, max_size=5)


def plain_match_lengths(tokens: Sequence[str], corpus: Sequence[Sequence[str]]) -> list[int]:
    """The longest run at each token by looking at every place of every document."""

    def agreeing(start: int, document: Sequence[str], place: int) -> int:
        length = 0
        while (
            start + length < len(tokens)
            and place + length < len(document)
            and tokens[start + length] == document[place + length]
        ):
            length += 1
        return length

    return [
        max((agreeing(start, document, place) for document in corpus for place in range(len(document))), default=0)
        for start in range(len(tokens))
    ]


@given(WORDS, CORPUS)
@example(list("ab"), [list("a"), list("b")])  # a run never crosses from one document to the next
@example(list("aaaa"), [list("aaaaaaaa"), list("aaaaaaaa")])
def test_match_lengths_are_those_of_plain_search_and_stand_where_the_index_says(
    tokens: list[str], corpus: list[list[str]]
) -> None:
    found = TokenIndex(corpus).matches(tokens)
    assert match_lengths(tokens, corpus).tolist() == found.lengths.tolist() == plain_match_lengths(tokens, corpus)
    for start, (length, document, place) in enumerate(zip(found.lengths, found.documents, found.places, strict=True)):
        if length:
            assert corpus[document][place : place + length] == tokens[start : start + length]
        else:
            assert (document, place) == (-1, -1)


@given(WORDS, CORPUS, st.integers(0, 4))
def test_a_document_that_is_left_out_counts_as_if_it_were_not_there(
    tokens: list[str], corpus: list[list[str]], left_out: int
) -> None:
    kept = [document for place, document in enumerate(corpus) if place != left_out]
    expected = plain_match_lengths(tokens, kept)

    assert TokenIndex(corpus).matches(tokens, [left_out]).lengths.tolist() == expected


def test_suffixes_that_agree_beyond_a_key_are_told_apart_also_where_two_or_one_is_left() -> None:
    # 44 different words take 6 bits, so that a key of 64 holds 10 of the 40 that both documents begin with
    shared = [str(number) for number in range(40)]
    index = TokenIndex([[*shared, "a"], [*shared, "b", "c"]])
    assert index.matches([*shared, "b", "c"]).lengths[0] == 42
    runs = [*shared, "b", "a"]
    assert index.counts(runs, np.array([0, 0, 0]), np.array([40, 41, 42])).tolist() == [2, 1, 0]


@given(CORPUS)
def test_the_suffix_order_sorts_what_follows_each_place(corpus: list[list[str]]) -> None:
    numbered = [[ord(token) - 96 for token in document] + [0] for document in corpus]
    text = np.array([number for document in numbered for number in document], dtype=np.uint16)
    for order in (suffix_order(text), sorted_by_doubling(text)):
        assert sorted(order.tolist()) == list(range(len(text)))
        # up to the end of its document: how equal tails are ordered is open
        tails = [bytes(text[place:].astype(np.uint8)).split(b"\0")[0] for place in order]
        assert tails == sorted(tails)


def test_with_and_without_pydivsufsort_the_index_is_the_same_and_words_are_more_than_two_bytes_can_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = np.random.default_rng(0)
    text = np.append(draw.integers(1, 70_000, size=5_000), 0).astype(np.uint32)
    text[100:1_000] = text[2_000:2_900]
    assert suffix_order(text).tolist() == sorted_by_doubling(text).tolist()
    monkeypatch.setitem(sys.modules, "pydivsufsort", None)
    assert match_lengths(list("abcx"), [list("xabc"), list("cx")]).tolist() == [3, 2, 2, 1]
    corpus = [[str(number) for number in range(70_000)]]
    assert match_lengths(["69997", "69998", "69999", "70000", "5"], corpus).tolist() == [3, 2, 1, 0, 1]


def test_coverage_counts_every_token_of_a_run() -> None:
    # runs of 3 at place 1 and of 2 at place 5: at n = 3 tokens 1, 2, 3 of 8 are covered; at n = 2 also 5 and 6
    lengths = [0, 3, 2, 1, 0, 2, 1, 0]
    assert coverage(lengths, 3) == 3 / 8
    assert coverage(lengths, 2) == 5 / 8
    assert coverage(lengths, 4) == 0
    # silence has no coverage, and a run has at least one token
    assert math.isnan(coverage([], 5))
    assert math.isnan(creativity_index([], [["a"]]).mean)
    with pytest.raises(ValueError, match="n is 0"):
        coverage([1], 0)
    new = creativity_index(list("abcdef"), [])
    assert (new.sum, new.mean) == (8, 1)


@given(WORDS, CORPUS, st.integers(1, 4), st.integers(0, 6))
def test_yes_or_no_look_ups_give_the_same_coverage(
    tokens: list[str], corpus: list[list[str]], shortest: int, more: int
) -> None:
    asked: list[tuple[int, int]] = []

    def stands(start: int, end: int) -> bool:
        asked.append((start, end))
        return plain_match_lengths(tokens[start:end], corpus)[0] >= end - start

    found = counted_match_lengths(len(tokens), stands, shortest, shortest + more)
    exact = match_lengths(tokens, corpus)
    for n in range(shortest, shortest + more + 1):
        assert coverage(found, n) == pytest.approx(coverage(exact, n), nan_ok=True)
    assert len(asked) <= 2 * len(tokens)


def test_spans_lie_in_no_longer_one_and_say_where_they_stand() -> None:
    corpus = [list("__abcdef__"), list("defgh")]
    found = copied_spans(TokenIndex(corpus).matches(list("abcdefgh")), shortest=4)
    # abcdef from document 0 at 2; defgh from document 1 at 0 reaches further; bcdef lies in the first
    assert found == [(0, 6, 0, 2), (3, 8, 1, 0)]


# two near pairs (cosine 0.995), one word alone; "the" and "," have no vector
VECTORS = {
    "ship": np.array([1.0, 0.0, 0.0]),
    "boat": np.array([0.995, np.sqrt(1 - 0.995**2), 0.0]),
    "stone": np.array([0.0, 0.0, 1.0]),
    "rock": np.array([0.0, np.sqrt(1 - 0.995**2), 0.995]),
    "sang": np.array([0.0, 1.0, 0.0]),
}
NEAR_NGRAMS_WORDS = st.lists(st.sampled_from(["ship", "boat", "stone", "rock", "sang", "the", ","]), max_size=9)


def plain(tokens: list[str], documents: list[list[str]], lengths: list[int], threshold: float) -> list[int]:
    """By comparing every window with every window, token by token."""

    def mean_of_best(window: list[str], other: list[str]) -> float:
        content, others = ([token for token in side if token in VECTORS] for side in (window, other))
        if len(content) < 2 or len(others) < 2:
            return -1
        best = [max(1.0 if a == b else float(VECTORS[a] @ VECTORS[b]) for b in others) for a in content]
        return sum(best) / len(best)

    found = [0] * len(tokens)
    for n in lengths:
        for start in range(len(tokens) - n + 1):
            window = tokens[start : start + n]
            for document in documents:
                for place in range(len(document) - n + 1):
                    other = document[place : place + n]
                    if min(mean_of_best(window, other), mean_of_best(other, window)) >= threshold:
                        found[start] = max(found[start], n)
    return found


@settings(deadline=None)
@given(NEAR_NGRAMS_WORDS, st.lists(NEAR_NGRAMS_WORDS, max_size=3), st.sampled_from([0.6, 0.95, 0.999]))
def test_windows_are_near_as_plain_loops_find(tokens: list[str], documents: list[list[str]], threshold: float) -> None:
    lengths = [2, 3, 5]
    found = near_matches(tokens, documents, VECTORS, lengths, threshold)
    assert found.lengths.tolist() == plain(tokens, documents, lengths, threshold)


def test_a_run_in_other_words_is_near_and_not_copied_and_stands_where_it_is_said_to_stand() -> None:
    found = near_matches(
        ["the", "ship", "sang", ",", "the", "stone"], [["the", "boat", "sang", ",", "the", "rock"]], VECTORS, [6]
    )
    assert found.lengths.tolist() == [6, 0, 0, 0, 0, 0]
    assert coverage(found.lengths, 5) == 1
    found = near_matches(["ship", "sang"], [["the"] * 5, ["the", "the", "boat", "sang"]], VECTORS, [2])
    assert (found.documents.tolist(), found.places.tolist()) == ([1, -1], [2, -1])
    # one content word is too little to be a run
    assert near_matches(["the", "ship", ","], [["the", "ship", ","]], VECTORS, [3]).lengths.tolist() == [0, 0, 0]


def test_a_window_at_the_seam_of_two_pieces_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    document = ["the"] * 7 + ["ship", "sang", "stone"] + ["the"] * 7
    for piece in range(1, 12):
        monkeypatch.setattr("genie_inspect.measures.ngrams.PIECE", piece)
        assert near_matches(["ship", "sang", "stone"], [document], VECTORS, [3]).lengths.tolist() == [3, 0, 0]


def plain_count(run: Sequence[str], corpus: Sequence[Sequence[str]]) -> int:
    """At every place of every document; the run of nothing stands at every token."""
    size = len(run)
    return sum(
        list(document[place : place + size]) == list(run)
        for document in corpus
        for place in range(len(document) - size + 1 - (not run))
    )


def plain_probability(context: Sequence[str], word: str, corpus: Sequence[Sequence[str]]) -> float:
    suffixes = (context[start:] for start in range(len(context) + 1))
    longest = next((suffix for suffix in suffixes if plain_count(suffix, corpus)), None)
    return math.nan if longest is None else plain_count([*longest, word], corpus) / plain_count(longest, corpus)


def plain_novel_share(tokens: Sequence[str], corpus: Sequence[Sequence[str]]) -> float:
    for n in range(1, len(tokens) + 1):
        absent = [not plain_count(tokens[i : i + n], corpus) for i in range(len(tokens) - n + 1)]
        if any(absent):
            return sum(absent) / len(absent)
    return 0.0


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


def novelties(runs: Sequence[Sequence[str]], corpus: Sequence[Sequence[str]] | RunCounts) -> list[tuple[float, float]]:
    """Perplexity and novel share of each run, all looked up together."""
    known = RunsInCorpus(runs, corpus)
    return [(log_perplexity(run, known), novel_share(run, known)) for run in runs]


@given(st.lists(WORDS, max_size=6), CORPUS)
def test_many_runs_at_once_are_each_as_if_alone(runs: list[list[str]], corpus: list[list[str]]) -> None:
    for run, together in zip(runs, novelties(runs, corpus), strict=True):
        alone = log_perplexity(run, corpus), novel_share(run, corpus)
        assert together == pytest.approx(alone, nan_ok=True)


@given(WORDS, CORPUS, st.lists(st.tuples(st.integers(0, 16), st.integers(0, 16)), max_size=8))
def test_counts_are_those_of_plain_counting(
    tokens: list[str], corpus: list[list[str]], places: list[tuple[int, int]]
) -> None:
    runs = [(min(pair), max(pair)) for pair in places if max(pair) <= len(tokens)]
    starts, ends = (np.array([run[side] for run in runs], dtype=np.int64) for side in (0, 1))
    expected = [plain_count(tokens[start:end], corpus) for start, end in runs]
    assert TokenIndex(corpus).counts(tokens, starts, ends).tolist() == expected


TEXT = ["the", "owl", "sat", "on", "the", "station", "clock", "and", "counted", "every", "train"]


def test_novel_shares_by_hand() -> None:
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


def test_what_of_the_context_is_unknown_is_left_off_and_a_corpus_without_tokens_tells_nothing() -> None:
    assert probability(["zzz", "on", "the"], "station", [TEXT]) == probability(["on", "the"], "station", [TEXT]) == 1
    assert probability(["zzz"], "the", [TEXT]) == probability([], "the", [TEXT]) == 2 / 11
    empty: list[Sequence[Sequence[str]]] = [[], [[]]]
    for corpus in empty:
        assert math.isnan(probability(["a"], "b", corpus))
