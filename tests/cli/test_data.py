"""`genie features`, `genie prompts` and `--clean-by-model`, called as a user calls them."""

import json
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from inspect_ai.model import get_model
from tests.building.scripts import FEATURES, OWL, STORIES, write_log
from tests.building.scripts import willing as able_grader
from tests.cli.called import as_json, genie, lines_of
from tests.scripted import Script, numbered, saying

import genie_inspect.cli.running as running
from genie_inspect.graders.stand_ins import rehearsed
from genie_inspect.populations.population import BUNDLED, write_features
from genie_inspect.populations.prompts import prompt_lines
from genie_inspect.populations.schema import Feature
from genie_inspect.prompting.templates import unfenced

FOUND = (Feature(name="mood", definition="How it feels."), Feature(name="font", definition="How it is set."))
Called = Callable[..., Result]
REPLY = numbered({1: "social_atmosphere", 2: "none"})


MAP = "features map found --taxonomy starter --grader mock/g"
WRITE = "prompts write --domain 'everyday life' -o own.jsonl --grader mock/g"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in, with features that were discovered."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "found").mkdir()
    write_features(tmp_path / "found" / "features.json", FOUND)
    return tmp_path


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    """Calls a command with a script in the place of the model mock/g."""

    def call(script: Script, command: str, *arguments: str) -> Result:
        monkeypatch.setattr(running, "get_model", lambda name: script.model() if name == "mock/g" else get_model(name))
        return genie(*shlex.split(command), *arguments)

    return call


