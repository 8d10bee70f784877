"""What becomes of replies: each counts once, what is wrong is counted by reason, and what is on record stays."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.batch.engines import Line, lines, openai_batch, refused
from tests.cli.called import as_json, genie, lines_of

from genie_inspect.batch.shards import Plan, shards
from genie_inspect.batch.walk import request_id
from genie_inspect.graders.cache import ANSWERS, RATINGS, Cache, Judged
from genie_inspect.graders.list_judge import LIST, list_request
from genie_inspect.graders.merging import Part
from genie_inspect.graders.sheet_judge import SHEETS
from genie_inspect.prompting.templates import fenced
from genie_inspect.signature import digest

JUDGE, SHEET, READER = "list(x)", "sheet(x)", "grader(x)"
OTHERS = ("snow", "hail", "fog")


def judging(folder: Path, answers: tuple[str, ...], shard: int = 2) -> Path:
    """Requests that rate answers against three others."""
    first = folder / "judge.jsonl"
    with shards(first, Plan(step="judge", judge="list", grader="x/y", signature=JUDGE), shard) as files:
        for answer in answers:
            request = list_request(LIST.instruction.template(), "What falls?", answer, OTHERS)
            body = json.dumps({"messages": [{"role": "user", "content": request}], "model": "x"})
            files.write(request_id(JUDGE, "judge", body), body)
    return first


def sheets(folder: Path, parts: Sequence[Part]) -> Path:
    first = folder / "sheet.jsonl"
    with shards(first, Plan(step="judge", judge="sheet", grader="x/y", signature=SHEET)) as files:
        request = SHEETS.request(SHEETS.instruction.template(), parts)
        body = json.dumps({"messages": [{"role": "user", "content": request}], "model": "x"})
        files.write(request_id(SHEET, "judge", body), body)
    return first


def reading(folder: Path, document: str, answer_length: str = "concise") -> Path:
    first = folder / "read.jsonl"
    data = fenced({"document": document, "questions": {"1": "Who?", "2": "Where?"}})
    body = json.dumps({"messages": [{"role": "user", "content": f"Read.\n{data}"}], "model": "x"})
    plan = Plan(step="read", judge="list", grader="x/y", signature=READER, answer_length=answer_length)
    with shards(first, plan) as files:
        files.write(request_id(READER, "read", body), body)
    return first


def shards_of(first: Path) -> list[Path]:
    return sorted(first.parent.glob(f"{first.stem}*.jsonl"), key=lambda path: (len(path.name), path.name))


def names(first: Path) -> list[str]:
    return [line["custom_id"] for path in shards_of(first) for line in lines(path)]


def reply(name: str, text: str | None) -> Line:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return openai_batch(name, {"id": "c", "model": "x", "choices": [choice]})


def failed(name: str, status: int, code: str) -> Line:
    response = {"status_code": status, "request_id": "r", "body": {"error": {"code": code, "message": "No."}}}
    return {"id": "b", "custom_id": name, "response": response, "error": None}


def ratings(answer: str) -> dict[str, float]:
    return {other: judged.rating for other, judged in Cache().found(RATINGS, (JUDGE, "What falls?", answer)).items()}


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return judging(tmp_path, ("rain", "sleet", "dew", "ash", "rust", "dust"))


def test_missing_doubled_foreign_truncated_and_failed_lines_are_counted_and_the_rest_is_used(
    first: Path, tmp_path: Path
) -> None:
    rain, sleet, dew, ash, rust, _ = names(first)
    file = lines_of(
        tmp_path / "replies.jsonl",
        [
            reply(rain, "1:1 2:2 3:3"),
            reply(rain, "1:1 2:2 3:4"),  # doubled, and at odds with the first
            reply("judge-of-somebody-else", "1:1 2:1 3:1"),
            failed(sleet, 429, "rate_limit_exceeded"),
            {"id": "v", "custom_id": dew, "response": None, "error": {"message": "too long"}},
            reply(ash, "1:0 3:4"),  # the second is left out
            reply(rust, "I would rather not."),
            {"custom_id": rust, "response": {"status_code": 200, "body": {"choices": []}}, "error": None},
            {"id": "nothing"},
        ],
    )
    with file.open("a") as opened:
        opened.write(json.dumps(reply(sleet, "1:1"))[:50])  # cut by a full disk
    result = as_json("cache", "import", file, "--requests", first)
    assert ratings("rain") == {"snow": 1, "hail": 2, "fog": 3}, "what was said first stays"
    assert ratings("ash") == {"snow": 0, "fog": 4}
    assert [ratings(answer) for answer in ("sleet", "dew", "rust", "dust")] == [{}] * 4
    assert result["faults"] == {
        "of no request in the plan": 1,
        "error: 'rate_limit_exceeded'": 1,
        "error: 'too long'": 1,
        "no reply": 1,
        "no custom_id": 1,
        "no whole JSON": 1,
    }
    counts = ("lines", "used", "doubled", "conflicts", "incomplete", "unreadable", "missing", "on_record")
    assert [result[count] for count in counts] == [10, 2, 1, 1, 1, 1, 1, 1]
    assert result["kept"] == {"ratings": 5}


def test_what_was_said_before_stays_what_it_lacks_is_added_and_the_same_again_changes_nothing(
    first: Path, tmp_path: Path
) -> None:
    Cache().keep(RATINGS, (JUDGE, "What falls?", "rain"), {"hail": Judged(4)})
    file = lines_of(tmp_path / "replies.jsonl", [reply(name, "1:1 2:2 3:3") for name in names(first)])
    once, again = (as_json("cache", "import", file, "--requests", first) for _ in range(2))
    counts = ("used", "on_record", "conflicts", "kept")
    assert [once[count] for count in counts] == [6, 0, 1, {"ratings": 17}]
    assert [again[count] for count in counts] == [0, 6, 1, {"ratings": 0}]
    assert Cache().counts()["ratings"] == {JUDGE: 18}
    assert ratings("rain") == {"snow": 1, "hail": 4, "fog": 3}


def test_of_a_sheet_each_question_is_kept_for_itself_and_what_it_lacks_is_asked_again(tmp_path: Path) -> None:
    Cache().keep(RATINGS, (SHEET, "What falls?", "rain"), {"snow": Judged(3)})
    parts = [("What falls?", "rain", OTHERS), ("Who sees it?", "an owl", ("a fox",)), ("Where?", "at sea", ("here",))]
    first = sheets(tmp_path, parts)
    (name,) = names(first)
    file = lines_of(tmp_path / "replies.jsonl", [reply(name, "1| 1 2 3\n2| 4\n3| 2 1")])
    once, again = (as_json("cache", "import", file, "--requests", first) for _ in range(2))
    counts = ("used", "on_record", "incomplete", "conflicts", "unreadable", "kept")
    assert [once[count] for count in counts] == [1, 0, 1, 1, 0, {"ratings": 3}]
    assert [again[count] for count in counts] == [0, 1, 1, 1, 0, {"ratings": 0}]
    kept = {answer: Cache().found(RATINGS, (SHEET, question, answer)) for question, answer, _ in parts}
    assert kept["rain"] == {"snow": Judged(3), "hail": Judged(2), "fog": Judged(3)}
    assert (kept["an owl"], kept["at sea"]) == ({"a fox": Judged(4)}, {})
    babble = lines_of(tmp_path / "babble.jsonl", [reply(name, "Well, well.")])
    assert as_json("cache", "import", babble, "--requests", first)["unreadable"] == 1


@pytest.mark.parametrize("judge", ["list", "sheet", "pairwise", "logit"])
@pytest.mark.parametrize("others", [{}, {"1": "snow", "2": "hail"}])
def test_a_request_with_fewer_or_more_others_than_were_written_breaks_no_import(
    judge: str, others: dict[str, str], tmp_path: Path
) -> None:
    data: dict[str, Any] = {"question": "What falls?", "answer": "rain", "others": others}
    if judge == "sheet":
        data = {"sheet": {"1": ["What falls?", "rain", list(others.values())]}}
    body = {"messages": [{"role": "user", "content": fenced(data)}]}
    with shards(tmp_path / "j.jsonl", Plan(step="judge", judge=judge, grader="x/y", signature=JUDGE)) as files:
        files.write("judge-1", json.dumps(body))
    file = lines_of(tmp_path / "replies.jsonl", [reply("judge-1", "1| 4\n1:4\nRating: 4")])
    assert as_json("cache", "import", file, "--requests", tmp_path / "j.jsonl")["lines"] == 1


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"question": 5, "answer": "a", "others": {"1": "b"}}, "question is '5', expected text"),
        ({"question": "q", "answer": "a", "others": ["b"]}, "others is \"['b']\", expected an object"),
        ({"sheet": "none"}, "sheet is 'none', expected an object"),
        (
            {"sheet": {"1": "rain"}},
            "question 1 is 'rain', expected a list of a question, an answer and a list of others",
        ),
        ({"sheet": {"2": ["What falls?", "rain"]}}, "question 2 is \"['What falls?', 'rain']\", expected a list"),
        ({"sheet": {"1": ["What falls?", "rain", ["snow", 3]]}}, "expected a list of"),
        ({"sheet": {"1": {"question": "q", "answer": "a", "others": ["snow"]}}}, "expected a list of"),
    ],
)
def test_a_request_whose_data_changed_is_one_clear_line(data: dict[str, Any], named: str, tmp_path: Path) -> None:
    first = sheets(tmp_path, [("What falls?", "rain", OTHERS)])
    (line,) = lines(first)
    line["body"]["messages"][0]["content"] = f"Rate.\n{fenced(data)}"
    lines_of(first, [line])
    file = lines_of(tmp_path / "replies.jsonl", [reply(line["custom_id"], "1| 1 2 3")])
    assert named in refused("cache", "import", file, "--requests", first)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('{"attempt": "yes", "1": "an owl", "2": "[not said]"}', {"Who?": "an owl", "Where?": None}),
        ('{"attempt": "yes", "1": "an owl"}', {"Who?": "an owl"}),
        ('{"attempt": "no"}', {"": "no", "Who?": None, "Where?": None}),
        ("Who knows.", {}),
    ],
    ids=["whole", "in part", "no attempt", "nothing"],
)
def test_a_reading_is_kept_as_a_reader_keeps_it(said: str, kept: dict[str, str | None], tmp_path: Path) -> None:
    first = reading(tmp_path, "An owl `slept`. <é>")
    file = lines_of(tmp_path / "replies.jsonl", [reply(names(first)[0], said)])
    as_json("cache", "import", file, "--requests", first)
    assert Cache().found(ANSWERS, (READER, digest("An owl `slept`. <é>")), ["", "Who?", "Where?"]) == kept
    again = as_json("cache", "import", file, "--requests", first)
    assert (again["conflicts"], again["used"]) == (0, 0)


@pytest.mark.parametrize(("length", "kept"), [("concise", 0), ("free", 1)])
def test_a_long_answer_is_kept_where_it_was_asked_for_at_length(length: str, kept: int, tmp_path: Path) -> None:
    first = reading(tmp_path, "An owl slept.", length)
    said = json.dumps({"attempt": "yes", "1": "It slept, and dreamt. " * 40})
    as_json("cache", "import", lines_of(tmp_path / "r.jsonl", [reply(names(first)[0], said)]), "--requests", first)
    assert sum(Cache().counts()["answers"].values()) == kept


def test_an_exported_cache_comes_back_and_rows_that_cannot_be_ours_are_counted(tmp_path: Path) -> None:
    cache = Cache()
    cache.keep(RATINGS, (JUDGE, "What falls?", "rain"), {"snow": Judged(2), "fog": Judged(3.5, 0.1)})
    cache.keep(ANSWERS, (READER, "d1"), {"Who?": "an owl", "Where?": None})
    file = tmp_path / "export.jsonl"
    genie("cache", "export", file)
    cache.clear()
    row = {"table": "ratings", "judge": "j", "question": "q", "answer": "a", "other": "o", "off_labels": None}
    wrong: list[dict[str, Any]] = [
        *(row | {"rating": 9}, row | {"rating": 10**400}, {"table": "verdicts", "judge": "j"}),
        {"table": "answers", "reader": 7, "document": "d", "question": "q", "answer": "a"},
    ]
    with file.open("a") as opened:
        opened.writelines(json.dumps(row) + "\n" for row in wrong)
    result = as_json("cache", "import", file)
    assert result["kept"] == {"answers": 2, "ratings": 2, "verdicts": 0}
    assert result["faults"] == {"no row of a cache": 4}
    assert ratings("rain") == {"snow": 2, "fog": 3.5}
    assert Cache().found(ANSWERS, (READER, "d1"), ["Who?", "Where?"]) == {"Who?": "an owl", "Where?": None}


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda first: first.with_name("judge.plan.json").unlink(), "has no plan beside it"),
        (lambda first: first.with_name("judge-2.jsonl").unlink(), "judge-2.jsonl is missing"),
        (lambda first: first.with_name("judge.plan.json").write_text("{}"), "field step"),
        (lambda first: first.write_text(first.read_text().replace("```", "'''")), "no fenced JSON block"),
        (lambda first: first.write_text(first.read_text().replace('"content"', '"said"')), "without a message"),
    ],
    ids=["no plan", "no shard", "another plan", "no data", "no message"],
)
def test_requests_that_changed_are_one_clear_line(spoil: Callable[[Path], None], named: str, tmp_path: Path) -> None:
    first = judging(tmp_path, ("rain", "sleet", "dew"))
    file = lines_of(tmp_path / "replies.jsonl", [reply(name, "1:1 2:2 3:3") for name in names(first)])
    spoil(first)
    assert named in refused("cache", "import", file, "--requests", first)
    assert "--requests FILE" in refused("cache", "import", file)
