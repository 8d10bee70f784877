"""Classes of answers, and compression."""

import gzip
import lzma
import math
import random
import zlib
from collections.abc import Callable
from functools import partial
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.measures.compression import (
    CODECS,
    CompressedMembers,
    CompressedPopulation,
    codec_version,
    compression_novelty,
    compression_ratio,
)
from genie_inspect.measures.partition import (
    REWARD_THRESHOLDS,
    distinct_count,
    partition,
    reward_level,
    short_texts_same,
    utility,
)


def test_labels_count_up_in_order_of_first_appearance() -> None:
    assert partition(["b", "a", "b", "c", "a"], lambda first, item: first == item) == [0, 1, 0, 2, 1]


def test_an_item_is_compared_with_the_first_member_of_a_class_and_with_no_later_one() -> None:
    # 1 and 2 are near, 2 and 3 are near, 1 and 3 are not: 3 is compared with 1 alone, and founds a class
    assert partition([1, 2, 3], lambda first, item: abs(first - item) <= 1) == [0, 0, 1]


@given(st.lists(st.integers(0, 6), max_size=20))
def test_an_item_costs_at_most_one_comparison_a_class(items: list[int]) -> None:
    asked: list[tuple[int, int]] = []

    def same(first: int, item: int) -> bool:
        asked.append((first, item))
        return first == item

    labels = partition(items, same)
    founded = 0
    for item, label in zip(items, labels, strict=True):
        assert label is not None
        compared, asked = asked[: min(label + 1, founded)], asked[min(label + 1, founded) :]
        assert [other for _, other in compared] == [item] * len(compared)
        founded = max(founded, label + 1)
    assert asked == []


@given(st.lists(st.integers(0, 6), max_size=20))
def test_with_true_equality_classes_are_the_distinct_items(items: list[int]) -> None:
    labels = partition(items, lambda first, item: first == item)
    assert distinct_count(labels) == len(set(items))
    pairs = list(zip(items, labels, strict=True))
    assert all((a == b) == (x == y) for a, x in pairs for b, y in pairs)


def test_an_item_of_which_nobody_could_tell_before_a_class_says_yes_is_in_no_class_and_founds_none() -> None:
    verdicts: dict[tuple[str, str], bool | None] = {
        ("a", "b"): None, ("a", "c"): False, ("a", "d"): None, ("c", "d"): True, ("a", "e"): True, ("c", "e"): None
    }  # fmt: skip
    founders = ["a"]
    # of "d" the first class could not be judged; of "e" the yes came first: what follows does not matter
    assert partition("bcde", lambda first, item: verdicts[first, item], founders) == [None, 1, None, 0]
    assert founders == ["a", "c"]


@pytest.mark.parametrize(
    ("quality", "classes", "expected"),
    [
        # weights 1, .8, .64 sum to 2.44; the first item is in no class and adds 0
        ([0, 5, 10], [None, 0, 1], (0.8 * 5 + 0.64 * 10) / 2.44),
        # only the first of a class counts its quality, and that of a later member need not be known
        ([7, 9, 4], [0, 0, 1], (7 + 4 * 0.64) / 2.44),
        ([7, math.nan], [0, 0], 7 / 1.8),
        ([math.nan, 7], [0, 1], math.nan),
        ([], [], math.nan),
    ],
)
def test_utility_by_hand(quality: list[float], classes: list[int | None], expected: float) -> None:
    assert utility(quality, classes) == pytest.approx(expected, nan_ok=True)


def test_what_is_in_no_class_is_not_counted() -> None:
    assert distinct_count([None, 0, 1, None]) == 2
    assert distinct_count([]) == 0
    assert partition([], lambda first, item: True) == []


@given(st.lists(st.floats(1, 10), min_size=1, max_size=12), st.floats(0, 1))
def test_with_all_classes_distinct_utility_lies_between_the_qualities(quality: list[float], patience: float) -> None:
    found = utility(quality, range(len(quality)), patience)
    assert min(quality) - 1e-9 <= found <= max(quality) + 1e-9


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="2 qualities but 1 classes"):
        utility([1, 2], [0])
    with pytest.raises(ValueError, match=r"patience is 1\.5"):
        utility([1], [0], patience=1.5)
    with pytest.raises(ValueError, match="reward is NaN"):
        reward_level(math.nan)


def test_levels_step_up_just_above_each_threshold() -> None:
    for level, threshold in enumerate(REWARD_THRESHOLDS, start=1):
        assert (reward_level(threshold), reward_level(threshold + 1e-9)) == (level, level + 1)


def test_short_texts_are_compared_by_their_words() -> None:
    assert short_texts_same("The Cat", "the dog") is True  # 1 shared of 2: 2 * 1 >= 2
    assert short_texts_same("a big black cat", "the cat") is False  # 1 shared of 4: 2 < 4
    assert short_texts_same("one two three four five six", "one") is None