def said(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_features_are_mapped_to_a_file_and_a_dry_run_counts_without_a_key(
    folder: Path, called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    plan = as_json(*MAP.replace("mock/g", "openai/gpt-4o").split(), "--dry-run")
    assert (plan["discovered"], plan["taxonomy"], plan["calls_needed"]) == (2, 6, 1)
    assert plan["input_tokens"] > 200
    failed = called(saying(""), MAP)
    assert failed.exit_code == 1
    assert "no reply of mockllm/model names a feature of the taxonomy" in failed.stderr
    assert "asked until then: calls 3" in failed.stderr
    done = said(called(saying(REPLY), MAP, "--json", "-o", "other.json"))
    assert done["mapping"] == {"mood": "social_atmosphere"}
    assert done["mapping"] == json.loads(Path("other.json").read_text(encoding="utf-8"))["mapping"]
    assert (done["no_counterpart"], done["unreadable"], done["calls"]) == (["font"], [], 1)
    assert done["file"] == "other.json"
    assert not (folder / "found" / "mapping.json").exists()
    # what ships is mapped to a file elsewhere
    shipped = MAP.replace("found", str(BUNDLED["abstracts"])).replace("mock/g", "openai/gpt-4o")
    assert as_json(*shipped.split(), "-o", "third.json", "--dry-run")["discovered"] == 6


WILLING = Script(lambda request: rehearsed(unfenced(request)))


def test_pairs_of_concepts_become_a_file_of_prompts(folder: Path, called: Called) -> None:
    # 30 pairs and as many to choose from are 3 requests of 20: the fewest calls
    plan = as_json(*shlex.split(WRITE.replace("mock/g", "openai/gpt-4o")), "--count", 30, "--apart", 1.9, "--dry-run")
    assert (plan["prompts"], plan["calls_needed"], plan["output_tokens"]) == (30, 3, 720)
    assert {path.name for path in folder.iterdir()} <= {"cache", "found"}
    done = said(called(WILLING, WRITE, "--count", "3", "--json"))
    assert (done["file"], done["prompts"], done["calls"], done["replies_on_record"]) == ("own.jsonl", 3, 1, 0)
    assert done["proposed"] == 3 + sum(done["dropped"].values()) == 20
    rows = [json.loads(line) for line in (folder / "own.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(row["distance"] >= 0.8 for row in rows)
    assert prompt_lines("own.jsonl") == [row["prompt"] for row in rows], "what takes prompts takes the file"


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_run_that_failed_or_was_interrupted_goes_on_where_it_ended(
    interrupted: bool, folder: Path, called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[str] = []

    def reply(request: str) -> str:
        if answered and not interrupted:
            raise ConnectionError("gone")
        if len(answered) == 1:
            signal.raise_signal(signal.SIGINT)
        answered.append(request)
        return rehearsed(unfenced(request))

    # a shell has what it starts in the background ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    ended = called(Script(reply), WRITE)
    signal.signal(signal.SIGINT, before)
    assert ended.exit_code == 1
    go_on = f"Interrupted. Replies are kept in {folder / 'own.jsonl.work'}: run the same command again to go on."
    assert (go_on in ended.stderr) == interrupted
    assert not (folder / "own.jsonl").exists()
    monkeypatch.setattr(running, "planned_model", lambda name: WILLING.model())
    plan = said(called(WILLING, WRITE, "--dry-run", "--json"))
    assert (plan["calls_needed"], plan["replies_on_record"]) == ((0, 3) if interrupted else (2, 1))
    done = said(called(WILLING, WRITE, "--json"))
    assert (done["calls"], done["replies_on_record"]) == ((0, 3) if interrupted else (2, 1))


def test_sampled_prompts_are_a_file_of_the_same_form(folder: Path) -> None:
    rows = ["[WP] A dog wakes up .", "[EU][WP] A cat.", "Write a story about a tram.", "[WP] A dog wakes up."]
    lines_of(folder / "pairs.jsonl", ({"text": row} for row in rows))
    own = "prompts sample pairs.jsonl --column text --count 3 --story-where -o people.jsonl"
    assert as_json(*own.split()) == {"file": "people.jsonl", "source": "pairs.jsonl", "prompts": 3}
    assert set(prompt_lines("people.jsonl")) == {
        "Write a story where: A dog wakes up.",
        "Write a story where: A cat.",
        "Write a story about a tram.",
    }


SOUND = "The owl left the barn at dusk. She found the moon."
TAIL = " moon the of owl blue blue"  # six words
NEW = "-o new --name n --licence MIT"


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"prompt": OWL, "text": SOUND + TAIL}, {"prompt": OWL, "text": STORIES["b/two"][OWL][0]}]
    lines_of(tmp_path / "t.jsonl", rows)
    write_features(tmp_path / "features.json", FEATURES)
    write_log(tmp_path / "a.eval", "a/one", {OWL: [row["text"] for row in rows]})
    return tmp_path


def naming() -> Script:
    """A grader that names the last whole sentence of a text, and does all else that building asks of one."""
    able = able_grader()

    def reply(request: str) -> str:
        data = unfenced(request)
        if "writing" not in data:
            return str(able.reply(request))
        return json.dumps({"last": data["writing"][: data["writing"].rindex(".") + 1].split(". ")[-1]})

    return Script(reply)


IMPORT = f"population import t.jsonl {NEW}"
CLEANING = ("--clean-by-model", "--grader", "mock/g", "--json")


def test_an_import_cleans_and_check_and_show_say_how_much(texts: Path, called: Called) -> None:
    more = ("--clean-by-model", "--grader", "openai/gpt-4o", "--dry-run")
    planned = as_json(*IMPORT.split(), *more)
    assert (planned["documents"], planned["calls_needed"]) == (2, 2)
    # as long as the sentences that are copied, and what stands around them
    assert 30 < planned["output_tokens"] < 80
    plain = as_json(*IMPORT.split(), "-o", "plain")
    assert "cleaned" not in {**planned, **plain}
    assert "cut by" not in "".join(genie("population", verb, "plain").stdout for verb in ("check", "show"))
    assert not list(texts.glob("*.work"))
    assert not (texts / "new").exists()
    done = said(called(naming(), IMPORT, *CLEANING))
    assert done["cleaned"] == {"asked about": 2, "cut": 1, "words cut": 6}
    assert (done["documents"], done["calls"]) == (2, 2)
    for verb in ("check", "show"):
        assert "cut by a model: 1, by 6 to 6, median 6 words" in genie("population", verb, "new").stdout
    shown = genie("population", "show", "new", "--prompt", "owl").stdout
    assert f"(model not said, cut by 6 words) {SOUND}\n" in shown
    # a grader that says nothing leaves every document whole
    done = said(called(saying(""), IMPORT, *CLEANING, "-o", "whole"))
    assert done["cleaned"] == {"asked about": 2, "kept whole: the reply could not be read": 2}
    assert (done["documents"], done["calls"]) == (2, 6)


BUILD = f"population build a.eval {NEW} --features features.json --per-feature 1 --grader mock/g"


def test_a_build_cleans_with_a_call_more_a_document_and_without_the_option_says_nothing_of_it(
    texts: Path, called: Called
) -> None:
    counted = (*BUILD.replace("mock/g", "openai/gpt-4o").split(), "--dry-run")
    plans = [as_json(*counted, *more) for more in ((), ("--clean-by-model",))]
    assert plans[1]["calls_needed"] - plans[0]["calls_needed"] == 2
    assert plans[1]["documents"] == 2
    assert [as_json(*counted, "--per-feature", many)["questions"] for many in ("6", "9")] == [12, 18]
    plain = said(called(naming(), BUILD, "--json", "-o", "plain"))
    assert "cleaned" not in plain
    # the feature with four questions gets a second pass, too, in which the grader has none
    more = said(called(naming(), BUILD, "--json", "-o", "more", "--per-feature", "5"))
    assert more["calls"] > plain["calls"]
    done = said(called(naming(), BUILD, "--json", "--clean-by-model"))
    assert done["cleaned"] == {"asked about": 2, "cut": 1, "words cut": 6}
