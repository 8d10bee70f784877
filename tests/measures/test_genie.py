"""Novelty from ratings, Likert tests, classes of answers, and compression."""

import gzip
import lzma
import math
import random
import zlib
from functools import partial
from statistics import fmean, variance

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.measures import likert
from genie_inspect.measures.compression import (
    CODECS,
    CompressedMembers,
    CompressedPopulation,
    codec_version,
    compression_novelty,
    compression_ratio,
)
from genie_inspect.measures.genie import (
    MIN_COVERAGE,
    collapsed,
    feature_novelty,
    is_used,
    nearest_novelty,
    question_novelty,
    represented,
    similarity,
    strata,
    usable_ratings,
    variances,
)
from genie_inspect.measures.likert import order_bias, win_rate
from genie_inspect.measures.partition import (
    REWARD_THRESHOLDS,
    partition,
    reward_level,
    short_texts_same,
    utility,
)

nan = pytest.approx(math.nan, nan_ok=True)
any_rating = st.one_of(st.none(), st.floats(), st.integers(-1, 6))
usable_rating = st.floats(1, 4)


@pytest.mark.parametrize(
    ("rating", "expected"),
    [
        *((1, 0.0), (2, 1 / 3), (3, 2 / 3), (4, 1.0)),
        (2.5, 0.5),  # 1.5 / 3: an offline judge rates between the numbers
        *((rating, math.nan) for rating in (0, None, math.nan, 0.999, 4.001, 5, -1, math.inf, -math.inf)),
    ],
)
def test_similarity_stretches_one_to_four_over_nothing_to_everything(rating: float | None, expected: float) -> None:
    assert similarity(rating) == pytest.approx(expected, nan_ok=True)


def nearest_of(ratings: list[float | None]) -> float:
    return nearest_novelty([similarity(rating) for rating in usable_ratings(ratings)])


@pytest.mark.parametrize(
    ("ratings", "expected", "nearest"),
    [
        ([4], 0.0, 0.0),  # 1 - 1
        ([1], 1.0, 1.0),  # 1 - 0
        ([1, 4], 0.5, 0.0),  # 1 - (0 + 1) / 2
        ([1, 2, 3, 4], 0.5, 0.0),  # 1 - (0 + 1/3 + 2/3 + 1) / 4
        ([1, 1, 1, 2], 11 / 12, 2 / 3),  # 1 - (1/3) / 4; the highest is 1/3
        ([3, 3, 0, None], 1 / 3, 1 / 3),  # 1 - (2/3 + 2/3) / 2: two do not count, neither above nor below the line
        ([4, 5, math.nan], 0.0, 0.0),  # 1 - 1 / 1
        *((ratings, math.nan, math.nan) for ratings in ([], [0], [None, None], [0, 5, math.nan])),
    ],
)
def test_question_novelty_is_one_minus_the_mean_similarity_and_nearest_minus_the_highest(
    ratings: list[float | None], expected: float, nearest: float
) -> None:
    assert question_novelty(iter(ratings)) == pytest.approx(expected, nan_ok=True)
    assert nearest_of(ratings) == pytest.approx(nearest, nan_ok=True)


@given(st.lists(usable_rating, min_size=1), st.lists(st.sampled_from([0, None, math.nan, 7])), st.data())
def test_neither_order_nor_unusable_ratings_matter_and_a_higher_one_never_makes_more_novel(
    ratings: list[float], unusable: list[float | None], data: st.DataObject
) -> None:
    novelty = question_novelty(ratings)
    assert question_novelty([*sorted(ratings), *unusable]) == novelty
    place = data.draw(st.integers(0, len(ratings) - 1))
    raised = [*ratings[:place], data.draw(st.floats(ratings[place], 4)), *ratings[place + 1 :]]
    assert question_novelty(raised) <= novelty + 1e-12


def test_a_question_is_used_with_so_many_of_its_ratings() -> None:
    def used(usable: int, due: int, min_coverage: float = MIN_COVERAGE) -> bool:
        # neither 0 nor 7 is a rating
        lost = [(None, 0, 7)[place % 3] for place in range(due - usable)]
        return is_used(iter([2] * usable + lost), min_coverage)

    assert [used(5, 12), used(6, 12)] == [False, True], "half is enough"
    assert [used(0, 12, 0), used(1, 12, 0), used(0, 0, 0)] == [False, True, False], "one will do but not none"
    assert [used(11, 12, 1), used(12, 12, 1)] == [False, True]


FEATURE_OF = {"q1": "plot", "q2": "plot", "q3": "plot", "q4": "style", "q5": "setting"}


