"""What a run's documents repeat: `genie repeats`."""

import csv
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie
from tests.reports.made_logs import GENIE, made_log, scored
from tests.scripted import OWL, QUESTIONS, small_population

from genie_inspect.logs.files import LogError
from genie_inspect.populations.schema import AnswerRow, document_id, question_id
from genie_inspect.reports.repeats import Shared, repeats
from genie_inspect.statistics.descriptive import chance_of_same, effective_number

HAPPENS, ENDS = (text for _, text in QUESTIONS[OWL][:2])


def answered(*rows: tuple[str, str], **facts: Any) -> dict[str, Score]:
    """A score with a table of questions: each with its answer, on plot."""
    table = [
        {"id": question_id(OWL, question), "feature": "plot", "question": question, "answer": answer}
        for question, answer in rows
    ]
    return {"genie": scored({"plot": 0.5}, questions=table, **facts)}


def written(folder: Path, *answers: tuple[str, str]) -> str:
    """A log of documents that give these answers to two questions."""
    samples = [answered((HAPPENS, first), (ENDS, second)) for first, second in answers]
    texts = [f"text {number}" for number in range(len(answers))]
    return made_log(folder, samples, prompts=[OWL] * len(samples), texts=texts)


@given(counts=st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_effective_number_and_chance_are_those_of_all_pairs(counts: list[int]) -> None:
    answers = [place for place, count in enumerate(counts) for _ in range(count)]
    pairs = [one == other for n, one in enumerate(answers) for m, other in enumerate(answers) if n != m]
    assert chance_of_same(counts) == pytest.approx(sum(pairs) / len(pairs) if pairs else math.nan, nan_ok=True)
    assert 1 <= effective_number(counts) <= len(counts) + 1e-9
    assert effective_number([4] * len(counts)) == pytest.approx(len(counts))
    assert all(map(math.isnan, (effective_number([]), chance_of_same([]), chance_of_same([1]))))


def test_answers_are_counted_by_their_words_and_shown_as_first_written() -> None:
    shared = Shared.of(["The owl.", "a fox", "the  OWL", "An owl"])
    assert shared.answers == (("The owl.", 2), ("a fox", 1), ("An owl", 1))
    assert [shared.documents, shared.same, shared.effective] == pytest.approx([4, 1 / 6, 16 / 6])


def test_the_most_repeated_question_is_first_and_what_is_not_said_does_not_count(tmp_path: Path) -> None:
    file = written(tmp_path, ("a", "x"), ("b", "x"), ("a", "x"), ("c", ""))
    (own,) = repeats([file])
    assert [(row.question, row.own.answers) for row in own.rows] == [
        (ENDS, (("x", 3),)),
        (HAPPENS, (("a", 2), ("b", 1), ("c", 1))),
    ]
    here, there = own.features["plot"]
    assert here.mean == pytest.approx((1 + 1 / 6) / 2)
    assert (there.values, own.reader, own.copies) == (0, "", 0)


def test_the_populations_answers_are_those_of_the_runs_own_reader_where_it_has_read_them(tmp_path: Path) -> None:
    texts = ("One owl.", "Two owls.", "Three owls.")
    answers = [
        AnswerRow(document=document_id(OWL, text), question=question_id(OWL, ENDS), reader=reader, text=answer)
        for reader, said in (("mine", ("x", "x", "y")), ("other", ("z", "z", "z")))
        for text, answer in zip(texts, said, strict=True)
    ]
    population = small_population(tmp_path / "population", {OWL: texts}, answers=answers)
    samples = [answered((ENDS, "x"), signature=f"{GENIE}|reader:mine") for _ in range(2)]
    file = made_log(tmp_path, samples, prompts=[OWL] * 2, texts=["same", "same"])
    (own,) = repeats([file], population)
    (row,) = own.rows
    assert row.population is not None
    assert (own.reader, own.is_own_reader, own.copies) == ("mine", True, 1)
    assert row.population.answers == (("x", 2), ("y", 1))
    assert row.population.same == pytest.approx(1 / 3)
    assert own.features["plot"][1].mean == pytest.approx(1 / 3)
    said = genie("repeats", file, "--population", population.folder).stdout
    assert "1 of its 2 documents repeat another one word for word." in " ".join(said.split())
    assert "another grader" not in said
    # by another reader it is said whose they are
    unlike = made_log(tmp_path, [answered((ENDS, "x"))], prompts=[OWL])
    said = " ".join(genie("repeats", unlike, "--population", population.folder).stdout.split())
    assert "The population's answers are those of another grader, mine" in said


def test_the_command_shows_what_is_shared_and_gives_all_as_json_and_csv(tmp_path: Path) -> None:
    file = written(tmp_path, ("=a", "x"), ("=a", "x"), ("=a", "y"), ("d", "z"))
    said = " ".join(genie("repeats", file, "--population", "none", "--top", 1).stdout.split())
    assert "2 of 2 questions have an answer that documents share" in said
    assert "1 more: --top, --json or --csv shows them." in said
    assert "0.50 / -" in said
    (value,) = as_json("repeats", file, "--population", "none")
    first, second = value["questions"]
    assert (first["own"]["same"], first["own"]["documents"], first["population"]) == (0.5, 4, None)
    assert second["own"]["answers"][0] == {"answer": "x", "documents": 2}
    table = tmp_path / "answers.csv"
    genie("repeats", file, "--population", "none", "--csv", table)
    with table.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [(row["answer"], row["given"]) for row in rows] == [
        ("'=a", "3"),
        ("d", "1"),
        ("x", "2"),
        ("y", "1"),
        ("z", "1"),
    ]
    assert rows[0]["population_same"] == ""


def test_logs_without_answers_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    bare = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, questions="140 questions: too many to keep here")}])
    with pytest.raises(LogError, match="no score by genie in these logs has answers"):
        repeats([bare])
    refused = genie("repeats", bare)
    assert refused.exit_code == 1
    assert "inspect score LOG --scorer genie" in refused.stderr
