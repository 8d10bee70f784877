"""`genie agreement` and `genie answer-lengths`, as a user calls them."""

import json
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie
from tests.critics import comparing
from tests.reports.made_logs import made_log, scored
from tests.scripted import Script, evaluated, grading, saying, small_population

from genie_inspect.scorers.genie import genie as genie_scorer
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.ranking import kendall

called = partial(genie, "agreement")

MAKERS = ("good", "fair", "bad")
LETTERS = {"good": "YYY", "fair": "YYN", "bad": "NNN"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Scores by two judges, of which one ties everywhere, and votes, on three prompts with three stories each."""
    stories = [f"{prompt}_{maker}" for prompt in range(3) for maker in MAKERS]

    def tests(letters: str) -> dict[str, bool]:
        return {f"0{number}": letter == "Y" for number, letter in enumerate(letters, start=1)}

    keen = {story: LETTERS[story.partition("_")[2]] for story in stories}
    by_judge = {"keen": keen, "dull": dict.fromkeys(stories, "YNN")}
    scores = [{"story": s, "judge": judge, "tests": tests(own[s])} for judge, own in by_judge.items() for s in stories]
    votes = [{"story": s, "rater": rater, "votes": tests(keen[s])} for s in stories for rater in ("ann", "bob", "cy")]
    paths = tmp_path / "scores.jsonl", tmp_path / "votes.jsonl"
    paths[0].write_text("".join(json.dumps(row) + "\n" for row in scores), encoding="utf-8")
    paths[1].write_text("".join(json.dumps(row) + "\n" for row in votes), encoding="utf-8")
    return paths


def test_json_has_the_same_numbers_and_null_for_what_is_no_number(files: tuple[Path, Path]) -> None:
    found = called(files[0], "--votes", files[1], "--resamples", 50, "--json")
    read: dict[str, Any] = json.loads(found.output)
    assert read["judges"]["keen"]["rankings"]["kendall"]["mean"]["value"] == 1
    assert read["judges"]["dull"]["rankings"]["kendall"] == {
        "mean": {"value": None, "low": None, "high": None, "undefined": 50},
        "undefined": 3,
        "by_prompt": {"0": None, "1": None, "2": None},
    }
    assert read["pass_rates"]["fair"]["average"] == pytest.approx(2 / 3)


def test_one_judge_of_several_can_be_chosen(files: tuple[Path, Path]) -> None:
    found = called(files[0], "--votes", files[1], "--resamples", 50, "--judge", "keen", "--json")
    assert list(json.loads(found.output)["judges"]) == ["keen"]
    assert (
        "judge is 'deaf', expected one of keen, dull" in called(files[0], "--votes", files[1], "--judge", "deaf").output
    )


def test_a_picture_without_the_extra_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    result = called("missing.jsonl", "--votes", "missing.jsonl", "--picture", "a.svg")
    assert "needs the extra charts: pip install 'genie-inspect[charts]'" in result.output


def judged(folder: Path, points: int, limit: int | None = 1) -> EvalLog:
    """A log of the task ttcw, whose critic gives so many points to what stands first."""
    [log] = evaluate(
        "genie_inspect/ttcw",
        model=saying("A new story.").model(),
        model_roles={"grader": comparing(lambda a, b, aspect: points).model()},
        log_dir=str(folder),
        limit=limit,
        display="none",
    )
    return log


@pytest.mark.parametrize(("points", "shown"), [(2, "+2.00 biased"), (0, "+0.00")])
def test_the_summary_of_a_log_says_whether_its_critic_is_biased_by_position(
    points: int, shown: str, tmp_path: Path
) -> None:
    judged(tmp_path / "logs", points)
    found = genie("summary", tmp_path / "logs", "--scorer", "ttcw")
    assert found.exit_code == 0, found.output
    [row] = [line for line in found.output.splitlines() if "standing first" in line]
    assert row.rstrip(" │").endswith(shown)


def test_logs_of_two_judges_are_compared_side_by_side(tmp_path: Path) -> None:
    logs = []
    for judge, points in (("keen", 2), ("dull", 0)):
        log = judged(tmp_path / judge, points, limit=None)
        for sample in log.samples or []:
            score = (sample.scores or {})["ttcw"]
            metadata = score.metadata or {}
            metadata["signature"] = str(metadata["signature"]).replace("mockllm/model", f"mockllm/{judge}")
            metadata["judge"] = str(metadata["judge"]).replace("mockllm/model", f"mockllm/{judge}")
        write_eval_log(log)
        logs.append(log)
    votes = tmp_path / "votes.jsonl"
    stories = [f"{sample.id}_mockllm/model" for sample in logs[0].samples or []]
    rows = [{"story": story, "rater": "ann", "votes": {"01": 1}} for story in stories]
    votes.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = called(tmp_path / "keen", tmp_path / "dull", "--votes", votes, "--resamples", 50, "--json")
    assert found.exit_code == 0, found.output
    judges = list(json.loads(found.output)["judges"])
    assert [judge.partition("@")[0] for judge in judges] == ["critic(mockllm/keen", "critic(mockllm/dull"]
    once = called(tmp_path / "keen", logs[0].location, "--votes", votes, "--resamples", 50)
    assert once.exit_code == 0, "a log that is named and in the folder is one"
    copy = shutil.copy(logs[0].location, tmp_path / "copy.eval")
    twice = called(tmp_path / "keen", copy, "--votes", votes, "--resamples", 50)
    assert twice.exit_code == 1
    assert "has two scores by 'critic(mockllm/keen" in twice.output


def test_lengths_of_a_file_of_scores_make_a_table_of_what_is_left_without_them(files: tuple[Path, Path]) -> None:
    assert "length alone" not in called(files[0], "--votes", files[1], "--resamples", 50).output
    rows = [json.loads(line) for line in files[0].read_text(encoding="utf-8").splitlines()]
    longer = {"good": 300, "fair": 200, "bad": 100}
    rows = [{**row, "words": longer[row["story"].partition("_")[2]]} for row in rows]
    files[0].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = called(files[0], "--votes", files[1], "--resamples", 50)
    assert "length alone" in result.output
    (line,) = (line.split() for line in result.output.splitlines() if "the judge, partial" in line)
    # people and the keen judge put the stories in the order of their words, the dull one in none
    assert line.count("undefined") == 2
    read = json.loads(called(files[0], "--votes", files[1], "--resamples", 50, "--json").output)
    assert read["judges"]["keen"]["length"]["length_alone"]["value"] == pytest.approx(1)


JUDGE = "measure:genie|judge:list(m@1)|reader:grader(m@{digest},template={template}{length})|population:{of}|version:1"
NAN = math.nan
CONCISE, FREE = (0.9, 0.5, 0.7, 0.8), (0.6, 0.4, 0.3, 0.7)


def signature(length: str = "", of: str = "small-1@0") -> str:
    digest, template = ("aa", "0b") if length else ("cc", "0d")
    return JUDGE.format(digest=digest, template=template, length=f",answers={length}" * bool(length), of=of)


def length_log(folder: Path, values: Sequence[float], signed: str, *, prompts: Sequence[str] = ()) -> str:
    samples: list[Mapping[str, Score]] = [{"genie": scored({"plot": value, "style": 0.5}, signed)} for value in values]
    texts = [f"It rains {number}." for number in range(len(values))]
    return made_log(folder, samples, texts=texts, prompts=prompts or [f"p{number}" for number in range(len(values))])


def test_order_and_level_by_hand_and_the_command_shows_them(tmp_path: Path) -> None:
    files = [
        length_log(tmp_path / "free", FREE, signature("free")),
        length_log(tmp_path / "concise", CONCISE, signature()),
    ]
    plot, style = as_json("answer-lengths", *files)["shifts"]
    # concise answers are the first side, whichever log comes first
    assert (plot["feature"], plot["before"], plot["after"], plot["documents"]) == ("plot", "concise", "free", 4)
    assert plot["tau"] == kendall(CONCISE, FREE)
    assert plot["effect"] == cohens_d(CONCISE, FREE)
    assert plot["finding"]["difference"]["delta"] == pytest.approx(sum(FREE) / 4 - sum(CONCISE) / 4)
    assert style["tau"] is None  # all the same
    assert style["finding"]["difference"]["delta"] == 0
    output = genie("answer-lengths", *files).output
    assert "free answers against concise ones" in output
    (line,) = (line.split() for line in output.splitlines() if line.startswith(" plot"))
    assert line[:6] == ["plot", "4", f"{kendall(CONCISE, FREE):.2f}", "0.725", "0.500", "-0.225"]


def test_documents_of_one_prompt_are_one_pair_and_one_counts_where_both_lengths_have_a_value(tmp_path: Path) -> None:
    prompts = ["p", "p", "q", "q"]
    files = [
        length_log(tmp_path / "a", CONCISE, signature(), prompts=prompts),
        length_log(tmp_path / "b", FREE, signature("sentence"), prompts=prompts),
        length_log(tmp_path / "c", (0.6, NAN, 0.3), signature("free"), prompts=["p", "p", "q"]),
    ]
    rows = {row["after"]: row for row in as_json("answer-lengths", *files)["shifts"] if row["feature"] == "plot"}
    assert list(rows) == ["sentence", "free"]
    assert (rows["sentence"]["documents"], rows["sentence"]["finding"]["difference"]["pairs"]) == (4, 2)
    # each document counts for order and effect
    assert rows["sentence"]["effect"] == cohens_d(CONCISE, FREE)
    assert rows["free"]["documents"] == 2
    assert rows["free"]["finding"]["difference"]["before"] == pytest.approx(0.8)


LARGE = signature("free", of="large-2@1")


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([signature()], "all scores by genie are by concise answers. Score the same documents again"),
        ([LARGE], "differ in more than that: population is small-1@0 and large-2@1"),
        ([signature("free").replace("list(m@1)", "pairwise(m@1)")], "judge is list"),
        ([signature("free").replace("grader(m", "grader(n")], "reader is grader"),
        ([signature("free"), LARGE], "scores by free answers differ in population is small-1@0 and large-2@1"),
        ([signature("free")], "no document was scored both by concise and by free answers"),
    ],
)
def test_what_does_not_compare_is_refused(others: list[str], message: str, tmp_path: Path) -> None:
    prompts = ["a", "b", "c", "d"] if message.startswith("no document") else []
    files = [length_log(tmp_path / str(place), FREE, one, prompts=prompts) for place, one in enumerate(others)]
    result = genie("answer-lengths", length_log(tmp_path / "concise", CONCISE, signature()), *files)
    assert result.exit_code == 1
    assert message in result.stderr


LONG = "It ends in a field of rain, " + "and then in another, " * 30


def reading(length: int) -> Script:
    """A grader whose answers are so long, and which rates by the first letter."""
    return grading(
        answer=lambda document, question: f"{document.split()[0]} {LONG}"[:length],
        rating=lambda answer, other: 4 if answer[0] == other[0] else 1,
    )


def test_free_answers_are_not_cut_and_stand_in_the_signature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "cache"))
    population = str(small_population(tmp_path / "population").folder)
    grader = reading(600)
    made = evaluated(genie_scorer(population, answer_length="free"), saying("Grey hens."), grader, tmp_path / "free")
    (score,) = (sample.scores["genie"] for sample in made.samples or [] if sample.scores)
    # the owls begin with Grey, White and Old: one of three is alike
    assert score.value["plot"] == 0.667  # type: ignore[index,call-overload]  # a dict of numbers
    assert ",answers=free)" in score.metadata["signature"]  # type: ignore[index]
    assert {config.max_tokens for config in grader.configs if "questions" in grader.requests[0]} >= {200 + 8 * 40 * 3}
    concise = evaluated(genie_scorer(population), saying("Grey hens."), reading(600), tmp_path / "concise")
    (unread,) = (sample.scores["genie"] for sample in concise.samples or [] if sample.scores)
    assert "answers=" not in unread.metadata["signature"]  # type: ignore[index]
    assert unread.metadata["faults"] == {"unreadable reply": 3}  # type: ignore[index]  # 600 characters are babble
    short = evaluated(
        genie_scorer(population), saying("Grey hens."), reading(60), tmp_path / "short", log_dir=str(tmp_path / "s")
    )
    assert {row["after"] for row in as_json("answer-lengths", short.location, made.location)["shifts"]} == {"free"}


def test_the_lengths_are_three_and_the_offline_judge_has_one(tmp_path: Path) -> None:
    population = str(small_population(tmp_path / "population").folder)
    with pytest.raises(Exception, match="answer_length is 'long', expected one of concise, sentence, free"):
        genie_scorer(population, answer_length="long")
    with pytest.raises(Exception, match=r"expected one of concise \(judge=offline calls no model\)"):
        genie_scorer(population, judge="offline", answer_length="free")
