"""The arithmetic of a judge, by hand."""

import functools
import json
import math
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.studies.personal.made import column, judge

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotedStory, VotesError
from genie_inspect.signature import digest
from genie_inspect.studies.personal.ballots import Ballots, ballots
from genie_inspect.studies.personal.fitting import fit_judge
from genie_inspect.studies.personal.judge import (
    Figure,
    HeldOut,
    PersonalError,
    PersonalJudge,
    RaterTerms,
    forget,
    read_folder,
    write_folder,
)
from genie_inspect.studies.personal.power import World, simulated


def made(**other: object) -> PersonalJudge:
    return PersonalJudge.model_validate(judge().model_dump() | other)


def test_of_numbers_the_expected_one_counts_the_steps_between() -> None:
    opinion = made(scale=(1, 2, 5), thresholds=(-1, 1)).opinion("cy", "01", {"critic|a": 0.7})
    assert opinion is not None
    # 0.4 above the mean, 0.5 is one spread: log-odds 0.4, as far from the thresholds as 1.4 and -0.6
    first, second = (1 / (1 + math.exp(-log_odds)) for log_odds in (1.4, -0.6))
    assert opinion["expected"] == pytest.approx(1 + first + 3 * second)


def test_a_rater_stands_out_beyond_the_error_that_all_raters_share() -> None:
    assert [judge().leaning(rater) for rater in judge().raters] == ["more lenient", "harsher", ""]
    # 2.1 errors are beyond the bound of one rater, 1.96, and within that of two, 2.24
    pair = {name: RaterTerms(votes=9, leniency=0.21, error=0.1) for name in ("ann", "bob")}
    assert not made(raters=pair).leaning("ann")
    assert made(raters={"ann": pair["ann"]}).leaning("ann") == "more lenient"


@pytest.mark.parametrize(
    "other",
    [
        {"scale": (1, 0)},
        {"scale": (1,)},
        {"thresholds": (1, 1)},
        {"thresholds": (math.inf,)},
        {"thresholds": (0.1, 0.2)},
        {"tests": {"01": 1e308}},
        {"columns": (column().model_dump() | {"spread": 5e-324},)},
        {"format": 2},
        {"votes": {"ann": [1, 0]}},
    ],
)
def test_what_is_no_judge_is_refused(other: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        made(**other)


ANN = "ann-1f3c"  # stands nowhere else
BALLOTS, *_ = simulated(World(stories=24, tests=2, raters=4, leniency=1.0), 0)
RATERS = replace(BALLOTS.raters, names=(ANN, *BALLOTS.raters.names[1:]))


@functools.cache
def fit() -> tuple[PersonalJudge, HeldOut]:
    return fit_judge(replace(BALLOTS, raters=RATERS), resamples=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(*fit(), tmp_path / "taste")
    return tmp_path / "taste"


def test_what_was_written_is_read_back(folder: Path) -> None:
    assert read_folder(folder, ANN) == fit()
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "judge.json", "figures.json", "README.md"}


def test_a_rater_who_is_forgotten_stands_in_no_file_any_more(folder: Path) -> None:
    known, _ = fit()
    assert forget(folder, ANN) == known.raters[ANN].votes
    assert not [path for path in folder.iterdir() if ANN in path.read_text(encoding="utf-8")]
    judge, figures = read_folder(folder, None)
    assert len(judge.raters) == len(known.raters) - 1
    assert ANN not in figures.raters
    assert judge.tests == known.tests


def sealed(folder: Path, name: str, change: Callable[[Any], object]) -> None:
    """Change a file, and its digest with it, as somebody who makes such a folder by hand would."""
    fields, manifest = (json.loads((folder / file).read_text(encoding="utf-8")) for file in (name, "manifest.json"))
    change(fields)
    text = json.dumps(fields)
    manifest["digests"][name] = digest(text)
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def changed(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def linked(name: str, target: str) -> Callable[[Path], None]:
    def link(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(target)

    return link


def piped(folder: Path) -> None:
    (folder / "judge.json").unlink()
    os.mkfifo(folder / "judge.json")


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: sealed(folder, "figures.json", lambda own: own["raters"].clear()), "has no figures of rater"),
        (lambda folder: sealed(folder, "figures.json", lambda own: own.update(model="x")), "no gain of the model 'x'"),
        (lambda folder: sealed(folder, "judge.json", lambda own: own.update(tests={"01": math.nan})), "finite number"),
        (lambda folder: (folder / "judge.json").write_bytes(pickle.dumps([])), "is not what was written"),
        (lambda folder: os.truncate(folder / "judge.json", 10**12), "expected at most 268,435,456"),
        (linked("judge.json", "/dev/zero"), "it is not a file"),
        (lambda folder: changed(folder, "judge.json", "0.", "1."), r"judge\.json is not what was written, by its dig"),
        (lambda folder: changed(folder, "figures.json", "0.", "1."), r"figures\.json is not what was written, by its"),
        (lambda folder: changed(folder, "manifest.json", "made_by", "x"), r"manifest\.json, field (made_by|x)"),
        (lambda folder: (folder / "manifest.json").unlink(), r"json cannot be read: .*, expected a folder by genie ra"),
        (linked("README.md", "../victim"), "README.md is a link"),
        (piped, "it is not a file"),
    ],
)
def test_a_folder_of_somebody_s_making_is_one_line_and_nothing_beside_it_is_written(
    spoil: Callable[[Path], object], named: str, folder: Path
) -> None:
    (folder.parent / "victim").write_text("mine")
    spoil(folder)
    with pytest.raises(PersonalError, match=named):
        forget(folder, ANN)
    assert (folder.parent / "victim").read_text() == "mine"


