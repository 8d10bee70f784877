"""Tables, JSON Lines and folders."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.scripted import FEATURES

from genie_inspect.building.importing import Import, import_population
from genie_inspect.cli import main
from genie_inspect.engines.corpora import folder_texts
from genie_inspect.errors import PopulationError
from genie_inspect.files import writing as networks
from genie_inspect.files.json_lines import json_object, json_objects, json_row, placed_lines
from genie_inspect.files.tables import csv_rows, csv_text
from genie_inspect.files.writing import network_file_system, write_lines
from genie_inspect.populations.population import open_population
from genie_inspect.populations.prompts import all_prompts
from genie_inspect.populations.schema import Document, Question, question_id

HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", " =1", "'=1", "''=1", "'x", "\u00a0=1", "\uff1d1", "\t"]
HOSTILE += ["a\rb", "a\r\nb", "a\nb", "a,b", 'a"b', '"', "", " ", "'", "\x00", "\ufeff=1", "\x1c", "\u2028=1"]
HOSTILE += ['=cmd|"/c"!A1']
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


def test_numbers_stay_numbers_nothing_is_nothing_and_every_row_ends_as_rfc_4180_has_it() -> None:
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


LINE = '{"prompt": "Write \\ud83d.", "text": "An owl \\ud83d sat, \\\\ud83d, \\ud83d\\ude00.", "id": "d"}\n'
TEXT = "An owl \ufffd sat, \\ud83d, \U0001f600."


def test_half_a_character_is_read_as_a_mark_by_every_reader_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text(LINE)
    assert [row["text"] for _, row in json_objects(path, PopulationError)] == [TEXT]
    assert json_object(LINE.encode(), "here", PopulationError)["text"] == TEXT
    for line in (LINE, LINE.encode()):
        assert json_row(line, Document, "here", PopulationError).text == TEXT
    assert [text for _, text in folder_texts(tmp_path)] == [TEXT]
    assert all_prompts(str(path), "train") == ["Write \ufffd."]
    columns = ["prompt=prompt", "text=text"]
    import_population(Import(str(path), tmp_path / "made", "half", "MIT", mapping=columns))
    assert [one.text for one in open_population(tmp_path / "made").documents("Write \ufffd.")] == [TEXT]


@pytest.mark.parametrize("line", [b'{"text": "\xed\xa0\xbd \\u0041"}', b"\\ud83d", b'"\\ud83d"'])
def test_what_is_no_object_in_utf8_is_refused_as_ever(line: bytes) -> None:
    with pytest.raises(PopulationError, match="here"):
        json_object(line, "here", PopulationError)
    with pytest.raises(PopulationError, match="here"):
        json_row(line, Document, "here", PopulationError)


def test_a_path_stands_on_the_last_and_deepest_mount_above_it_and_a_link_where_it_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts, place = tmp_path / "mounts", tmp_path.resolve()
    monkeypatch.setattr(networks, "MOUNTS", mounts)
    assert network_file_system(place) == "", "nobody says what is mounted"
    mounts.write_text(
        f"/dev/sda1 / ext4 rw 0 0\nserver:/home {place}/home nfs4 rw 0 0\n"
        f"server:/b {place}/two\\040words fuse.sshfs rw 0 0\n/dev/sdb1 {place}/home/scratch xfs rw 0 0\nodd\n"
        f"server:/c {place}/covered nfs rw 0 0\n/dev/sdc1 {place}/covered ext4 rw 0 0\n",
        encoding="utf-8",
    )
    (place / "home").mkdir()
    (place / "link").symlink_to(place / "home")
    kinds = {"home": "nfs4", "home/me/not/yet/there": "nfs4", "link/x": "nfs4", "two words/x": "fuse.sshfs"}
    kinds |= dict.fromkeys(["homes", "home/scratch/x", "covered/x", "elsewhere"], "")
    assert {path: network_file_system(place / path) for path in kinds} == kinds


def test_every_line_has_the_place_at_which_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"{}\n\n  \n[]\n")
    assert [(number, file.read_bytes()[begin:][: len(line)]) for number, begin, line in placed_lines(file)] == [
        (1, b"{}\n"),
        (4, b"[]\n"),
    ]
