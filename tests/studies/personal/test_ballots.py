"""Votes with the scores beside them, and what becomes of those without."""

import math

import numpy as np
import pytest

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotedStory, VotesError
from genie_inspect.studies.personal.ballots import Ballots, Choice, ballots

YES, NO = 1.0, 0.0


def judged(*stories: JudgedStory) -> dict[str, dict[str, JudgedStory]]:
    return {"critic": {story.story: story for story in stories}}


STORIES = [
    VotedStory("1_GPT4", {"ann": {"01": YES, "02": NO}, "bob": {"01": NO}}),
    VotedStory("1_Claude", {"ann": {"01": NO, "02": YES}}),
    VotedStory("2_GPT4", {"bob": {"01": YES}}),
]
SCORES = judged(*(JudgedStory(story.story, 1, {"01": 1.0, "02": 0.0}) for story in STORIES))


def made(choice: Choice | None = None, scores: dict[str, dict[str, JudgedStory]] | None = None) -> Ballots:
    return ballots(STORIES, SCORES if scores is None else scores, choice or Choice())


def test_a_row_is_a_vote_with_its_story_plot_test_rater_source_and_score() -> None:
    rows = made()
    assert (len(rows), rows.scale) == (6, (0.0, 1.0))
    assert (rows.stories.names, rows.plots.names) == (("1_GPT4", "1_Claude", "2_GPT4"), ("1", "2"))
    assert rows.sources is not None
    assert rows.sources.names == ("GPT4", "Claude")
    assert rows.levels.tolist() == [1, 0, 0, 0, 1, 1]
    assert rows.scores[:, 0].tolist() == [1, 0, 1, 1, 0, 1]
    assert rows.left_out == {}


def test_some_rows_keep_all_names() -> None:
    some = made().at(np.array([5]))
    assert (some.raters.names, some.raters.codes.tolist()) == (("ann", "bob"), [1])
    assert (len(some), some.scale) == (1, (0.0, 1.0))


def test_a_plot_is_told_by_the_file_or_by_the_id() -> None:
    own = [VotedStory("x", {"ann": {"01": YES}}, plot="p"), VotedStory("y", {"ann": {"01": NO}})]
    scores = judged(*(JudgedStory(story.story, 1, {"01": 1.0}) for story in own))
    assert ballots(own, scores, Choice(plot=lambda story: story * 2)).plots.names == ("p", "yy")


def test_only_tests_and_stories_that_are_asked_for_count() -> None:
    assert len(made(Choice(tests=("01",)))) == 4
    assert made(Choice(leave_out=("*_Claude",))).stories.names == ("1_GPT4", "2_GPT4")


def test_people_and_machines_are_two_sources_where_people_are_named() -> None:
    sources = made(Choice(humans=("Claude",))).sources
    assert sources is not None
    assert sources.names == ("machine", "human")


def test_a_human_who_wrote_nothing_is_refused() -> None:
    with pytest.raises(VotesError, match="no story is by 'NewYorker', expected one of GPT4, Claude"):
        made(Choice(humans=("NewYorker",)))


def test_one_source_throughout_is_none() -> None:
    assert made(Choice(leave_out=("*_Claude",))).sources is None


def test_votes_on_unknown_stories_are_left_out_and_counted() -> None:
    scores = judged(*(SCORES["critic"][name] for name in ("1_GPT4", "1_Claude")))
    rows = made(scores=scores)
    assert (len(rows), rows.left_out) == (5, {"on stories without a score: 2_GPT4": 1})


def test_votes_on_a_test_that_no_grader_judged_are_left_out_and_counted() -> None:
    scores = judged(*(JudgedStory(story.story, 1, {"01": 1.0, "02": math.nan}) for story in STORIES))
    rows = made(scores=scores)
    assert (rows.tests.names, rows.left_out) == (("01",), {"on tests that no grader judged: 02": 2})


def test_votes_that_lack_one_of_two_graders_are_left_out_and_counted() -> None:
    other = {"1_GPT4": JudgedStory("1_GPT4", 1, {"01": 1.0, "02": 1.0})}
    rows = made(scores=SCORES | {"other": other})
    assert rows.left_out == {"without a score by every grader: 1_Claude, 2_GPT4": 3}


def test_no_vote_with_a_score_is_one_line() -> None:
    with pytest.raises(VotesError, match="no vote has scores beside it: 6 on stories without a score: 1_GPT4, 1_Cl"):
        made(scores=judged(JudgedStory("9_GPT4", 1, {"01": 1.0})))


def test_votes_that_are_all_alike_are_refused() -> None:
    with pytest.raises(VotesError, match="all 1 votes are 1, expected some of another kind"):
        made(Choice(leave_out=("1_*",)))


def test_no_vote_at_all_is_refused() -> None:
    with pytest.raises(VotesError, match="no vote is left"):
        made(Choice(tests=("99",)))


def test_a_rater_cannot_have_the_name_of_all() -> None:
    with pytest.raises(VotesError, match="a rater has the id 'all'"):
        ballots([VotedStory("1_GPT4", {"all": {"01": YES}})], SCORES, Choice())


def test_more_numbers_than_steps_of_a_scale_are_refused() -> None:
    own = [VotedStory("1_GPT4", {f"r{number}": {"01": number / 7} for number in range(30)})]
    with pytest.raises(VotesError, match="30 different numbers, expected at most 20"):
        ballots(own, SCORES, Choice())


def test_a_grader_without_verdicts_on_the_tests_counts_by_its_values() -> None:
    genie = JudgedStory("1_GPT4", math.nan, {}, values={"plot": 0.4, "style": 0.7}, scorer="genie", signature="s")
    other = JudgedStory("2_GPT4", math.nan, {}, values={"plot": 0.5, "style": 0.6}, scorer="genie", signature="s")
    rows = made(scores={"genie": {"1_GPT4": genie, "2_GPT4": other}})
    assert [(source.name, source.key, source.scorer) for source in rows.columns] == [
        ("genie plot", "plot", "genie"),
        ("genie style", "style", "genie"),
    ]
    assert rows.scores[0].tolist() == [0.4, 0.7]


def test_keys_say_which_values_count_beside_the_tests() -> None:
    both = JudgedStory("1_GPT4", 9, {"01": 1.0, "02": 0.0}, values={"ttcw_total": 9.0, "ttcw_01": 1.0}, scorer="ttcw")
    assert [source.key for source in made(scores=judged(both)).columns] == [""]
    rows = made(Choice(keys=("ttcw_total",)), judged(both))
    assert [source.key for source in rows.columns] == ["", "ttcw_total"]
    with pytest.raises(VotesError, match="no score has a key 'plot'"):
        made(Choice(keys=("plot",)), judged(both))


def test_points_count_where_they_are_asked_for() -> None:
    both = JudgedStory("1_GPT4", 9, {"01": 1.0, "02": 0.0}, {"01": -1.0, "02": -4.0})
    rows = made(Choice(points=True), judged(both))
    assert rows.scores[:, 0].tolist() == [-1, -4, -1]
    with pytest.raises(VotesError, match="the scores have no points on the tests 01, 02, and no other value"):
        made(Choice(points=True))


def test_a_score_from_a_file_without_tests_counts_as_it_is() -> None:
    scores = judged(*(JudgedStory(story.story, number, {}) for number, story in enumerate(STORIES)))
    rows = made(scores=scores)
    assert ([source.key for source in rows.columns], rows.scores[-1].tolist()) == (["score"], [2.0])
