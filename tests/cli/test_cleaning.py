"""`--clean-by-model`, as a user calls it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai.model import Model, get_model
from tests.building.scripts import FEATURES, OWL, STORIES, willing, write_log
from tests.scripted import Script, saying

import genie_inspect.cli.running as running
from genie_inspect.cli import main
from genie_inspect.populations.population import write_features
from genie_inspect.prompting.fence import unfenced

SOUND = "The owl left the barn at dusk. She found the moon."
TAIL = " moon the of owl blue blue"  # six words
NEW = ("-o", "new", "--name", "n", "--licence", "MIT")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"prompt": OWL, "text": SOUND + TAIL}, {"prompt": OWL, "text": STORIES["b/two"][OWL][0]}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_features(tmp_path / "features.json", FEATURES)
    write_log(tmp_path / "a.eval", "a/one", {OWL: [row["text"] for row in rows]})
    return tmp_path


def naming() -> Script:
    """A grader that names the last whole sentence of a text, and does all else that building asks of one."""
    able = willing()

    def reply(request: str) -> str:
        data = unfenced(request)
        if "writing" not in data:
            return str(able.reply(request))
        return json.dumps({"last": data["writing"][: data["writing"].rindex(".") + 1].split(". ")[-1]})

    return Script(reply)


def genie(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["population", *arguments])


def called(monkeypatch: pytest.MonkeyPatch, script: Script, *arguments: str) -> Result:
    def model(name: str) -> Model:
        return script.model() if name == "mock/g" else get_model(name)

    monkeypatch.setattr(running, "get_model", model)
    return genie(*arguments, "--grader", "mock/g")


def said(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_an_import_cleans_and_check_and_show_say_how_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = said(called(monkeypatch, naming(), "import", "t.jsonl", *NEW, "--clean-by-model", "--json"))
    assert done["cleaned"] == {"asked about": 2, "cut": 1, "words cut": 6}
    assert (done["documents"], done["calls"]) == (2, 2)
    assert "cut by a model: 1, by 6 to 6, median 6 words" in genie("check", "new").stdout
    assert "cut by a model: 1, by 6 to 6, median 6 words" in genie("show", "new").stdout
    assert f"(model not said, cut by 6 words) {SOUND}\n" in genie("show", "new", "--prompt", "owl").stdout


def test_an_import_that_was_stopped_asks_for_the_rest_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    able = naming()

    def failing(request: str) -> str:
        if "Snow" in request:
            raise ConnectionError("gone")
        return str(able.reply(request))

    arguments = ("import", "t.jsonl", *NEW, "--clean-by-model", "--json")
    assert called(monkeypatch, Script(failing), *arguments).exit_code == 1
    assert not (folder / "new").exists()
    done = said(called(monkeypatch, naming(), *arguments))
    assert (done["calls"], done["replies_on_record"], done["cleaned"]["asked about"]) == (1, 1, 2)


def test_a_dry_run_of_an_import_counts_the_calls_and_writes_nothing(folder: Path) -> None:
    more = ("--clean-by-model", "--grader", "openai/gpt-4o", "--dry-run", "--json")
    planned = said(genie("import", "t.jsonl", *NEW, *more))
    assert (planned["documents"], planned["calls_needed"]) == (2, 2)
    # as long as the sentences that are copied, and what stands around them
    assert 30 < planned["output_tokens"] < 80
    assert "cleaned" not in planned
    assert not (folder / "new").exists()
    assert not (folder / "new.work").exists()


def test_the_option_and_the_grader_of_an_import_go_together(folder: Path) -> None:
    for more in (("--clean-by-model",), ("--grader", "mockllm/model")):
        result = genie("import", "t.jsonl", *NEW, *more)
        assert result.exit_code == 2
        assert "--clean-by-model and --grader go together" in result.output
    assert not (folder / "new").exists()


def test_an_import_without_the_option_says_nothing_of_it(folder: Path) -> None:
    plain = said(genie("import", "t.jsonl", *NEW, "--json"))
    assert "cleaned" not in plain
    assert "cut by" not in genie("check", "new").stdout + genie("show", "new").stdout
    assert not (folder / "new.work").exists()


BUILD = ("build", "a.eval", *NEW, "--features", "features.json", "--per-feature", "1", "--json")


def test_a_build_cleans_and_counts_it_and_without_the_option_says_nothing_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cleaned" not in said(called(monkeypatch, naming(), *BUILD, "-o", "plain"))
    done = said(called(monkeypatch, naming(), *BUILD, "--clean-by-model"))
    assert done["cleaned"] == {"asked about": 2, "cut": 1, "words cut": 6}


def test_a_dry_run_of_a_build_counts_a_call_more_a_document(folder: Path) -> None:
    plans = [
        said(genie(*BUILD, "--grader", "openai/gpt-4o", "--dry-run", *more)) for more in ((), ("--clean-by-model",))
    ]
    assert plans[1]["calls_needed"] - plans[0]["calls_needed"] == 2
    assert plans[1]["documents"] == 2


def test_a_grader_that_says_nothing_leaves_every_document_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = said(called(monkeypatch, saying(""), "import", "t.jsonl", *NEW, "--clean-by-model", "--json"))
    assert done["cleaned"] == {"asked about": 2, "kept whole: the reply could not be read": 2}
    assert (done["documents"], done["calls"]) == (2, 6)