def test_a_card_shows_names_as_text(folder: Path) -> None:
    hostile = "<img src=x>|`a`\n# b"
    sealed(folder, "figures.json", lambda own: own["models"].update({hostile: next(iter(own["models"].values()))}))
    forget(folder, ANN)
    assert "(img src=x)/'a' # b" in (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("gain", "plots", "said"),
    [
        ((-0.02, -0.03, -0.01), 12, "Better than the grader alone by 0.0200 [0.0100, 0.0300] in log loss a vote."),
        ((-0.02, -0.05, 0.01), 12, "Cannot be told from the grader alone: better by 0.0200 [-0.0100, 0.0500] in log"),
        ((0.02, 0.01, 0.03), 12, "Worse than the grader alone by 0.0200 [0.0100, 0.0300] in log loss a vote: "),
        ((-0.02, -0.03, -0.01), 7, "Cannot be told from the grader alone: 7 plots are too few for an interval, expe"),
    ],
)
def test_the_sentence_claims_no_more_than_the_interval(gain: tuple[float, float, float], plots: int, said: str) -> None:
    figure = Figure(**dict(zip(("value", "low", "high"), gain, strict=True)))
    _, known = fit()
    figures = known.model_copy(update={"gains": {known.model: figure}, "plots": plots})
    assert figures.sentence.startswith(said)


def judged(*stories: JudgedStory) -> dict[str, dict[str, JudgedStory]]:
    return {"critic": {story.story: story for story in stories}}


STORIES = [
    VotedStory("1_GPT4", {"ann": {"01": 1, "02": 0}, "bob": {"01": 0}}),
    VotedStory("1_Claude", {"ann": {"01": 0, "02": 1}}),
    VotedStory("2_GPT4", {"bob": {"01": 1}}),
]
SCORES = judged(*(JudgedStory(story.story, 1, {"01": 1.0, "02": 0.0}) for story in STORIES))


def joined(scores: dict[str, dict[str, JudgedStory]] = SCORES, **choice: Any) -> Ballots:
    return ballots(STORIES, scores, **choice)


def test_a_row_is_a_vote_with_its_story_plot_test_rater_source_and_score() -> None:
    rows = joined()
    assert (len(rows), rows.scale) == (6, (0.0, 1.0))
    assert (rows.stories.names, rows.plots.names) == (("1_GPT4", "1_Claude", "2_GPT4"), ("1", "2"))
    assert rows.sources is not None
    assert rows.sources.names == ("GPT4", "Claude")
    assert rows.levels.tolist() == [1, 0, 0, 0, 1, 1]
    assert rows.scores[:, 0].tolist() == [1, 0, 1, 1, 0, 1]
    assert rows.left_out == {}