@pytest.mark.parametrize(
    ("novelty", "feature_of", "expected"),
    [
        # plot: (0.5 + 1.0) / 2 = 0.75, q3 does not count; style: 0.25 / 1; setting: nothing usable
        (
            {"q1": 0.5, "q2": 1.0, "q3": math.nan, "q4": 0.25, "q5": math.nan},
            FEATURE_OF,
            {"plot": 0.75, "style": 0.25, "setting": nan},
        ),
        # asked without an entry is unusable; a feature without questions is absent
        ({"q1": 0.5}, FEATURE_OF, {"plot": 0.5, "style": nan, "setting": nan}),
        ({"q1": 0.5}, {"q1": "plot"}, {"plot": 0.5}),
        ({}, {}, {}),
    ],
)
def test_feature_novelty_is_the_mean_over_its_usable_questions(
    novelty: dict[str, float], feature_of: dict[str, str], expected: dict[str, float]
) -> None:
    assert feature_novelty(novelty, feature_of) == expected
    with pytest.raises(ValueError, match="question 'q9' has a novelty but no feature"):
        feature_novelty(novelty | {"q9": 0.5}, feature_of)


VERDICTS = range(-2, 3)


def test_a_score_is_how_much_better_the_candidate_is_passes_from_the_cutoff_on_and_a_preferred_place_cancels() -> None:
    # points of the story that came first; the score is candidate first minus reference first
    assert [likert.test_score(2, points) for points in VERDICTS] == [-4, -3, -2, -1, 0]
    assert [likert.test_score(points, -2) for points in VERDICTS] == [0, -1, -2, -3, -4]
    assert [likert.passes(score) for score in (-3, -2)] == [False, True]
    assert [likert.passes(score, cutoff=0) for score in (-1, 0)] == [False, True]
    for points in VERDICTS:
        assert likert.test_score(2 + points, -1 + points) == likert.test_score(2, -1) == -3
        assert likert.position_bias([(points, points)]) == points
    assert likert.position_bias([(2, 2), (2, -2)]) == 1
    assert [likert.scale_cutoff(levels) for levels in (3, 5, 7)] == [-1, -2, -3]


def test_orders_agree_when_both_name_the_same_story_or_none_and_what_was_not_judged_counts_in_no_sum() -> None:
    assert all(likert.orders_agree(*both) for both in ((2, -1), (-1, 2), (0, 0)))
    assert not any(likert.orders_agree(*both) for both in ((1, 1), (-2, -1), (0, 1), (1, 0)))
    results = [1.0, math.nan, 0.0, 1.0]
    assert (likert.passed(results), likert.pass_share(results)) == (2, 2 / 3)
    assert [likert.passed([math.nan]), likert.pass_share([]), likert.position_bias([])] == [nan, nan, nan]


@pytest.mark.parametrize(
    ("first", "second", "rate", "bias"),
    [
        ([1, 1], [0, 0], 1, 0),
        ([0.5], [0.5], 0.5, 0),
        ([1, 1, 1], [1, 1, 1], 0.5, 1),  # a judge that always prefers the first story decides nothing
        ([0], [0], 0.5, -1),
        ([1, 1], [1, 0], 0.75, 0.5),
        ([1], [], nan, nan),
        ([], [1], nan, nan),
    ],
)
def test_win_rate_and_order_bias_by_hand_and_with_the_stories_swapped(
    first: list[float], second: list[float], rate: float, bias: float
) -> None:
    assert (win_rate(first, second), order_bias(first, second)) == (rate, bias)
    if first and second:
        assert (win_rate(second, first), order_bias(second, first)) == (1 - rate, bias)


def test_labels_count_up_in_order_of_first_appearance_by_the_first_members_alone() -> None:
    assert partition(["b", "a", "b", "c", "a"], lambda first, item: first == item) == [0, 1, 0, 2, 1]
    assert partition([], lambda first, item: True) == []
    # 1 and 2 are near, 2 and 3 are near, 1 and 3 are not: 3 is compared with 1 alone, and founds a class
    assert partition([1, 2, 3], lambda first, item: abs(first - item) <= 1) == [0, 0, 1]


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


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.text(max_size=400), st.sampled_from(sorted(CODECS)))
def test_a_ratio_counts_the_bytes_that_are_written_and_novelty_is_the_difference_of_two(
    population: list[str], text: str, codec: str
) -> None:
    whole = " ".join(population).encode("utf-8", "surrogatepass")
    written = {"gzip": lambda: gzip.compress(whole, 9), "xz": lambda: lzma.compress(whole)}
    if whole and codec in written:
        assert compression_ratio(population, codec) == len(whole) / len(written[codec]())
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
        plain, whole = " ".join(population).encode(), " ".join([*population, text]).encode()
        before, after = (len(data) / len(gzip.compress(data, 9)) for data in (plain, whole))
        assert compression_novelty(compressed, text) == before - after


def test_a_long_window_sees_an_exact_duplicate_and_gzip_does_not_see_one_beyond_its_own() -> None:
    population = [prose(seed, words=3_000) for seed in range(12)]  # some 200 KB, the first far out of gzip's sight
    texts = population[0], prose(50, words=3_000)
    for codec in ("xz", "zstd"):
        duplicate, new = (compression_novelty(population, text, codec) for text in texts)
        assert duplicate < min(0, new)
    duplicate, new = (compression_novelty(population, text) for text in texts)
    assert abs(duplicate - new) < 0.02


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
    # without another beside them members are no zero
    for texts in ([], ["alone"], ["", ""]):
        compressed = CompressedMembers(texts)
        assert all(map(math.isnan, (compressed.members, compressed.added("a text"))))


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


