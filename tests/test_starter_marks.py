"""The tool that asks for the recorded close reading, and makes the recording of the replies."""

import json
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from tests.tools import tool_named

from genie_inspect.graders.close_reader import ASPECTS
from genie_inspect.prompting.fence import unfenced
from genie_inspect.providers.replay import starter_record

STORY = starter_record().stories[0]
REASON = "The sea is asked to keep accounts."


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return tool_named("starter_marks")


def test_every_story_is_asked_about_for_every_aspect(tool: ModuleType, tmp_path: Path) -> None:
    assert CliRunner().invoke(tool.main, ["requests", str(tmp_path)]).output.startswith("96 requests")
    for story in starter_record().stories:
        for aspect in ASPECTS:
            request = (tmp_path / f"{story.id}.{aspect}.md").read_text(encoding="utf-8")
            assert unfenced(request) == {"aspect": aspect, "text": story.text}


def replied(folder: Path, aspect: str, *expressions: str) -> None:
    reply = [{"expression": expression, "reason": REASON} for expression in expressions]
    (folder / f"{STORY.id}.{aspect}.json").write_text(json.dumps(reply), encoding="utf-8")


def record(tool: ModuleType, folder: Path) -> tuple[int, str]:
    result = CliRunner().invoke(tool.main, ["record", str(folder), "--second"])
    return result.exit_code, result.output


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tool: ModuleType) -> list[object]:
    rows: list[object] = []
    monkeypatch.setattr(tool, "write_rows", lambda path, items: rows.extend(items))
    return rows


def test_replies_become_rows_also_those_that_quote_nothing(
    tool: ModuleType, tmp_path: Path, written: list[object]
) -> None:
    phrase = " ".join(STORY.text.split()[:4])
    for aspect in ASPECTS:
        replied(tmp_path, aspect, *([phrase] if aspect == "novel" else []))
    assert record(tool, tmp_path)[0] == 0
    assert [(row.document, row.aspect, [mark.expression for mark in row.marks]) for row in written] == [  # type: ignore[attr-defined]
        (STORY.id, aspect, [phrase] if aspect == "novel" else []) for aspect in ASPECTS
    ]


def test_every_fault_of_every_reply_is_named_and_nothing_is_written(
    tool: ModuleType, tmp_path: Path, written: list[object]
) -> None:
    words = STORY.text.split()
    replied(tmp_path, "novel", "words of another story", words[0])
    replied(tmp_path, "awkward", " ".join(words[:4]), " ".join(words[2:6]))
    code, output = record(tool, tmp_path)
    assert code == 1
    assert "4 faults" in output
    for fault in ("does not stand in the story", "has 1 words, expected 2", "overlap", f"{STORY.id}.senseless.json"):
        assert fault in output
    assert not written
