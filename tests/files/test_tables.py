"""Tables for people: no cell is a formula to a spreadsheet, and every text reads back as it was."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.scripted import FEATURES

from genie_inspect.agreement.raters import RatingsFile
from genie_inspect.cli import main
from genie_inspect.errors import PopulationError
from genie_inspect.files.tables import csv_rows, csv_text
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.population import open_population
from genie_inspect.populations.schema import Question, question_id

HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", " =1", "'=1", "''=1", "'x", "\u00a0=1", "\uff1d1", "\t"]
HOSTILE += [
    "a\rb",
    "a\r\nb",
    "a\nb",
    "a,b",
    'a"b',
    '"',
    "",
    " ",
    "'",
    "\x00",
    "\ufeff=1",
    "\x1c",
    "\u2028=1",
    '=cmd|"/c"!A1',
]
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
any_text = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(HOSTILE)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "table.csv"


@given(st.lists(st.tuples(any_text, any_text)))
@example([(text, text) for text in HOSTILE])
def test_any_text_reads_back_as_it_was(path: Path, rows: list[tuple[str, str]]) -> None:
    write_lines(path, [csv_text(["one", "other"], rows)])
    read = [(row["one"], row["other"]) for _, row in csv_rows(path, ["one", "other"], PopulationError)]
    assert read == rows


@given(any_text)
def test_no_cell_of_text_begins_as_a_formula_does_whatever_space_stands_before_it(text: str) -> None:
    _, (cell,) = csv.reader(StringIO(csv_text(["text"], [[text]]), newline=""))
    assert not cell.strip().startswith(RUN_BY_SPREADSHEETS)
    assert not cell.startswith(RUN_BY_SPREADSHEETS)


@pytest.mark.parametrize("text", ["=1+1", "a\rb", "a\nb", 'a"b', "a,b"])
def test_a_table_is_read_alike_by_whoever_splits_it_at_line_ends_of_any_kind(text: str) -> None:
    table = csv_text(["text", "more"], [[text, "end"]])
    (header, row) = list(csv.reader(StringIO(table, newline="")))
    assert (header, row) == (["text", "more"], [text if text[0] != "=" else f"'{text}", "end"])
    assert table.count("\r\n") == 2


def test_numbers_stay_numbers_and_nothing_is_nothing() -> None:
    assert csv_text(["a", "b", "c"], [[-0.5, None, "-0.5"]]) == "a,b,c\r\n-0.5,,'-0.5\r\n"


words = any_text.filter(lambda text: any(character.isalnum() for character in text))


@settings(max_examples=40)
@given(st.lists(st.tuples(words, words), min_size=1, unique=True))
@example([(f"{text}x", f"{text}y") for text in HOSTILE])
@example([("=x\r\ny", " z\r"), ("=x\ny", " z"), ("\x1cx", "x\x1f")])
def test_a_review_that_nobody_touched_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("review")
    asked = [Question(id=question_id(prompt, text), prompt=prompt, feature="plot", text=text) for prompt, text in pairs]
    source, table, back = folder / "questions.jsonl", folder / "table.csv", folder / "back.jsonl"
    source.write_text("".join(question.model_dump_json() + "\n" for question in asked), encoding="utf-8")
    (folder / "features.json").write_text(json.dumps({"features": [f.model_dump(mode="json") for f in FEATURES]}))
    review = ["questions", "review", str(source), "--features", str(folder / "features.json"), "--json"]
    assert CliRunner().invoke(main, [*review, "--to", str(table)]).exit_code == 0
    done = CliRunner().invoke(main, [*review, "--from", str(table), "-o", str(back)])
    assert done.exit_code == 0, done.output
    changes = json.loads(done.stdout)
    assert (changes["reworded"], changes["moved"], changes["dropped"], changes["added"]) == (0, 0, 0, 0)
    assert [Question.model_validate_json(line) for line in back.read_bytes().splitlines()] == asked


def test_ratings_that_people_gave_in_a_table_of_ours_are_of_the_answers_as_they_were(tmp_path: Path) -> None:
    starter = open_population("starter")
    question = starter.questions(starter.prompts[0])[0]
    rows = [(question.text, "=rain", "-", 3, "ann"), (question.text, "@sea", "'snow", "", "ann")]
    table = tmp_path / "ratings.csv"
    write_lines(table, [csv_text(["question", "answer", "other", "rating", "rater"], rows)])
    read = RatingsFile(table, starter)
    assert {other for target in read.targets for other in (target.answer, *target.others)} == {
        "=rain",
        "-",
        "@sea",
        "'snow",
    }
