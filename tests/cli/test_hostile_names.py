"""Names from logs, populations, files and replies that would steer a terminal: of none of them a byte gets there."""

import json
import os
import pty
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cli.called import lines_of, refuse
from tests.left_out import rest_with_ci, with_ci
from tests.processes import Commands, Ended
from tests.reports.made_logs import NEAR, asked, made_log, scored
from tests.reports.studies import made, study_log
from tests.scripted import FEATURES

from genie_inspect.graders.cache import RATINGS, Cache, Judged
from genie_inspect.populations.schema import AnswerRow, Document, Question
from genie_inspect.populations.writing import write_population

TITLE = "\x1b]0;owned\x07"
STEERING = f"{TITLE}\x1b[2J\x9b31m\x9d0;x\x9c\r\x08\x7f\u202egnp.\u2066\u200f\u061c"
HOSTILE = f"evil{STEERING}\uffffname"
IN_A_FILE = HOSTILE.replace("\r", "") + "\udcff"  # as Python has a byte that is no UTF-8
STEERED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
OWN = re.compile(r"\x1b\[(?:\d+(?:;\d+)*)?m|\x1b\[\?25[lh]|\x1b\[\d?[AK]|\r(?:\n)?")
"""What rich writes on a terminal by itself: styles, the cursor hidden and shown, up a line, a line cleared."""
QUESTION = f"What{STEERING}happens?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that a command can be pointed at, with hostile names in all places that take any text."""
    folder = tmp_path_factory.mktemp("hostile")
    facts: dict[str, Any] = {
        "faults": {HOSTILE: 1},
        "coverage": {"plot": "1/4"},
        "pairs": {"plot": "5/48"},
        "questions": [asked(0.5, question=HOSTILE, answer=HOSTILE, nearest=[NEAR[0] | {"answer": HOSTILE}])],
    }
    for run in ("one", "other"):
        explained = scored({"plot": 0.4, "style": 0.2}, f"measure:{HOSTILE}|judge:test", **facts)
        cosine = scored({"cosine_mean": 0.4, "cosine_nearest": 0.2}, f"measure:cosine|by:{HOSTILE}")
        cosine.explanation = HOSTILE
        made_log(
            folder / "logs",
            [{"genie": explained, "cosine": cosine}] * 7 + [{"genie": scored(float("nan"), reason=HOSTILE)}],
            model=f"mock/{HOSTILE}-{run}",
            texts=[HOSTILE] * 8,
            prompts=[f"{number} {HOSTILE}" for number in range(8)],
            places=[(f"{HOSTILE}-{number}", 1) for number in range(8)],
        )
    told = {HOSTILE: scored({HOSTILE: 0.5, "plot": 0.2}, f"measure:{HOSTILE}|judge:test", **facts)}
    study_log(folder / "study", made(4, [HOSTILE, "plot"]), lambda text: told, model=f"mock/{HOSTILE}")
    write_population(
        folder / "population",
        name=HOSTILE,
        version=HOSTILE,
        licence=HOSTILE,
        features=FEATURES,
        documents=[Document(id=f"{n}{HOSTILE}", prompt=HOSTILE, text=f"{n}{HOSTILE}", model=HOSTILE) for n in range(4)],
        questions=[Question(id=HOSTILE, prompt=HOSTILE, feature="plot", text=QUESTION)],
        answers=[
            AnswerRow(document=f"{n}{HOSTILE}", question=HOSTILE, reader=HOSTILE, text=f"{HOSTILE} {n % 2}")
            for n in range(4)
        ],
    )
    stories = [f"{prompt}_{HOSTILE}{maker}" for prompt in range(2) for maker in range(3)]
    votes = [
        {"story": story, "rater": f"{HOSTILE}{rater}", "votes": {HOSTILE: place % 2 == rater % 2}}
        for place, story in enumerate(stories)
        for rater in range(2)
    ]
    judged = [{"story": story, "judge": HOSTILE, "tests": {HOSTILE: n % 2 == 0}} for n, story in enumerate(stories)]
    rated = {"question": QUESTION, "answer": "rain"}
    ratings = [
        rated | {"other": f"snow {n}", "rating": 1 + n % 4, "rater": f"{HOSTILE}{rater}"}
        for n in range(4)
        for rater in range(2)
    ]
    for name, rows in (("votes", votes), ("scores", judged), ("ratings", ratings)):
        lines_of(folder / f"{name}.jsonl", rows)
    (folder / f"{IN_A_FILE}.eval").write_text("no log")
    (folder / f"{IN_A_FILE}.jsonl").write_text(json.dumps({HOSTILE: HOSTILE}) + "\n")
    (folder / "texts").mkdir()
    (folder / "texts" / f"{IN_A_FILE}.jsonl").write_text('{"text": 1}\n')
    return folder


