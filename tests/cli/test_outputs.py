"""What a command does with the place that it writes to, be it a file, a folder, a full disk or a pipe; and Ctrl-C."""

import io
import json
import re
import shutil
import stat
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from tests.cli.called import sound_inputs
from tests.left_out import rest_with_ci
from tests.processes import Commands, Ended, tries

from genie_inspect.cli.terminal import console, echo_json, printable_streams
from genie_inspect.graders.cache import RATINGS, Cache, Judged

WORDS = "caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{RIGHTWARDS ARROW} \N{OWL}"
PRINTERS = {
    "summary": "summary logs",
    "cost": "cost --population population",
    "calibrate": "calibrate --population population --ratings ratings.csv",
    "cache info": "cache info",
    "cache export": "cache export",
    "cache clear": "cache clear --yes",
    "compare": "compare logs --baseline mock/other",
    "report": "report logs",
    "show": "show logs/log-0.eval 1",
    "agreement": "agreement scores.jsonl --votes votes.jsonl --resamples 20",
    "index": "build-index texts output",
    "population show": "population show population",
    "population check": "population check population",
    "population sample": "population sample population -o output --dry-run",
    "population merge": "population merge population population -o output --name n --licence MIT --dry-run",
    "population import": "population import rows.jsonl -o output --name n --licence MIT --dry-run",
    "questions review": "questions review population --to output",
    "questions write": "questions write population -o output --grader atonce/g --dry-run",
    "features discover": "features discover --task t -o output --grader atonce/g --dry-run",
    "help": "--help",
    "help of a verb": "summary --help",
    "version": "--version",
}
JSON = ("summary", "cost", "calibrate", "cache info", "compare", "report", "agreement", "population show")
# with the ending of their output, which stands last
REPLACES = {
    "report": (".html", "report logs -o"),
    "report, picture": (".svg", "report logs -o /dev/null --picture"),
    "compare, table": (".csv", "compare logs --baseline mock/other --csv"),
    "compare, picture": (".svg", "compare logs --baseline mock/other --picture"),
    "agreement": (".png", f"{PRINTERS['agreement']} --picture"),
    "reference scores": (".json", "population reference-scores population --judge offline -o"),
    "cache export": ("", "cache export --force"),
}
REFUSES = {
    "cache export, new": (".jsonl", "cache export"),
    "questions to people": (".csv", "questions review population --features population --to"),
    "questions of people": (".jsonl", "questions review population --features population --from table.csv -o"),
}
FOLDERS = {
    "index": ("", "build-index texts"),
    "population sample": ("", "population sample population -o"),
    "population merge": ("", "population merge population population --name n --licence MIT -o"),
    "population import": ("", "population import rows.jsonl --name n --licence MIT -o"),
    "population build": ("", "population build logs --name n --licence MIT --grader bundled/grader -o"),
    "questions write": ("", "questions write population --grader bundled/grader --features population -o"),
    "features discover": ("", "features discover --task t --grader bundled/grader -o"),
}
WRITERS = REPLACES | REFUSES | FOLDERS | {"report, pictures": ("", "report logs --pictures")}
PLACES = ("/dev/full", "file/f", "logs", "x" * 300, "/proc/f")
OTHERS = "full disks, pipes without a reader and unwritable places, for the other commands"
HALF_MADE = "BaseEventLoop.__del__"  # Python itself tells of a loop that Ctrl-C met in the millisecond of its making


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    folder = sound_inputs(tmp_path_factory.mktemp("outputs"))
    with Commands(folder) as running:
        assert running.run(*REFUSES["questions to people"][1].split(), "table.csv").code == 0
        yield running


@pytest.fixture(autouse=True)
def _full_cache(commands: Commands) -> None:
    """More than a pipe holds, for what looks at it, writes it or forgets it."""
    Cache(commands.folder / "cache").keep(RATINGS, ("list(x)", "q", "a"), {f"{n}": Judged(2) for n in range(2_000)})


def printed(commands: Commands, verb: str, *more: str, stdout: str | None = None, closed: bool = False) -> Ended:
    output = commands.folder / "output"
    shutil.rmtree(output, ignore_errors=True)
    output.unlink(missing_ok=True)
    return commands.run(*PRINTERS[verb].split(), *more, stdout=stdout, closed=closed)


def write(commands: Commands, verb: str, output: Path) -> Ended:
    ending, line = WRITERS[verb]
    if ending in (".svg", ".png", ".html"):
        pytest.importorskip("vl_convert", reason="needs the extra `charts`")
    return commands.run(*line.split(), output)


def refused(ended: Ended, output: Path, words: str) -> None:
    assert ended.code == 1, ended
    (line,) = ended.errors
    assert str(output) in line
    assert words in line


