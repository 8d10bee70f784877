import csv
import json
from pathlib import Path

import pytest
from tests.scripted import FEATURES, OWL, small_population

from genie_inspect.building.questions.files import (
    LINE,
    read_prompts,
    read_questions,
    read_review,
    write_review,
)
from genie_inspect.errors import PopulationError
from genie_inspect.populations.schema import Question, question_id

Table = list[dict[str, str]]


def edited(path: Path, change: dict[int, dict[str, str]], added: Table | None = None) -> Path:
    """The table as a person would have left it: some cells changed, some rows added."""
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    for row, cells in change.items():
        lines[row].update(cells)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows([*lines, *(added or [])])
    return path


@pytest.fixture
def questions(tmp_path: Path) -> list[Question]:
    return read_questions(small_population(tmp_path / "population").folder)


def test_a_table_that_nobody_touched_brings_the_same_questions_back(questions: list[Question], tmp_path: Path) -> None:
    write_review(tmp_path / "table.csv", questions)
    found = read_review(tmp_path / "table.csv", questions, FEATURES)
    assert found.questions == questions
    assert (found.reworded, found.moved, found.dropped, found.added) == (0, 0, 0, 0)


def test_people_reword_move_drop_and_add_questions(questions: list[Question], tmp_path: Path) -> None:
    write_review(tmp_path / "table.csv", questions)
    new = {"id": "", "keep": "yes", "feature": "style", "text": "Which rhythm?", "prompt": OWL, "note": "mine"}
    changes = {0: {"text": "What comes to pass?"}, 1: {"feature": "style"}, 2: {"keep": "No"}}
    found = read_review(edited(tmp_path / "table.csv", changes, [new]), questions, FEATURES)
    assert (found.reworded, found.moved, found.dropped, found.added) == (1, 1, 1, 1)
    assert [(q.feature, q.text) for q in found.questions if q.prompt == OWL] == [
        ("plot", "What comes to pass?"),
        ("style", "How does it end?"),
        ("style", "Which rhythm?"),
    ]
    assert found.questions[0].id == question_id(OWL, "What comes to pass?")


def test_text_that_a_spreadsheet_would_run_is_written_as_text_and_read_as_it_was(tmp_path: Path) -> None:
    text = "=HYPERLINK(1)?"
    asked = [Question(id=question_id("@prompt", text), prompt="@prompt", feature="plot", text=text)]
    write_review(tmp_path / "table.csv", asked)
    assert "'=HYPERLINK" in (tmp_path / "table.csv").read_text()
    assert read_review(tmp_path / "table.csv", asked, FEATURES).questions == asked


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "q-nobody"}, "row 2: no question has the id 'q-nobody'"),
        ({"feature": "smell"}, r"row 2, column feature: 'smell', expected one of \['plot', 'style'\]"),
        ({"text": " "}, "row 2, column text is empty"),
        ({"text": "How does it end?"}, "row 3: 'How does it end.' stands twice"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    change: dict[str, str], message: str, questions: list[Question], tmp_path: Path
) -> None:
    write_review(tmp_path / "table.csv", questions)
    with pytest.raises(PopulationError, match=message):
        read_review(edited(tmp_path / "table.csv", {0: change}), questions, FEATURES)


def test_a_table_without_its_columns_is_refused(questions: list[Question], tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("id,text\n1,What?\n")
    with pytest.raises(PopulationError, match="has no column feature, keep, prompt"):
        read_review(tmp_path / "table.csv", questions, FEATURES)


def test_questions_of_an_unknown_feature_are_refused(questions: list[Question], tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match=r"line.*: feature 'style' is none of plot \(--features\)"):
        read_questions(tmp_path / "population", FEATURES[:1])


def test_a_question_of_ones_own_needs_no_id(tmp_path: Path) -> None:
    rows = [{"prompt": OWL, "feature": "plot", "text": "What happens?"}]
    rows += [{"id": "mine", "prompt": OWL, "feature": "style", "text": "Who tells it?"}]
    path = tmp_path / "questions.jsonl"
    # as a Windows editor leaves it
    path.write_text("\ufeff" + "\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = read_questions(path, FEATURES)
    assert [(question.id, question.text) for question in asked] == [
        (question_id(OWL, "What happens?"), "What happens?"),
        ("mine", "Who tells it?"),
    ]


def test_one_message_says_all_that_is_missing_and_shows_a_line_that_works(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    good = {"prompt": OWL, "feature": "plot", "text": "What happens?"}
    lines = [{"prompt": OWL, "text": "a"}, {"prompt": OWL, "question": "b", "feature": "plot"}, good, good]
    lines += [{"prompt": OWL, "text": "c"}, {"prompt": OWL, "feature": "smell", "text": "d"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(PopulationError) as caught:
        read_questions(path, FEATURES)
    said = str(caught.value)
    for part in (
        "lines 1, 5: no feature;",
        "line 2: no text, unknown field 'question';",
        "line 4: 'q-",
        "line 6: feature 'smell' is none of plot, style (--features);",
        f"expected lines such as {LINE}",
    ):
        assert part in said
    assert "\n" not in said
    # the line that is shown is read
    path.write_text(LINE, encoding="utf-8")
    assert [question.feature for question in read_questions(path, FEATURES)] == ["plot"]


@pytest.mark.parametrize("content", ["", "id,text\n1,What?\n"])
def test_a_file_without_questions_shows_what_one_looks_like(content: str, tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text(content, encoding="utf-8")
    with pytest.raises(PopulationError, match=r"questions\.csv.* expected lines such as \{"):
        read_questions(tmp_path / "questions.csv", FEATURES)


def test_prompts_are_lines_or_those_of_a_population(tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("One.\n\n Two. \nOne.\n")
    assert read_prompts(tmp_path / "prompts.txt") == ["One.", "Two."]
    assert len(read_prompts("starter")) == 8
