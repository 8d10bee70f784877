"""`genie plots`, as a user calls it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai.model import Model, get_model
from tests.scripted import Script, output, saying

import genie_inspect.cli.running as running
from genie_inspect.cli import main
from genie_inspect.populations.stories import reference_stories

PLOT = " ".join(["A keeper of bees counts them every night until one of them is missing and"] * 2) + " leaves."
STORIES = [
    {"title": "Bees", "story": "She counted."},
    {"title": "Lock", "plot": "A lock opens.", "story": "It opened."},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(json.dumps(row) + "\n" for row in STORIES)
    (tmp_path / "stories.jsonl").write_text(rows, encoding="utf-8")
    return tmp_path


def called(monkeypatch: pytest.MonkeyPatch, script: Script, *arguments: str) -> Result:
    def model(name: str) -> Model:
        return script.model() if name == "mock/g" else get_model(name)

    monkeypatch.setattr(running, "get_model", model)
    return CliRunner().invoke(main, ["plots", *arguments, "-o", "refs.jsonl", "--grader", "mock/g"])


def test_a_plot_is_drawn_for_each_story_that_has_none_and_the_file_is_the_tasks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = saying(PLOT)
    result = called(monkeypatch, script, "stories.jsonl", "--json")
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout)
    assert (said["drawn"], said["had_a_plot"], said["outside_of_25_to_50_words"], said["calls"]) == (1, 1, 0, 1)
    assert [(story.title, story.plot) for story in reference_stories("refs.jsonl")] == [
        ("Bees", PLOT),
        ("Lock", "A lock opens."),
    ]


def test_a_folder_of_texts_is_stories_titled_by_their_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "door.txt").write_text("\ufeffA door.\n", encoding="utf-8")
    assert called(monkeypatch, saying("Short."), "mine").exit_code == 0
    (story,) = reference_stories("refs.jsonl")
    assert (story.title, story.plot, story.story) == ("door", "Short.", "A door.")


def test_a_run_that_failed_goes_on_where_it_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = json.dumps({"title": "Door", "story": "It closed."})
    with (folder / "stories.jsonl").open("a", encoding="utf-8") as file:
        file.write(more + "\n")

    def reply(request: str) -> str:
        if "closed" in request:
            raise ConnectionError("gone")
        return PLOT

    assert called(monkeypatch, Script(reply), "stories.jsonl").exit_code == 1
    assert not (folder / "refs.jsonl").exists()
    script = saying(PLOT)
    result = called(monkeypatch, script, "stories.jsonl", "--json")
    assert result.exit_code == 0, result.output
    assert len(script.requests) == 1
    assert json.loads(result.stdout)["replies_on_record"] == 1


def test_a_plot_that_is_cut_off_is_no_plot_and_is_not_on_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Script(lambda _: output("A keeper of bees", "max_tokens"))
    result = called(monkeypatch, cut, "stories.jsonl")
    assert result.exit_code == 1
    assert "drew no plot in 3 replies: cut off at 2048 tokens: 'A keeper of bees'" in result.output
    assert len(cut.requests) == 3
    assert not (folder / "refs.jsonl").exists()
    whole = saying(PLOT)
    said = json.loads(called(monkeypatch, whole, "stories.jsonl", "--json").stdout)
    assert (len(whole.requests), said["replies_on_record"]) == (1, 0)


def test_after_a_plot_that_is_cut_off_a_whole_one_is_taken_and_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = iter([output("A keeper", "max_tokens"), output(PLOT)])
    said = json.loads(called(monkeypatch, Script(lambda _: next(replies)), "stories.jsonl", "--json").stdout)
    assert (said["drawn"], said["calls"]) == (1, 2)
    assert reference_stories("refs.jsonl")[0].plot == PLOT


def test_a_dry_run_asks_nobody_and_writes_nothing(folder: Path) -> None:
    arguments = ["plots", "stories.jsonl", "-o", "refs.jsonl", "--grader", "openai/gpt-4o", "--dry-run", "--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert (said["stories"], said["calls_needed"]) == (2, 1)
    assert 25 < said["output_tokens"] < 90
    assert sorted(path.name for path in folder.iterdir() if path.name != "cache") == ["stories.jsonl"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "holds no file *.txt"),
        (" ", "a.txt is empty"),
    ],
)
def test_a_folder_without_stories_is_one_clear_line(folder: Path, content: str | None, fault: str) -> None:
    (folder / "mine").mkdir()
    if content is not None:
        (folder / "mine" / "a.txt").write_text(content, encoding="utf-8")
    result = CliRunner().invoke(main, ["plots", "mine", "-o", "refs.jsonl", "--grader", "mockllm/model"])
    assert result.exit_code == 1
    assert fault in result.output


def test_a_file_that_is_there_is_not_written_over_and_nobody_is_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "refs.jsonl").write_text("mine", encoding="utf-8")
    script = saying(PLOT)
    result = called(monkeypatch, script, "stories.jsonl")
    assert result.exit_code == 1
    assert "refs.jsonl" in result.output
    assert "expected a new file" in result.output
    assert not script.requests
