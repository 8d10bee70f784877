"""Every verb that writes a file, given a place where something stands: nothing of anybody's is lost without a word."""

import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.hostile_logs import sound_log
from tests.hostile_populations import sound_population

from genie_inspect.cli import main
from genie_inspect.graders.cache import ANSWERS, Cache

REPLACES = {
    "report": "report {log} -o {out}.html",
    "compare-csv": "compare {log} {other} --baseline {other} --csv {out}.csv",
    "compare-picture": "compare {log} {other} --baseline {other} --picture {out}.svg",
    "agreement-picture": "agreement {log} --votes {votes} --scorer genie --resamples 5 --picture {out}.svg",
    "calibrate-picture": "calibrate --population {population} --ratings {ratings} --picture {out}.svg",
    "reference_scores": "population reference-scores {population} --judge offline -o {out}.json",
    "export-force": "cache export --force {out}.jsonl",
}
REFUSES = {
    "export": "cache export {out}.jsonl",
    "review-to": "questions review {population} --to {out}.csv --features {population}",
    "review-from": "questions review {population} --from {table} -o {out}.jsonl --features {population}",
}
FOLDERS = {
    "sample": "population sample {population} -o {out}",
    "merge": "population merge {population} {population} -o {out} --name m --licence MIT",
    "import": "population import {rows} -o {out} --name i --licence MIT --map document=text",
    "build": "population build {log} -o {out} --name b --licence MIT --grader bundled/grader",
    "write": "questions write {population} -o {out} --grader bundled/grader --features {population}",
    "discover": "features discover --task stories -o {out} --grader bundled/grader",
}
VERBS = REPLACES | REFUSES


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Something sound of everything that a verb reads."""
    folder = tmp_path_factory.mktemp("inputs")
    made = {name: folder / name for name in ("population", "votes", "ratings", "table", "rows")}
    sound_population(made["population"])
    votes: list[dict[str, object]] = [
        {"story": f"{n}_mock/writer", "rater": r, "votes": {"01": n > 2}} for n in range(1, 5) for r in "ab"
    ]
    texts: list[dict[str, object]] = [{"text": "An owl.", "prompt": "Write."}]
    for name, rows in {"votes": votes, "rows": texts}.items():
        made[name] = folder / f"{name}.jsonl"
        made[name].write_text("".join(json.dumps(row) + "\n" for row in rows))
    made["ratings"] = folder / "ratings.csv"
    rated = [f"What happens?,an owl,a fox,{rating},{rater}\n" for rater, rating in (("ann", 2), ("bob", 3))]
    made["ratings"].write_text("".join(["question,answer,other,rating,rater\n", *rated]))
    made["log"], made["other"] = Path(sound_log(folder / "a")), Path(sound_log(folder / "b", "mock/other"))
    made["table"] = folder / "table.csv"
    table = REFUSES["review-to"].format(**made | {"out": folder / "table"}).split()
    assert CliRunner().invoke(main, table).exit_code == 0
    return made


@pytest.fixture(autouse=True)
def _something_to_export(cache_dir: Path) -> None:
    Cache(cache_dir).keep(ANSWERS, ("reader", "document"), {"Who?": "a pilot"})


Run = Callable[[str, Path], Result]


@pytest.fixture
def run(places: dict[str, Path]) -> Run:
    """Runs a verb with an output, whose ending the verb adds unless the path has one."""

    def called(verb: str, output: Path) -> Result:
        if "icture" in verb or verb == "report":
            pytest.importorskip("vl_convert", reason="needs the extra `charts`")
        parts = (VERBS | FOLDERS)[verb].split()
        return CliRunner().invoke(main, [_placed(part, places, output) for part in parts])

    return called


def _placed(part: str, places: dict[str, Path], output: Path) -> str:
    whole = str(output) if part.startswith("{out}") else part
    return whole.format(**places)


def ending(verb: str) -> str:
    return VERBS[verb].partition("{out}")[2].split()[0]


def refused(result: Result, output: Path, words: str) -> None:
    assert result.exit_code == 1, result.output
    (line,) = (line for line in result.stderr.splitlines() if line.startswith("Error: "))
    assert str(output) in line
    assert words in line


@pytest.fixture
def with_umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("verb", VERBS)
def test_a_new_file_is_as_private_as_the_umask_has_it(
    verb: str, run: Run, with_umask: Callable[[int], int], tmp_path: Path
) -> None:
    with_umask(0o077)
    output = tmp_path / "new" / f"output{ending(verb)}"
    output.parent.mkdir()
    result = run(verb, output)
    assert result.exit_code == 0, result.output
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert list(output.parent.iterdir()) == [output]
    assert "replaced" not in result.stderr


@pytest.mark.parametrize("verb", REPLACES)
def test_a_file_is_replaced_with_a_word_and_keeps_its_permissions(verb: str, run: Run, tmp_path: Path) -> None:
    output = tmp_path / f"output{ending(verb)}"
    output.write_text("mine")
    output.chmod(0o640)
    result = run(verb, output)
    assert result.exit_code == 0, result.output
    assert f"replaced {output}" in result.stderr
    assert output.read_bytes() != b"mine"
    assert stat.S_IMODE(output.stat().st_mode) == 0o640


@pytest.mark.parametrize("verb", REFUSES)
def test_a_file_that_must_be_new_replaces_none_and_follows_no_link(verb: str, run: Run, tmp_path: Path) -> None:
    output, link = (tmp_path / f"{name}{ending(verb)}" for name in ("output", "link"))
    output.write_text("mine")
    link.symlink_to(output)
    for path in (output, link):
        refused(run(verb, path), path, "exists")
    assert output.read_text() == "mine"
    assert link.is_symlink()


@pytest.mark.parametrize("verb", REPLACES)
def test_names_that_somebody_planted_are_not_followed_and_a_link_to_nothing_makes_nothing(
    verb: str, run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    output, victim = folder / f"output{ending(verb)}", tmp_path / "victim"
    victim.write_text("precious")
    planted = [folder / f"{before}{output.name}{after}" for before in ("", ".") for after in (".part", ".tmp", "~")]
    for path in planted:
        path.symlink_to(victim)
    assert run(verb, output).exit_code == 0
    assert victim.read_text() == "precious"
    assert {path.name for path in folder.iterdir()} == {output.name, *(path.name for path in planted)}
    output.unlink()
    output.symlink_to(tmp_path / "nothing")
    refused(run(verb, output), output, "it is a link to nothing")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("verb", VERBS)
def test_a_pipe_is_written_to_and_stays_one(verb: str, run: Run, tmp_path: Path) -> None:
    output = tmp_path / f"pipe{ending(verb)}"
    os.mkfifo(output)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(output.read_bytes()), daemon=True)
    reader.start()
    result = run(verb, output)
    reader.join(timeout=30)
    assert result.exit_code == 0, result.output
    assert read[0]
    assert stat.S_ISFIFO(output.stat().st_mode)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if ending(verb) != ".svg"])
def test_a_device_is_written_to_and_stays_one(verb: str, run: Run) -> None:
    result = run(verb, Path(os.devnull))
    assert result.exit_code == 0, result.output
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize("verb", FOLDERS)
def test_what_stands_where_a_folder_shall_come_is_left_as_it_is(verb: str, run: Run, tmp_path: Path) -> None:
    file, link, full, pipe = (tmp_path / name for name in ("file", "link", "full", "pipe"))
    file.write_text("mine")
    full.mkdir()
    (full / "mine").write_text("mine")
    link.symlink_to(full)
    os.mkfifo(pipe)
    for path, words in ((file, "is a file"), (link, "is a link"), (full, "not empty"), (pipe, "is a file")):
        refused(run(verb, path), path, words)
    refused(run(verb, Path(os.devnull)), Path(os.devnull), "is a file")
    assert {path.name for path in tmp_path.iterdir()} == {"file", "link", "full", "pipe"}
    assert [file.read_text(), (full / "mine").read_text()] == ["mine", "mine"]
