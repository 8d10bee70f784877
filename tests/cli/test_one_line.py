"""Where a full disk, a reader that goes away or Ctrl-C ends a command, it ends in one line or in none."""

import io
import json
import re
import shutil
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from tests.left_out import rest_with_ci
from tests.processes import Commands, Ended
from tests.reports.made_logs import made_log, scored

from genie_inspect.cli.terminal import console, echo_json, printable_streams
from genie_inspect.graders.cache import RATINGS, Cache, Judged

LOGS = "logs"
WORDS = "caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{RIGHTWARDS ARROW} \N{OWL}"
ROW = {"document": "An owl.", "prompt": "Write.", "question": "Who?", "answer": "an owl", "feature": "agent"}
MAPPED = " ".join(f"--map {name}={name}" for name in ROW)
VERBS = {
    "summary": "summary logs",
    "cost": "cost",
    "calibrate": "calibrate --ratings second_ratings.jsonl --ratings ratings.jsonl",
    "cache info": "cache info",
    "cache export": "cache export",
    "cache clear": "cache clear --yes",
    "compare": "compare logs --baseline mock/one",
    "report": "report logs",
    "show": "show logs/log-0.eval 1",
    "agreement": "agreement scores.jsonl --votes votes.jsonl --resamples 20",
    "index": "build-index texts output",
    "population show": "population show starter",
    "population check": "population check starter",
    "population sample": "population sample starter -o output --dry-run",
    "population merge": "population merge starter starter -o output --name n --licence MIT --dry-run",
    "population import": f"population import rows.jsonl -o output --name n --licence MIT {MAPPED} --dry-run",
    "questions review": "questions review starter --to output",
    "questions write": "questions write starter -o output --grader atonce/g --dry-run",
    "features discover": "features discover --task t -o output --grader atonce/g --dry-run",
    "help": "--help",
    "help of a verb": "summary --help",
    "version": "--version",
}
FOLDERS = ("index", "population sample", "population merge", "questions write", "features discover")
WRITERS = {
    "compare, picture": (".svg", "compare logs --baseline mock/one --picture"),
    "compare, table": (".csv", "compare logs --baseline mock/one --csv"),
    "report": (".html", "report logs -o"),
    "report, pictures": ("", "report logs --pictures"),
    "agreement": (".png", "agreement scores.jsonl --votes votes.jsonl --resamples 20 --picture"),
    "calibrate": (".png", "calibrate --ratings second_ratings.jsonl --ratings ratings.jsonl --picture"),
    "cache export": ("", "cache export --force"),
    "questions review": ("", "questions review starter --to"),
    "index": ("", "build-index texts"),
    "population sample": ("", "population sample starter -o"),
    "population merge": ("", "population merge starter starter --name n --licence MIT -o"),
    "questions write": ("", "questions write starter --grader atonce/g -o"),
    "features discover": ("", "features discover --task t --grader atonce/g -o"),
}
PLACES = ("/dev/full", "file/f", "logs", "x" * 300, "/proc/f")
OTHERS = "full disks, pipes without a reader and unwritable places, for the other commands"
HALF_MADE = "BaseEventLoop.__del__"  # Python itself tells of a loop that Ctrl-C met in the millisecond of its making
JSON = ("summary", "cost", "calibrate", "cache info", "compare", "report", "agreement", "population show")


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    folder = tmp_path_factory.mktemp("one_line")
    for run in ("one", "other"):
        made_log(folder / LOGS, [{"genie": scored({"plot": 0.4, "style": 0.2})}] * 7, model=f"mock/{run}")
    stories = [f"{prompt}_{maker}" for prompt in range(2) for maker in range(3)]
    votes = [{"story": story, "rater": "r", "votes": {"1": n % 2 == 0}} for n, story in enumerate(stories)]
    scores = [{"story": story, "judge": "j", "tests": {"1": n % 2 == 0}} for n, story in enumerate(stories)]
    for name, rows in (("votes", votes), ("scores", scores), ("rows", [ROW])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "texts").mkdir()
    (folder / "texts" / "one.txt").write_text(" ".join(f"Owl {number} sat on a barn." for number in range(200)))
    with Commands(folder) as running:
        yield running