@pytest.fixture(scope="module")
def commands(folder: Path) -> Iterator[Commands]:
    Cache(folder / "cache").keep(RATINGS, (f"list({HOSTILE})", HOSTILE, HOSTILE), {HOSTILE: Judged(2)})
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TERM", "xterm-256color")
        with Commands(folder) as running:
            yield running


VERBS = {
    "summary": "summary logs",
    "summary of what is no log": "summary FILE.eval",
    "summary of what is nowhere": "summary nowhere/FILE",
    "summary of a scorer that is none": "summary logs --scorer NAME",
    "compare": "compare logs --baseline mock/NAME-one",
    "compare with what is none": "compare logs --baseline NAME",
    "compare into a table": "compare logs --baseline mock/NAME-one --csv FILE.csv",
    "repeats": "repeats population --judge embedding",
    "repeats against what is none": "repeats logs --population population --baseline NAME",
    "show": "show LOG NAME-1",
    "show what is not scored": "show LOG NAME-7",
    "show what is none": "show LOG NAME",
    "study": "validate study --published",
    "study into a table": "validate study --csv FILE.csv",
    "study of a scorer that is none": "validate study --scorer no-NAME",
    "report": "report logs -o FILE.html",
    "report of a study": "report study -o FILE.html",
    "agreement": "agreement scores.jsonl --votes votes.jsonl --resamples 20",
    "agreement of a judge that is none": "agreement scores.jsonl --votes votes.jsonl --judge no-NAME",
    "calibrate": "calibrate --population population --ratings ratings.jsonl",
    "calibrate by what is none": "calibrate --population population --judge NAME --grader NAME",
    "cost": "cost --population population",
    "cost of a grader that is none": "cost --grader NAME",
    "population show": "population show population",
    "population show of a prompt": "population show population --prompt evil",
    "population check": "population check population",
    "population sample": "population sample population -o FILE --name NAME --dry-run",
    "population merge": "population merge population population --name NAME --licence NAME -o FILE --dry-run",
    "population import": "population import FILE.jsonl --name NAME --licence MIT -o FILE --dry-run --map document=NAME",
    "population build": "population build logs --name NAME --licence NAME -o FILE --dry-run --grader NAME",
    "questions review": "questions review population --to FILE.table",
    "questions write": "questions write FILE.txt -o FILE --grader atonce/g",
    "features discover": "features discover --task NAME -o FILE --grader atonce/g --dry-run",
    "cache info": "cache info",
    "cache clear": "cache clear",
    "cache export": "cache export",
    "index": "build-index texts FILE",
    "no verb": "NAME",
    "no option": "summary --NAME",
}
"""Commands by what they do; NAME stands for a hostile name, FILE for one of a file, LOG for a log."""
EITHER = "hostile names in what every other command writes to a pipe, a terminal or as JSON"
WITH_JSON = {"summary", "compare", "repeats", "study", "report", "agreement", "calibrate", "cost", "cache info"}
WITHOUT_NAMES = {"population check", "features discover", "population sample"}  # in their JSON
WITH_JSON |= WITHOUT_NAMES | {"population show", "population show of a prompt"}