TEXTS = st.lists(st.text(max_size=400), min_size=1, max_size=6)


def prose(seed: int, words: int = 500) -> str:
    """Words drawn with a natural skew from a vocabulary of 4,000."""
    choice = random.Random(seed)
    vocabulary = ["".join(choice.choices("etaoinshrdlu", k=choice.randint(2, 9))) for _ in range(4_000)]
    return " ".join(vocabulary[int(4_000 * choice.random() ** 3)] for _ in range(words))


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.sampled_from([("gzip", lambda data: gzip.compress(data, 9)), ("xz", lzma.compress)]))
def test_a_ratio_counts_the_bytes_that_pythons_own_module_writes(
    texts: list[str], codec: tuple[str, Callable[[bytes], bytes]]
) -> None:
    whole = " ".join(texts).encode("utf-8", "surrogatepass")
    found = compression_ratio(texts, codec[0])
    assert math.isnan(found) if not whole else found == len(whole) / len(codec[1](whole))


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.text(max_size=400), st.sampled_from(sorted(CODECS)))
def test_novelty_is_the_difference_of_two_ratios(population: list[str], text: str, codec: str) -> None:
    expected = compression_ratio(population, codec) - compression_ratio([*population, text], codec)
    compressed = CompressedPopulation(population, codec)
    # what was compressed before can be asked twice
    for known in (population, compressed, compressed):
        found = compression_novelty(known, text, codec)
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_the_copied_compressor_writes_as_many_bytes_as_compressing_all_again() -> None:
    # beyond gzip's window of 32 KB, where state matters most: 60 stories, some 200 KB
    population = [prose(seed) for seed in range(60)]
    compressed = CompressedPopulation(population)
    for text in ["", "x", prose(99), population[0], "é" * 70_000]:
        whole = " ".join([*population, text]).encode()
        plain = " ".join(population).encode()
        assert compression_novelty(compressed, text) == len(plain) / len(gzip.compress(plain, 9)) - len(whole) / len(
            gzip.compress(whole, 9)
        )


def test_a_long_window_sees_an_exact_duplicate_and_gzip_does_not_see_one_beyond_its_own() -> None:
    population = [prose(seed, words=3_000) for seed in range(12)]  # some 200 KB, the first far out of gzip's sight
    texts = population[0], prose(50, words=3_000)
    for codec in ("xz", "zstd", "gzip"):
        duplicate, new = (compression_novelty(population, text, codec) for text in texts)
        if codec == "gzip":
            assert abs(duplicate - new) < 0.02
        else:
            assert duplicate < min(0, new)


@pytest.mark.parametrize(
    ("codec", "size", "leaving"),
    # of many members eight make way, evenly spaced: turn * 20 // 8
    [("gzip", 2, [0, 1]), ("zstd", 20, [0, 2, 5, 7, 10, 12, 15, 17])],
)
def test_a_text_takes_the_place_of_each_member_in_turn(codec: str, size: int, leaving: list[int]) -> None:
    population, new = [prose(seed, 50) for seed in range(size)], prose(99, 50)
    others = [[*population[:place], *population[place + 1 :]] for place in leaving]
    compressed = CompressedMembers(population, codec)
    assert compressed.added(new) == pytest.approx(fmean(compression_novelty(rest, new, codec) for rest in others))
    own = (compression_novelty(rest, population[place], codec) for rest, place in zip(others, leaving, strict=True))
    assert compressed.members == pytest.approx(fmean(own))


@pytest.mark.parametrize("texts", [[], ["alone"], ["", ""]])
def test_members_without_another_beside_them_are_no_zero(texts: list[str]) -> None:
    compressed = CompressedMembers(texts)
    assert math.isnan(compressed.members)
    assert math.isnan(compressed.added("a text"))


def test_a_worked_case_and_nothing_has_no_ratio() -> None:
    # "aaaa aaaa" is 9 bytes; gzip's header and trailer are 18, its deflate stream is what zlib says
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    size = 18 + len(stream.compress(b"aaaa aaaa") + stream.flush())
    assert compression_ratio(["aaaa", "aaaa"]) == 9 / size
    assert all(map(math.isnan, (compression_ratio([]), compression_ratio([""]), compression_novelty([], "a text"))))


def test_the_version_of_a_codec_names_its_library_and_an_unknown_one_is_refused_with_the_known_ones() -> None:
    assert codec_version("gzip") == f"gzip(zlib {zlib.ZLIB_RUNTIME_VERSION})"
    assert codec_version("zstd").startswith("zstd(1.")
    assert codec_version("xz") == "xz"
    for refused in (partial(compression_ratio, ["a"]), partial(CompressedPopulation, ["a"]), codec_version):
        with pytest.raises(UnknownChoiceError, match="codec is 'brotli', expected one of gzip, xz, zstd"):
            refused("brotli")
