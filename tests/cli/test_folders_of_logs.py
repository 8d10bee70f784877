"""Folders as they really are: with logs that did not finish, are damaged, or were scored in another way."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.reports.made_logs import GENIE, made_log, scored

from genie_inspect.cli import main
from genie_inspect.cli.terminal import printable_streams
from genie_inspect.errors import GenieWarning

VOTES = [
    {"story": f"{number}_mock/{model}", "rater": rater, "votes": {"01": number > 2}}
    for number in range(1, 5)
    for model in ("writer", "other")
    for rater in ("ann", "bob")
]
FOLDER_VERBS = ("summary", "compare", "report", "agreement")


def called(verb: str, *logs: object) -> Result:
    """A verb over logs, for a script."""
    votes = str(Path(str(logs[0])).parent / "votes.jsonl")
    options = {
        "compare": ["--baseline", "mock/writer"],
        "agreement": ["--scorer", "genie", "--resamples", "5", "--votes", votes],
    }
    return CliRunner().invoke(main, [verb, *map(str, logs), *options.get(verb, []), "--json"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two finished logs, one that was cancelled and one that was cut."""
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in VOTES))
    folder = tmp_path / "logs"
    samples = [{"genie": scored({"genie_total": value, "plot": value})} for value in (0.1, 0.4, 0.9, 0.2)]
    for model in ("mock/writer", "mock/other"):
        made_log(folder, samples, model=model)
    Path(made_log(folder, samples, status="error")).rename(folder / "stopped.eval")
    (folder / "cut.eval").write_bytes((folder / "log-0.eval").read_bytes()[:500])
    return folder


@pytest.mark.parametrize("verb", FOLDER_VERBS)
def test_logs_of_a_folder_that_cannot_be_used_are_left_out_with_a_notice_each(verb: str, folder: Path) -> None:
    with pytest.warns(GenieWarning) as noticed:
        result = called(verb, folder)
    assert result.exit_code == 0, result.output
    said = sorted(
        re.findall(r"\w+\.eval (?:cannot be read|is not finished)", "\n".join(str(n.message) for n in noticed))
    )
    assert said == ["cut.eval cannot be read", "stopped.eval is not finished"]
    assert len(noticed) == 2
    for name in ("stopped.eval", "cut.eval"):
        named = called(verb, folder, folder / name)
        assert (named.exit_code, named.stderr[:7]) == (1, "Error: "), "a log that is named itself"
        assert name in named.stderr
    (folder / "stopped.eval").unlink()
    (folder / "cut.eval").unlink()
    assert json.loads(called(verb, folder).stdout) == json.loads(result.stdout)
    for path in folder.iterdir():
        path.write_bytes(b"")
    nothing = called(verb, folder)
    assert nothing.exit_code == 1
    assert "none of 2 logs can be used; of the last: " in nothing.stderr


def test_a_notice_is_one_line_without_the_place_in_our_code() -> None:
    with printable_streams():
        line = warnings.formatwarning(GenieWarning("left out: a\nlog\u2028"), GenieWarning, "files.py", 1)
    assert line == "Notice: left out: a log.\n"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Four logs by two judges."""
    for model in ("mock/writer", "mock/other"):
        for judge in ("list", "pairwise"):
            samples = [{"genie": scored({"plot": value}, GENIE.replace("test", judge))} for value in (0.1, 0.4, 0.9)]
            made_log(tmp_path / "logs", samples, model=model)
    return tmp_path / "logs"


def test_a_summary_has_a_table_for_each_signature_and_one_can_be_chosen(mixed: Path) -> None:
    tables: list[dict[str, Any]] = json.loads(called("summary", mixed).stdout)
    assert [(table["signature"], len(table["columns"])) for table in tables] == [
        (GENIE.replace("test", judge), 2) for judge in ("list", "pairwise")
    ]
    assert json.loads(called("summary", mixed, "--signature", "judge:pairwise").stdout) == tables[1:]
    assert json.loads(called("summary", mixed, "--scorer", "genie").stdout) == tables


@pytest.mark.parametrize("verb", ["compare", "report"])
def test_where_signatures_may_not_be_mixed_the_error_says_how_to_choose(verb: str, mixed: Path) -> None:
    refused = called(verb, mixed)
    assert refused.exit_code == 1
    assert "choose with --signature and a part of one, such as --signature 'judge:list'" in refused.stderr
    chosen = called(verb, mixed, "--signature", "judge:list")
    assert chosen.exit_code == 0, chosen.output
    assert sorted(run["label"] for run in json.loads(chosen.stdout)["runs"]) == ["mock/other", "mock/writer"]