@pytest.mark.parametrize("verb", rest_with_ci(list(PRINTERS), OTHERS, every=4))
def test_a_full_disk_behind_standard_output_is_one_line_that_names_it(verb: str, commands: Commands) -> None:
    ended = printed(commands, verb, stdout="/dev/full")
    assert (ended.code, ended.errors) == (1, ["Error: standard output cannot be written: No space left on device"])
    assert ended.stderr.endswith(ended.errors[0] + "\n"), "nothing follows when the process ends"
    if verb in JSON:
        assert printed(commands, verb, "--json", stdout="/dev/full").errors == ended.errors


@pytest.mark.parametrize("verb", rest_with_ci(list(reversed(PRINTERS)), OTHERS, every=4))
def test_a_reader_that_has_gone_away_ends_a_command_without_a_word(verb: str, commands: Commands) -> None:
    ended = printed(commands, verb, closed=True)
    assert (ended.code, ended.errors) == (1, [])
    assert not re.search("Traceback|Exception|Broken", ended.stderr), ended.stderr


# each verb has five places: among every fourth pair are all verbs and all places
@pytest.mark.parametrize(("verb", "place"), rest_with_ci(list(product(WRITERS, PLACES)), OTHERS, every=4))
def test_a_place_that_cannot_be_written_is_one_line_that_names_it(verb: str, place: str, commands: Commands) -> None:
    if place == "/dev/full" and verb in FOLDERS:
        place = "/dev/full/output"
    if verb == "report, pictures" and place == "logs":
        place = "file"  # a folder is what it wants
    (commands.folder / "file").write_text("")
    ended = write(commands, verb, Path(place + (WRITERS[verb][0] if place in ("file/f", "/proc/f") else "")))
    assert len(ended.errors) == 1, ended
    assert place[:200] in ended.errors[0], ended
    assert "Traceback" not in ended.stderr
    assert ended.code in (1, 2)


@pytest.mark.repeated
@pytest.mark.parametrize("verb", REPLACES)
def test_a_file_is_replaced_with_a_word_and_keeps_its_permissions(
    verb: str, commands: Commands, tmp_path: Path
) -> None:
    output = tmp_path / f"output{REPLACES[verb][0]}"
    if verb in list(REPLACES)[:: tries(6, 1)]:  # what says the word is one for all
        ended = write(commands, verb, output)
        assert (ended.code, "replaced" in ended.stderr) == (0, False), ended
    output.write_text("mine")
    output.chmod(0o640)
    ended = write(commands, verb, output)
    assert ended.code == 0, ended
    assert f"replaced {output}" in ended.stderr
    assert output.read_bytes() != b"mine"
    assert stat.S_IMODE(output.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("verb", REFUSES)
def test_a_file_that_must_be_new_replaces_none_and_follows_no_link(
    verb: str, commands: Commands, tmp_path: Path
) -> None:
    output, link = (tmp_path / f"{name}{REFUSES[verb][0]}" for name in ("output", "link"))
    output.write_text("mine")
    link.symlink_to(output)
    for path in (output, link):
        refused(write(commands, verb, path), path, "exists")
    assert output.read_text() == "mine"
    assert link.is_symlink()
    assert write(commands, verb, tmp_path / f"new{REFUSES[verb][0]}").code == 0


@pytest.mark.parametrize("verb", [verb for verb in FOLDERS if verb != "index"])
def test_what_stands_where_a_folder_shall_come_is_left_as_it_is(verb: str, commands: Commands, tmp_path: Path) -> None:
    file, link, full = (tmp_path / name for name in ("file", "link", "full"))
    file.write_text("mine")
    full.mkdir()
    (full / "mine").write_text("mine")
    link.symlink_to(full)
    for path, words in ((file, "is a file"), (link, "is a link"), (full, "not empty"), (Path("/dev/null"), "a file")):
        refused(write(commands, verb, path), path, words)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "link", "full"}
    assert [file.read_text(), (full / "mine").read_text()] == ["mine", "mine"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_in_any_locale_json_reads_back_and_a_table_is_printed(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding))
    with printable_streams():
        echo_json({"name": WORDS})
        # click takes ASCII for a locale that nobody chose, and writes UTF-8
        assert json.loads(written.getvalue().decode("utf-8" if encoding == "ascii" else encoding)) == {"name": WORDS}
        console().print(WORDS)
    assert written.getvalue().endswith((b"\\ud83e\\udd89\n", "\N{OWL}\n".encode()))


@pytest.mark.parametrize("wait", rest_with_ci([0.3, 0.02, 0.1, 1.0, 2.0], "Ctrl-C at other moments"))
def test_ctrl_c_ends_the_demo_with_one_word(wait: float, commands: Commands) -> None:
    for _ in range(3):
        ended = commands.run("demo", "--log-dir", "demo", interrupt=wait)
        if HALF_MADE not in ended.stderr:
            break
    if ended.code == 0:
        pytest.skip("it was done before")
    assert ended.code == 1, ended.stderr
    assert not re.search("Traceback|StopIteration", ended.stderr)
    assert ended.stderr.rstrip().splitlines()[-1].startswith(("Aborted!", "Error: the evaluation of bundled/"))