def fill_cache(commands: Commands) -> None:
    """More than a pipe holds, for what looks at it, writes it or forgets it."""
    Cache(commands.folder / "cache").keep(RATINGS, ("list(x)", "q", "a"), {f"{n}": Judged(2) for n in range(2_000)})


def run(commands: Commands, verb: str, *more: str, **options: Any) -> Ended:
    output = commands.folder / "output"
    if output.is_dir():
        shutil.rmtree(output)
    output.unlink(missing_ok=True)
    fill_cache(commands)
    return commands.run(*VERBS[verb].split(), *more, **options)


@pytest.mark.parametrize("verb", rest_with_ci(list(VERBS), OTHERS, every=4))
def test_a_full_disk_behind_standard_output_is_one_line_that_names_it(verb: str, commands: Commands) -> None:
    ended = run(commands, verb, stdout="/dev/full")
    assert ended.errors == ["Error: standard output cannot be written: No space left on device"]
    assert ended.code == 1
    assert ended.stderr.endswith(ended.errors[0] + "\n"), "nothing follows when the process ends"


@pytest.mark.parametrize("verb", rest_with_ci(JSON, OTHERS, every=4))
def test_a_full_disk_behind_json_is_one_line_too(verb: str, commands: Commands) -> None:
    ended = run(commands, verb, "--json", stdout="/dev/full")
    assert ended.errors == ["Error: standard output cannot be written: No space left on device"]


@pytest.mark.parametrize("verb", rest_with_ci(list(reversed(VERBS)), OTHERS, every=4))
def test_a_reader_that_has_gone_away_ends_a_command_without_a_word(verb: str, commands: Commands) -> None:
    ended = run(commands, verb, closed=True)
    assert ended.code == 1
    assert ended.errors == []
    assert not re.search("Traceback|Exception|Broken", ended.stderr), ended.stderr


# each verb has five places: among every fourth pair are all verbs and all places
@pytest.mark.parametrize(("verb", "place"), rest_with_ci(list(product(WRITERS, PLACES)), OTHERS, every=4))
def test_a_place_that_cannot_be_written_is_one_line_that_names_it(verb: str, place: str, commands: Commands) -> None:
    if place == "/dev/full" and verb in FOLDERS:
        place = "/dev/full/output"
    if verb == "report, pictures" and place == LOGS:
        place = "file"  # a folder is what it wants
    fill_cache(commands)
    (commands.folder / "file").write_text("")
    ending = WRITERS[verb][0] if place in ("file/f", "/proc/f") else ""
    ended = commands.run(*WRITERS[verb][1].split(), place + ending)
    assert len(ended.errors) == 1, ended
    assert place[:200] in ended.errors[0], ended
    assert "Traceback" not in ended.stderr
    assert ended.code in (1, 2)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_in_any_locale_json_reads_back_and_a_table_is_printed(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding))
    with printable_streams():
        echo_json({"name": WORDS})
        # click takes ASCII for a locale that nobody chose, and writes UTF-8
        assert json.loads(written.getvalue().decode("utf-8" if encoding == "ascii" else encoding)) == {"name": WORDS}
        console().print(WORDS)
    assert written.getvalue().endswith((b"\ud83e\udd89\n", "\N{OWL}\n".encode()))


@pytest.mark.parametrize("wait", rest_with_ci([0.3, 0.02, 0.1, 1.0, 2.0], "Ctrl-C at other moments"))
def test_ctrl_c_ends_the_demo_with_one_word(wait: float, commands: Commands) -> None:
    for _ in range(3):
        ended = commands.run("demo", "--log-dir", "demo", interrupt=wait)
        if HALF_MADE not in ended.stderr:
            break
    if ended.code == 0:
        pytest.skip("it was done before")
    assert ended.code == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "StopIteration" not in ended.stderr
    assert ended.stderr.rstrip().splitlines()[-1].startswith(("Aborted!", "Error: the evaluation of bundled/"))
