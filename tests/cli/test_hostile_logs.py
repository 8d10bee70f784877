"""Every verb over damaged logs, and folders with logs that did not finish or were scored in another way."""

import json
import math
import re
import warnings
from itertools import product
from pathlib import Path

import pytest
from click.testing import Result
from tests.cli.called import genie, lines_of, refuse, sound_inputs
from tests.fuzzed import LOGS, fuzz
from tests.hostile_logs import damages, sound_log
from tests.processes import Commands, tries
from tests.reports.made_logs import GENIE, made_log, scored

from genie_inspect.cli.terminal import printable_streams
from genie_inspect.errors import GenieWarning
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.results import results_of
from genie_inspect.logs.scores import NO_NUMBER

VERBS = LOGS | {
    "ttcw words": "ttcw words {log} --json",
    "build": "population build {log} -o {folder}/built --name n --licence MIT --grader mockllm/model --dry-run --json",
}
NAMELESS = {  # refused for what the log says, with the words of it and not its name
    *("member no samples.eval", "field no choices.eval", "field a lone surrogate.eval", "field model markup.eval"),
    *("field signature object.eval", "field judge object.eval"),
}
STEP = 10  # of the damages each verb meets one in so many, another one than the verb before it


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sound logs, votes about their stories, and all damaged ones."""
    folder = tmp_path_factory.mktemp("logs")
    sound = Path(sound_log(folder / "sound"))
    Path(sound_log(folder / "other", "mock/other")).rename(folder / "other.eval")
    votes = [
        {"story": f"{number}_mock/writer", "rater": rater, "votes": {"01": number > 2}}
        for number in range(1, 5)
        for rater in ("ann", "bob")
    ]
    lines_of(folder / "votes.jsonl", votes)
    (folder / "damaged").mkdir()
    for name, damage in damages().items():
        damage(sound, folder / "damaged" / name)
    files = [path for path in (folder / "damaged").iterdir() if path.is_file()]
    assert len(damages()) >= 60
    assert len({path.read_bytes() for path in files}) >= len(files) - 2, "each makes another file"
    sound.rename(folder / "sound.eval")
    return folder


def called(verb: str, folder: Path, log: Path) -> Result:
    places = {"folder": folder, "log": log, "other": folder / "other.eval", "votes": folder / "votes.jsonl"}
    return genie(*(part.format_map(places) for part in VERBS[verb].split()))


@pytest.mark.filterwarnings("default::genie_inspect.errors.GenieWarning")  # what a log lacks is a warning, and no fault
@pytest.mark.repeated
@pytest.mark.parametrize("verb", VERBS)
def test_a_damaged_log_is_one_line_that_names_it_or_what_can_be_read_of_it(verb: str, folder: Path) -> None:
    assert called(verb, folder, folder / "sound.eval").exit_code == 0
    names = list(damages())[list(VERBS).index(verb) :: tries(STEP, 1)]
    for name in names:
        result = called(verb, folder, folder / "damaged" / name)
        assert result.exception is None or isinstance(result.exception, SystemExit), (name, result.exc_info)
        if result.exit_code:
            (line,) = (line for line in result.stderr.splitlines() if line.startswith("Error: "))
            assert name in line or name in NAMELESS, line
        elif "--json" in VERBS[verb]:
            json.loads(result.stdout, parse_constant=refuse)


MEMORY = 3_000_000_000  # bytes of addresses; the libraries alone take a third of it


def test_a_log_that_is_made_to_fill_the_memory_or_to_end_the_process_does_neither(folder: Path, tmp_path: Path) -> None:
    with Commands(tmp_path, memory=MEMORY) as commands:
        for name in ("brackets.json", "braces.json", "number.json", "member a sample deep.eval"):
            for verb in ("show", "compare"):
                places = {"log": folder / "damaged" / name, "other": folder / "other.eval"}
                ended = commands.run(*(part.format_map(places) for part in VERBS[verb].split()))
                assert (ended.code, len(ended.errors)) == (1, 1), ended
                assert "Traceback" not in ended.stderr
                assert name in ended.errors[0]


@pytest.mark.filterwarnings("default::genie_inspect.errors.GenieWarning")
@pytest.mark.repeated
def test_fuzzed_logs_and_files_end_well_or_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "cache"))
    assert [(what, fault) for what, fault in fuzz(tries(104, 1_040), tmp_path) if fault] == []


def test_a_value_out_of_its_range_is_unscored_with_that_reason_and_a_warning(folder: Path) -> None:
    huge = folder / "damaged" / "field value huge.eval"
    with pytest.warns(GenieWarning, match=r"value huge\.eval: 4 values .* the first is 1e\+308 for plot by genie"):
        (log,) = read_logs([huge])
    assert [math.isnan(value) for value in log.values("genie", "plot")] == [True] * 4
    assert log.values("genie", "style") == [0.5] * 4
    with pytest.warns(GenieWarning):
        (log,) = read_logs([folder / "damaged" / "field value infinite.eval"])
    assert results_of(log, "genie").unscored == {NO_NUMBER: 1}


def test_a_key_that_would_steer_the_table_is_shown_as_it_stands(folder: Path) -> None:
    result = called("summary, a table", folder, folder / "damaged" / "field value steering.eval")
    assert result.exit_code == 0, result.output
    assert "[/bold]" in result.stdout


FOLDER_VERBS = ("summary", "compare", "report", "agreement")


def as_script(verb: str, *logs: object) -> Result:
    votes = str(Path(str(logs[0])).parent / "votes.jsonl")
    options = {
        "compare": ["--baseline", "mock/writer"],
        "agreement": ["--scorer", "genie", "--resamples", "5", "--votes", votes],
    }
    return genie(verb, *logs, *options.get(verb, []), "--json")


@pytest.fixture
def half_done(tmp_path: Path) -> Path:
    """Two finished logs, one that was cancelled and one that was cut."""
    folder = sound_inputs(tmp_path) / "logs"
    samples = [{"genie": scored({"genie_total": value, "plot": value})} for value in (0.1, 0.4, 0.9, 0.2)]
    Path(made_log(folder, samples, status="error")).rename(folder / "stopped.eval")
    (folder / "cut.eval").write_bytes((folder / "log-0.eval").read_bytes()[:500])
    return folder


@pytest.mark.parametrize("verb", FOLDER_VERBS)
def test_logs_of_a_folder_that_cannot_be_used_are_left_out_with_a_notice_each(verb: str, half_done: Path) -> None:
    with pytest.warns(GenieWarning) as noticed:
        result = as_script(verb, half_done)
    assert result.exit_code == 0, result.output
    # other warnings may come in between: those of what earlier tests left to the garbage collector
    notices = "\n".join(sorted(str(n.message) for n in noticed if issubclass(n.category, GenieWarning)))
    said = re.findall(r"\w+\.eval (?:cannot be read|is not finished)", notices)
    assert said == ["cut.eval cannot be read", "stopped.eval is not finished"]
    assert len(notices.splitlines()) == 2
    for name in ("stopped.eval", "cut.eval"):
        named = as_script(verb, half_done, half_done / name)
        assert (named.exit_code, named.stderr[:7]) == (1, "Error: "), "a log that is named itself"
        assert name in named.stderr
        (half_done / name).unlink()
    assert json.loads(as_script(verb, half_done).stdout) == json.loads(result.stdout)
    for path in half_done.iterdir():
        path.write_bytes(b"")
    nothing = as_script(verb, half_done)
    assert nothing.exit_code == 1
    assert "none of 2 logs can be used; the last: " in nothing.stderr


def test_a_notice_is_one_line_without_the_place_in_our_code() -> None:
    with printable_streams():
        line = warnings.formatwarning(GenieWarning("left out: a\nlog\u2028"), GenieWarning, "files.py", 1)
    assert line == "Notice: left out: a log.\n"


@pytest.mark.parametrize("verb", ["summary", "compare", "report"])
def test_of_logs_by_two_judges_those_of_one_can_be_chosen(verb: str, tmp_path: Path) -> None:
    for model, judge in product(("mock/writer", "mock/other"), ("list", "pairwise")):
        samples = [{"genie": scored({"plot": value}, GENIE.replace("test", judge))} for value in (0.1, 0.4, 0.9)]
        made_log(tmp_path, samples, model=model)
    both = as_script(verb, tmp_path)
    chosen = json.loads(as_script(verb, tmp_path, "--signature", "judge:pairwise").stdout)
    if verb == "summary":
        assert json.loads(both.stdout)[1:] == chosen
    else:
        assert "choose with --signature and a part of one, such as --signature 'judge:list'" in both.stderr
        assert sorted(run["label"] for run in chosen["runs"]) == ["mock/other", "mock/writer"]
