"""Agreement of people and machines, on tables small enough to work out by hand."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from genie_inspect.agreement.figures import JudgeAgreement, agreement
from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotedStory, VotesError
from genie_inspect.statistics.agreement import krippendorff_alpha

NAN = math.nan


def ballot_of(letters: str) -> dict[str, float]:
    return {str(test): {"Y": 1.0, "N": 0.0, "-": NAN}[letter] for test, letter in enumerate(letters)}


def story(name: str, *ballots: str) -> VotedStory:
    return VotedStory(name, {rater: ballot_of(own) for rater, own in zip("abcdefgh", ballots, strict=False)})


def judged(**scores: float) -> dict[str, JudgedStory]:
    return {name: JudgedStory(name, score, {}) for name, score in scores.items()}


def verdicts(**letters: str) -> dict[str, JudgedStory]:
    return {name: JudgedStory(name, own.count("Y"), ballot_of(own)) for name, own in letters.items()}


VOTES = [story("1_a", "YY"), story("1_b", "YN"), story("1_c", "NN"), story("2_a", "YY"), story("2_b", "NN")]


IN_ORDER = {"1_a": 9, "1_b": 5, "1_c": 1}


def figures(votes: Sequence[VotedStory], scores: dict[str, JudgedStory], **options: Any) -> JudgeAgreement:
    return agreement(votes, {"mine": scores}, **{"resamples": 50} | options).judges["mine"]


def means(votes: Sequence[VotedStory], scores: dict[str, JudgedStory], **options: Any) -> dict[str, tuple[float, int]]:
    rankings = figures(votes, scores, **options).rankings
    return {name: (round(own.mean.value, 12), own.undefined) for name, own in rankings.items()}


def test_each_prompt_counts_once_whatever_its_number_of_stories_and_is_what_the_interval_resamples() -> None:
    # people: 1_a 2, 1_b 1, 1_c 0; 2_a 2, 2_b 0. The machine: the same order in prompt 1, reversed in prompt 2.
    scores = judged(**IN_ORDER, **{"2_a": 0, "2_b": 9})
    # (1 - 1) / 2, and (3/3 + 0/1) / 2
    assert means(VOTES, scores) == {"spearman": (0, 0), "kendall": (0, 0), "pairwise_accuracy": (0.5, 0)}
    mean = figures(VOTES, scores, resamples=500).rankings["spearman"].mean
    # a resample has both prompts, or one of them twice
    assert (mean.low, mean.high) == pytest.approx((-1, 1))
    # a single prompt has no interval
    assert math.isnan(figures(VOTES[:3], judged(**IN_ORDER)).rankings["spearman"].mean.low)


def test_an_undefined_correlation_is_counted_and_left_out_and_entered_as_0_on_demand() -> None:
    ties = judged(**IN_ORDER, **{"2_a": 4, "2_b": 4})
    assert means(VOTES, ties)["spearman"] == (1.0, 1)
    assert means(VOTES, ties, published_averages=True)["spearman"] == (0.5, 1)  # (1 + 0) / 2


def test_ties_count_from_both_sides_and_as_published_from_that_of_the_writer_whom_people_rate_lower() -> None:
    # people: c 0, b 1, a 2 in prompt 1, b 0 and a 2 in prompt 2; the machine ties all
    ties = judged(**dict.fromkeys(("1_a", "1_b", "1_c", "2_a", "2_b"), 4))
    for votes in (VOTES, VOTES[::-1], [VOTES[1], VOTES[3], VOTES[0], VOTES[4], VOTES[2]]):
        assert means(votes, ties)["pairwise_accuracy"] == (0.5, 0)
        # from c to a people never prefer the first, and neither does the machine
        assert means(votes, ties, published_averages=True)["pairwise_accuracy"] == (1, 0)


def test_stories_that_were_not_judged_are_left_out_and_counted() -> None:
    found = figures(VOTES, judged(**IN_ORDER | {"1_b": NAN, "2_a": 4, "2_b": 2}))
    assert found.not_judged == 1
    assert found.rankings["kendall"].mean.value == 1
    # a judge with scores alone has no agreement test by test, and length is not known
    assert all(math.isnan(interval.value) for interval in found.raters.values())
    assert found.length is None


def test_the_judge_is_held_against_the_majority_test_by_test() -> None:
    votes = [story("1_a", "YN", "YN", "NN"), story("2_a", "NN", "NY", "NN")]
    # majority Y N N N, judge Y N N Y: observed 3/4; by chance 1/4 * 1/2 + 3/4 * 1/2 = 1/2; kappa (3/4 - 1/2) / (1/2)
    raters = figures(votes, verdicts(**{"1_a": "YN", "2_a": "NY"})).raters
    assert [raters[name].value for name in ("cohen_kappa", "randolph_kappa")] == pytest.approx([0.5, 0.5])
    # a test without a verdict is in no kappa: of the judge's Y - N Y three are left, observed 2/3, by chance 1/2
    raters = figures(votes, verdicts(**{"1_a": "Y-", "2_a": "NY"})).raters
    assert raters["randolph_kappa"].value == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))


def test_people_among_themselves_are_measured_without_the_judge() -> None:
    def people(*votes: VotedStory) -> dict[str, float]:
        found = agreement(votes, {"mine": judged(**{"1_a": 1, "2_a": 0})}, resamples=50)
        assert found.raters == len(votes[0].votes)
        return {name: interval.value for name, interval in found.people.items()}

    # units Y Y, N N, N N, N Y: observed 3/4; shares 3/8 and 5/8, by chance 34/64; Fleiss (48 - 34) / (64 - 34)
    two = people(story("1_a", "YN", "YN"), story("2_a", "NN", "NY"))
    assert (two["fleiss_kappa"], two["randolph_kappa"]) == pytest.approx((14 / 30, 0.5))
    # a missing vote leaves Krippendorff's alone defined, and Cohen's is for two raters
    missing = people(story("1_a", "YN", "YN"), story("2_a", "NN", "N-"))
    assert (math.isnan(missing["fleiss_kappa"]), missing["krippendorff_alpha"]) == (True, 1)
    assert math.isnan(people(story("1_a", "YN", "YN", "YN"), story("2_a", "NN", "NY", "NN"))["cohen_kappa"])


def test_pass_rates_are_shares_of_votes_by_writer_also_of_stories_that_are_left_out() -> None:
    votes = [story("1_a", "YN", "YN"), story("2_a", "NN", "NY"), story("2_pro", "YY", "YY"), story("1_pro", "YY", "YN")]
    found = agreement(votes, {"mine": judged(**{"1_a": 1, "2_a": 0})}, leave_out=["*_pro"], resamples=50)
    assert found.pass_rates["a"] == {"0": 0.5, "1": 0.25, "average": 3 / 8}
    assert found.pass_rates["pro"]["average"] == 7 / 8
    assert (found.prompts, found.stories) == (2, 2)
    # the average counts every vote once, here 2 of 3 and not the mean of 1 and 0, and stands behind the tests in order
    votes = [story("1_a", "YN", "Y-"), story("1_b", "NNY")]
    rates = agreement(votes, {"mine": judged(**{"1_a": 2, "1_b": 1})}, resamples=20).pass_rates
    assert rates["a"] == pytest.approx({"0": 1, "1": 0, "average": 2 / 3})
    assert list(rates["b"]) == ["0", "1", "2", "average"]


@pytest.mark.parametrize(
    ("known", "lacking", "listed"),
    [
        ("1_b 1_c 2_a 2_b", "1_a", "1_b, 1_c, 2_a and 1 more"),
        ("1_a", "1_b", "1_a"),
    ],
)
def test_the_first_judge_without_a_score_of_a_story_is_named_with_up_to_three_of_its_stories_and_nothing_is_refused(
    known: str, lacking: str, listed: str
) -> None:
    # another judge lacks an earlier story
    scores = {"mine": judged(**dict.fromkeys(known.split(), 9)), "other": judged(**{"2_b": 1})}
    with pytest.raises(VotesError) as caught:
        agreement(VOTES, scores)
    said = f"story {lacking!r} has votes but no score by mine, expected one of {listed}; --leave-out leaves stories out"
    assert str(caught.value) == said
    for compared, leave_out in ((scores, ["*"]), ({}, [])):
        with pytest.raises(VotesError, match="nothing to compare"):
            agreement(VOTES, compared, leave_out=leave_out)


def test_resamples_and_seed_are_those_that_are_asked_for() -> None:
    tied = judged(**{own.story: 1.0 for own in VOTES})
    undefined = figures(VOTES, tied, resamples=7)
    assert {interval.undefined for interval in undefined.raters.values()} == {7}
    assert undefined.rankings["kendall"].mean.undefined == 7
    # the people's order in some prompts, and the opposite in others
    votes = [story(f"{prompt}_{name}", own) for prompt in range(4) for name, own in (("a", "YYYN"), ("b", "NYNN"))]
    scores = judged(**{own.story: float(place in (0, 2, 5, 7)) for place, own in enumerate(votes)})
    seeds = (0, 0, 1, 2, 3, 4)
    lows = [figures(votes, scores, resamples=9, seed=seed).rankings["kendall"].mean.low for seed in seeds]
    assert lows[0] == lows[1]
    assert len(set(lows)) > 1


def rated(name: str, *ratings: tuple[float, ...], plot: str = "", source: str = "") -> VotedStory:
    votes = {f"r{index}": {str(test): value for test, value in enumerate(own)} for index, own in enumerate(ratings)}
    return VotedStory(name, votes, plot, source)


NUMBERS = [
    rated("x", (7, 5), (5, 7), plot="1", source="gpt"),
    rated("y", (3, 1), (1, 3), plot="1", source="human"),
    rated("z", (4, 4), (4, 4), plot="1", source="gpt"),
]


def test_numbers_rank_stories_of_one_plot_by_the_mean_over_tests_of_their_means() -> None:
    # people: x 6, y 2, z 4; the machine puts x before z before y
    found = agreement(NUMBERS, {"mine": judged(x=3, y=1, z=2)}, resamples=20)
    rankings = found.judges["mine"].rankings
    assert (found.prompts, found.scale) == (1, (1.0, 7.0))
    assert [rankings[name].mean.value for name in rankings] == pytest.approx([1, 1, 1])
    assert found.pass_rates["gpt"]["average"] == 5  # (7 + 5 + 5 + 7 + 4 * 4) / 8
    # people agree by the order of their numbers, and have no kappa
    assert list(found.people) == ["krippendorff_alpha"]
    units = [story.votes[rater][test] for rater in ("r0", "r1") for story in NUMBERS for test in ("0", "1")]
    assert found.people["krippendorff_alpha"].value == pytest.approx(
        krippendorff_alpha(np.array(units).reshape(2, -1), "ordinal")
    )


def test_a_judge_that_gives_numbers_is_held_against_the_median_and_passes_against_nothing() -> None:
    same = {story.story: JudgedStory(story.story, 1, story.medians()) for story in NUMBERS}
    passing = {story.story: JudgedStory(story.story, 1, {"0": 1.0, "1": 0.0}) for story in NUMBERS}
    found = agreement(NUMBERS, {"same": same, "passing": passing}, resamples=20)
    assert found.judges["same"].raters["krippendorff_alpha"].value == 1
    assert math.isnan(found.judges["passing"].raters["krippendorff_alpha"].value)


def test_length_alone_stands_beside_each_judge_and_what_is_left_without_it() -> None:
    # people like the longer stories of each prompt better; one judge counts words, one nearly does
    votes = [
        story(f"{prompt}_{name}", ballot) for prompt in (1, 2) for name, ballot in zip("abcd", BALLOTS, strict=True)
    ]
    words = {own.story: 100.0 * place for place, own in enumerate(votes)}
    counting = {name: JudgedStory(name, length, {}, words=length) for name, length in words.items()}
    other = judged(**{own.story: len(own.majority()) - place % 2 for place, own in enumerate(votes)})
    found = agreement(votes, {"counting": counting, "other": other}, resamples=50)
    lengths = {name: judge.length or {} for name, judge in found.judges.items()}
    # NNN, YNN, YYN, YYY: 0 to 3 tests, in the order of words
    assert [own["length_alone"].value for own in lengths.values()] == pytest.approx([1, 1])
    assert lengths["counting"]["as_it_is"].value == pytest.approx(1)
    assert math.isnan(lengths["counting"]["partial"].value)


BALLOTS = ("NNN", "YNN", "YYN", "YYY")
