"""`genie agreement` and `genie answer-lengths`, as a user calls them."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie, lines_of
from tests.reports.made_logs import made_log, scored
from tests.scripted import Script, evaluated, grading, saying, scores, small_population

from genie_inspect.scorers.genie import genie as genie_scorer
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.ranking import kendall

LETTERS = {
    maker: {f"0{test}": test <= count for test in (1, 2, 3)} for maker, count in (("good", 3), ("fair", 2), ("bad", 0))
}
WORDS = {"good": 300, "fair": 200, "bad": 100}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Scores by two judges, of which one ties everywhere, and votes, on three prompts with three stories each."""
    keen = {f"{prompt}_{maker}": passed for prompt in range(3) for maker, passed in LETTERS.items()}
    dull = {"01": True, "02": False, "03": False}
    judged = [
        {"story": story, "judge": judge, "tests": tests, "words": WORDS[story.partition("_")[2]]}
        for story, own in keen.items()
        for judge, tests in (("keen", own), ("dull", dull))
    ]
    votes = [{"story": s, "rater": rater, "votes": own} for s, own in keen.items() for rater in ("ann", "bob", "cy")]
    return lines_of(tmp_path / "scores.jsonl", judged), lines_of(tmp_path / "votes.jsonl", votes)


def test_judges_are_held_against_votes_with_and_without_length_and_one_can_be_chosen(files: tuple[Path, Path]) -> None:
    arguments = (files[0], "--votes", files[1], "--resamples", 50)
    judges = as_json("agreement", *arguments)["judges"]
    assert judges["dull"]["rankings"]["kendall"] == {
        "mean": {"value": None, "low": None, "high": None, "undefined": 50},
        "undefined": 3,
        "by_prompt": {"0": None, "1": None, "2": None},
    }
    # people and the keen judge put the stories in the order of their words, the dull one in none
    assert judges["keen"]["length"]["length_alone"]["value"] == pytest.approx(1)
    (line,) = (line.split() for line in genie("agreement", *arguments).output.splitlines() if "judge, partial" in line)
    assert line.count("undefined") == 2
    assert as_json("agreement", *arguments, "--judge", "keen")["judges"].keys() == {"keen"}
    refused = genie("agreement", *arguments, "--judge", "deaf")
    assert "judge is 'deaf', expected one of keen, dull" in refused.output


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
    (score,) = scores(made)
    # the owls begin with Grey, White and Old: one of three is alike
    assert score.value["plot"] == 0.667  # type: ignore[index,call-overload]  # a dict of numbers
    assert ",answers=free)" in score.metadata["signature"]  # type: ignore[index]
    assert {config.max_tokens for config in grader.configs if "questions" in grader.requests[0]} >= {200 + 8 * 40 * 3}
    (unread,) = scores(evaluated(genie_scorer(population), saying("Grey hens."), reading(600), tmp_path / "concise"))
    assert "answers=" not in unread.metadata["signature"]  # type: ignore[index]
    assert unread.metadata["faults"] == {"unreadable reply": 3}  # type: ignore[index]  # 600 characters are babble
    short = evaluated(
        genie_scorer(population), saying("Grey hens."), reading(60), tmp_path / "short", log_dir=str(tmp_path / "s")
    )
    assert {row["after"] for row in as_json("answer-lengths", short.location, made.location)["shifts"]} == {"free"}
    with pytest.raises(Exception, match="answer_length is 'long', expected one of concise, sentence, free"):
        genie_scorer(population, answer_length="long")
    with pytest.raises(Exception, match=r"expected one of concise \(judge=offline calls no model\)"):
        genie_scorer(population, judge="offline", answer_length="free")