def test_tests_stories_plots_and_people_are_those_that_are_asked_for() -> None:
    assert len(joined(tests=("01",))) == 4
    gpt = joined(leave_out=("*_Claude",))
    assert gpt.stories.names == ("1_GPT4", "2_GPT4")
    assert gpt.sources is None, "one throughout"
    sources = joined(humans=("Claude",)).sources
    assert sources is not None
    assert sources.names == ("machine", "human")
    # the plot by the file, else by the id
    own = [VotedStory("x", {"ann": {"01": 1}}, plot="p"), VotedStory("y", {"ann": {"01": 0}})]
    scores = judged(*(JudgedStory(story.story, 1, {"01": 1.0}) for story in own))
    assert ballots(own, scores, plot=lambda story: story * 2).plots.names == ("p", "yy")


OTHER = {"1_GPT4": JudgedStory("1_GPT4", 1, {"01": 1.0, "02": 1.0})}


@pytest.mark.parametrize(
    ("scores", "votes", "left_out"),
    [
        (judged(*list(SCORES["critic"].values())[:2]), 5, {"on stories without a score: 2_GPT4": 1}),
        (
            judged(*(JudgedStory(story.story, 1, {"01": 1.0, "02": math.nan}) for story in STORIES)),
            4,
            {"on tests that no grader judged: 02": 2},
        ),
        (SCORES | {"other": OTHER}, 3, {"without a score by every grader: 1_Claude, 2_GPT4": 3}),
    ],
)
def test_votes_without_every_score_are_left_out_and_counted(
    scores: dict[str, dict[str, JudgedStory]], votes: int, left_out: dict[str, int]
) -> None:
    rows = joined(scores=scores)
    assert (len(rows), rows.left_out) == (votes, left_out)


@pytest.mark.parametrize(
    ("stories", "scores", "choice", "said"),
    [
        (STORIES, SCORES, {"humans": ("NewYorker",)}, "no story is by 'NewYorker', expected one of GPT4, Claude"),
        (STORIES, judged(JudgedStory("9_GPT4", 1, {"01": 1})), {}, "beside it: 6 on stories without a score: 1_GPT4, "),
        (STORIES, SCORES, {"leave_out": ("1_*",)}, "all 1 votes are 1, expected votes that differ"),
        (STORIES, SCORES, {"tests": ("99",)}, "no vote is left"),
        ([VotedStory("1_GPT4", {"all": {"01": 1}})], SCORES, {}, "a rater has the id 'all'"),
        (
            [VotedStory("1_GPT4", {f"r{n}": {"01": n / 7} for n in range(30)})],
            SCORES,
            {},
            "30 different numbers, exp",
        ),
    ],
)
def test_votes_that_teach_nothing_are_refused(
    stories: list[VotedStory], scores: dict[str, dict[str, JudgedStory]], choice: dict[str, Any], said: str
) -> None:
    with pytest.raises(VotesError, match=said):
        ballots(stories, scores, **choice)


def test_a_grader_without_verdicts_on_the_tests_counts_by_its_values_or_its_score() -> None:
    values = {"1_GPT4": {"plot": 0.4, "style": 0.7}, "2_GPT4": {"plot": 0.5, "style": 0.6}}
    genie = {
        name: JudgedStory(name, math.nan, {}, values=own, scorer="genie", signature="s") for name, own in values.items()
    }
    rows = joined(scores={"genie": genie})
    names = [(source.name, source.key, source.scorer) for source in rows.columns]
    assert names == [(f"genie {key}", key, "genie") for key in ("plot", "style")]
    assert rows.scores[0].tolist() == [0.4, 0.7]
    # of a file without tests
    rows = joined(scores=judged(*(JudgedStory(story.story, number, {}) for number, story in enumerate(STORIES))))
    assert ([source.key for source in rows.columns], rows.scores[-1].tolist()) == (["score"], [2.0])


def test_keys_say_which_values_count_beside_the_tests_and_points_count_where_they_are_asked_for() -> None:
    values = {"ttcw_total": 9.0, "ttcw_01": 1.0}
    scores = judged(JudgedStory("1_GPT4", 9, {"01": 1.0, "02": 0.0}, {"01": -1.0, "02": -4.0}, values=values))
    assert [source.key for source in joined(scores).columns] == [""]
    assert [source.key for source in joined(scores, keys=("ttcw_total",)).columns] == ["", "ttcw_total"]
    assert joined(scores, points=True).scores[:, 0].tolist() == [-1, -4, -1]
    with pytest.raises(VotesError, match="no score has a key 'plot'"):
        joined(scores, keys=("plot",))
    with pytest.raises(VotesError, match="the scores have no points on the tests 01, 02, and no other value"):
        joined(points=True)