def arguments(line: str, folder: Path) -> list[str]:
    (log, _) = sorted((folder / "logs").iterdir())
    words = [str(log) if word == "LOG" else word for word in line.split()]
    return [word.replace("NAME", HOSTILE).replace("FILE", IN_A_FILE) for word in words]


def clear(folder: Path) -> None:
    for ending in ("csv", "html", "table"):
        (folder / f"{IN_A_FILE}.{ending}").unlink(missing_ok=True)


def on_a_terminal(commands: Commands, words: list[str]) -> tuple[Ended, str]:
    """How a command ended whose output and errors went to a terminal, and all that the terminal got."""
    screen, end = pty.openpty()
    got = bytearray()

    def read() -> None:
        with suppress(OSError):  # what reading gives when the other end is closed
            while piece := os.read(screen, 4096):
                got.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    name = os.ttyname(end)
    ended = commands.run(*words, stdout=name, stderr=name)
    os.close(end)
    reader.join(10)
    os.close(screen)
    return ended, got.decode()


@pytest.mark.parametrize("verb", rest_with_ci(list(VERBS), EITHER, every=2))
def test_nothing_of_a_hostile_name_reaches_a_pipe_and_json_reads_back_with_the_names_as_they_are(
    verb: str, folder: Path, commands: Commands
) -> None:
    ended = commands.run(*arguments(VERBS[verb], folder))
    clear(folder)
    shown = ended.stdout + ended.stderr
    assert "Traceback" not in shown, shown[-1500:]
    assert not STEERED.findall(shown), shown
    if ended.code == 1 and "check" not in verb and "clear" not in verb:
        assert len(ended.errors) == 1, shown
        assert ended.stderr.endswith(ended.errors[0] + "\n"), "the error is one line"
    if verb not in WITH_JSON:
        return
    printed = commands.run(*arguments(VERBS[verb], folder), "--json").stdout
    clear(folder)
    assert not STEERED.findall(printed), printed
    found = json.dumps(json.loads(printed, parse_constant=refuse))
    if verb not in WITHOUT_NAMES:
        assert json.dumps(TITLE).strip('"') in found, "the name is whole"


@pytest.mark.parametrize("verb", rest_with_ci([*list(VERBS)[1:], next(iter(VERBS))], EITHER, every=2))
def test_nothing_of_a_hostile_name_reaches_a_terminal(verb: str, folder: Path, commands: Commands) -> None:
    ended, screen = on_a_terminal(commands, arguments(VERBS[verb], folder))
    clear(folder)
    assert screen, "something is shown"
    assert not STEERED.findall(OWN.sub("", screen)), screen
    assert ended.code in (0, 1, 2)


def test_an_export_reads_back_with_the_names_as_they_are(folder: Path, commands: Commands) -> None:
    (row,) = (json.loads(line) for line in commands.run("cache", "export").stdout.splitlines())
    assert row["question"] == row["answer"] == row["other"] == HOSTILE


@with_ci("five processes that draw hostile labels, which the page's charts have too")
def test_pictures_of_hostile_labels_are_drawn(folder: Path, commands: Commands) -> None:
    pytest.importorskip("vl_convert", reason="needs the extra `charts`")
    for verb in ("compare", "agreement", "calibrate"):
        ended = commands.run(*arguments(VERBS[verb], folder), "--picture", f"{verb}.png")
        assert ended.code == 0, ended.stderr
        assert (folder / f"{verb}.png").stat().st_size > 1_000
    ended = commands.run("report", "logs", "-o", "page.html", "--pictures", "pictures", "--picture", "first.png")
    assert ended.code == 0, ended.stderr
    assert (folder / "first.png").stat().st_size > 1_000
    assert len(list((folder / "pictures").iterdir())) > 1