PREDICTED = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


@given(predicted=PREDICTED, count=st.integers(2, 12), constant=st.integers(-3, 3))
def test_strata_hold_every_place_once_by_falling_prediction_with_the_nearest_alone(
    predicted: list[float], count: int, constant: int
) -> None:
    parts = [part.tolist() for part in strata(predicted, count)]
    ordered = [place for part in parts for place in part]
    assert sorted(ordered) == list(range(len(predicted)))
    assert [predicted[place] for place in ordered] == sorted(predicted, reverse=True)
    assert len(parts) == min(count, len(predicted))
    assert len(parts[0]) == 1
    sizes = [len(part) for part in parts[1:]]
    assert not sizes or max(sizes) - min(sizes) <= 1
    # the order alone counts: eighths, which a constant does not round
    eighths = [round(value * 8) / 8 for value in predicted]
    of_both = (strata([value + shift for value in eighths], count) for shift in (constant, 0))
    assert all(map(np.array_equal, *of_both))


def test_every_place_of_a_stratum_is_drawn_as_often_so_that_the_mean_is_unbiased_whatever_is_predicted() -> None:
    draw = random.Random(0)
    similarities = [draw.random() for _ in range(11)]
    for predicted in (similarities, [draw.random() for _ in similarities], [0.0] * 11):
        parts = strata(predicted, 4)
        sizes = [len(part) for part in parts]
        weights = represented(sizes, [True] * len(parts))
        assert weights == sizes
        # over all draws: each stratum's mean stands for it
        means = [fmean(similarities[place] for place in part) for part in parts]
        expected = sum(size * mean for size, mean in zip(sizes, means, strict=True))
        assert expected / 11 == pytest.approx(fmean(similarities))


@pytest.mark.parametrize(
    ("usable", "expected"),
    [
        ([True, True, True, True], [1, 5, 5, 4]),
        # the nearest of the strata stands for a lost one, the first of two
        ([True, False, True, True], [6, 0, 5, 4]),
        ([False, True, True, False], [0, 6, 9, 0]),
        ([False, False, False, True], [0, 0, 0, 15]),
        ([False] * 4, [0] * 4),
    ],
)
def test_what_is_lost_is_represented_by_the_stratum_beside_it(usable: list[bool], expected: list[int]) -> None:
    assert represented([1, 5, 5, 4], usable) == expected


def test_the_variance_is_that_of_collapsed_strata_with_a_finite_population() -> None:
    # by hand: ten units, of which the first two are known; pairs of 4 + 4 and nothing else
    (group,) = collapsed([1.0, 0.0, 0.6, 0.2], [1, 1, 4, 4])
    assert group == pytest.approx((64 * (1 - 2 / 8) / 2 / 100, variance([0.6, 0.2])))
    # five uncertain ones: a pair and three
    two, three = collapsed([0.9, 0.5, 0.4, 0.1, 0.0, 0.1], [1, 3, 3, 3, 2, 2])
    assert two == pytest.approx((36 * (1 - 2 / 6) / 2 / 196, variance([0.5, 0.4])))
    assert three == pytest.approx((49 * (1 - 3 / 7) / 3 / 196, variance([0.1, 0.0, 0.1])))
    assert variances([[two, three]], ["plot"]) == pytest.approx([two[0] * two[1] + three[0] * three[1]])


def test_variances_within_groups_are_pooled_over_questions_by_place_and_a_feature_is_wider_or_narrower() -> None:
    one, other = [(0.2, 0.1), (0.3, 0.4)], [(0.1, 0.3)]
    # by hand, pooled by place: 0.2 and 0.4, so that 0.16 are expected of plot, 0.02 of style. Plot has 0.14, from two
    # groups beside four; style 0.03, from one beside four
    found = variances([one, other, []], ["plot", "style", "style"])
    assert found == pytest.approx([0.16 * (2 * 0.875 + 4) / 6, 0.02 * (1.5 + 4) / 5, 0.0])


def test_where_all_is_rated_there_is_no_error_and_of_one_uncertain_stratum_none_is_known() -> None:
    assert collapsed([0.1, 0.5, 0.9], [1, 1, 1]) == []
    ((factor, within),) = collapsed([1.0, 0.5], [1, 4])
    assert (factor, math.isnan(within)) == (16 * (1 - 1 / 4) / 25, True)
    assert math.isnan(variances([[(factor, within)]], ["plot"])[0])
    # another question's pairs say it
    assert variances([[(factor, within)], [(0.1, 0.2)]], ["plot", "style"]) == pytest.approx([factor * 0.2, 0.1 * 0.2])
