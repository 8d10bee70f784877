"""One count in two places: the line before a run and `genie cost`, held against what a run then asks and uses."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai.model import ModelOutput
from tests.critics import PLOT, comparing
from tests.scripted import DOCUMENTS, FEATURES, Script, output, saying, small_population
from tests.tasks.runs import run

from genie_inspect.cli import main
from genie_inspect.cli.cost import cost
from genie_inspect.engines.embedders import static_token_count
from genie_inspect.populations.population import Population, write_features
from genie_inspect.populations.stories import reference_stories
from genie_inspect.prompting.templates import unfenced
from genie_inspect.tasks.novelty_partition import CONFIG

BEES = reference_stories("bundled")[0].story
Counts = dict[str, int]


def metered(script: Script) -> Script:
    """The script with a meter: its usage is counted as `genie cost` counts, by the bundled tokenizer."""

    def reply(request: str) -> ModelOutput:
        said = script.reply(request)
        made = said if isinstance(said, ModelOutput) else output(said)
        assert made.usage is not None
        made.usage.input_tokens = static_token_count(request)
        made.usage.output_tokens = static_token_count(made.completion)
        return made

    return Script(reply)


def told_apart() -> Script:
    """A judge to whom every two texts differ, and the first of two is the better."""

    def reply(request: str) -> str:
        data = unfenced(request)
        if "aspect" in data:
            return "[]"
        if "other_replies" in data:
            return json.dumps(dict.fromkeys(data["other_replies"], "different"))
        return "The better one.\n[[A]]" if "story_a" in data else "As it is.\nRating: 5"

    return Script(reply)


def counted(*arguments: str) -> Any:
    return json.loads(CliRunner().invoke(cost, [*arguments, "--json"], catch_exceptions=False).stdout)


def used_by(task: str, grader: Script, writer: Script, folder: Path, **options: Any) -> Any:
    epochs = options.pop("epochs", None)
    return run(task, folder, writer, grader, epochs=epochs, task_args=options).stats.role_usage["grader"]


def check(found: Counts, grader: Script, used: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """What was counted is in the line before the run, is asked, and is within five percent of what the run uses."""
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "judging asks" in line]
    announced = re.findall(r"([\d,]+) calls|([\d,]+) tokens in|([\d,]+) out", line)
    assert [int("".join(one).replace(",", "")) for one in announced] == list(found.values())
    assert found["calls"] == len(grader.requests)
    assert found["tokens_in"] == pytest.approx(used.input_tokens, rel=0.05)


def stories(folder: Path) -> str:
    """Two references, of which one has no plot."""
    path = folder / "stories.jsonl"
    rows = [{"title": "Bees", "story": BEES}, {"title": "Wasps", "plot": PLOT, "story": BEES}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("reference", "calls"), [(True, 2 * 28), (False, 2 * 14)])
def test_ttcw_is_counted_as_its_run_announces_it_and_within_five_percent_of_what_the_run_uses(
    reference: bool, calls: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grader, file = metered(comparing(lambda a, b, aspect: 1)), stories(tmp_path)
    found = counted("--task", "ttcw", "-T", f"stories={file}", "-T", f"reference={json.dumps(reference)}")
    used = used_by("ttcw", grader, saying(BEES), tmp_path, stories=file, reference=reference, cache=False)
    check(found["total"], grader, used, capsys)
    # one plot is drawn; a scorer on an old log draws none
    assert {name: one["calls"] for name, one in found["measures"].items()} == {"plots": 1, "ttcw": calls}


def test_the_panel_is_counted_as_its_run_announces_it_and_within_five_percent_of_what_the_run_uses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, grader = str(small_population(tmp_path / "population").folder), metered(told_apart())
    found = counted("--population", folder, "--epochs", "2", "--judge", "embedding")["panel"]
    # as long as the population's are
    texts = iter(f"{text[:-1]}, again." for documents in DOCUMENTS.values() for text in (*documents, *documents))
    writer = Script(lambda request: next(texts))
    used = used_by(
        "synthetic_prompts", grader, writer, tmp_path, population=folder, panel="all", judge="none", epochs=2
    )
    total = {key: sum(one[key] for one in found.values()) for key in ("calls", "tokens_in", "tokens_out")}
    check(total, grader, used, capsys)


def test_of_novelty_partition_the_most_is_counted_and_its_run_announces_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grader, texts = metered(told_apart()), iter(range(1000))
    found = counted("--task", "novelty_partition", "-T", "k=3")["total"]
    writer = Script(
        lambda request: f"Story {next(texts)} " + "of an owl and a clock " * ((CONFIG.max_tokens or 0) // 6)
    )
    used = used_by("novelty_partition", grader, writer, tmp_path, k=3)
    # replies as long as they may be
    check(found, grader, used, capsys)


# the whole pipeline on a real vLLM server, whose tiny random model writes, reads and judges
NO_SERVER = pytest.mark.skipif("VLLM_BASE_URL" not in os.environ, reason="VLLM_BASE_URL names no server")
PROMPTS = ("Write about an owl.", "Write about a fox.")
MODEL = "vllm/tiny"


@pytest.mark.vllm
@NO_SERVER
def test_rubbish_all_the_way_ends_and_says_what_it_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", os.environ.get("VLLM_API_KEY", "none"))
    (tmp_path / "prompts.txt").write_text("\n".join(PROMPTS))
    asked = [("plot", "What happens?"), ("style", "What is the tone?")]
    rows = [{"prompt": prompt, "feature": feature, "text": text} for prompt in PROMPTS for feature, text in asked]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write_features(tmp_path / "features.json", FEATURES)
    task_args = {"prompts": str(tmp_path / "prompts.txt")}
    run("population_prompts", tmp_path, MODEL, epochs=2, max_tokens=80, task_args=task_args)
    facts = ["--questions", "questions.jsonl", "--features", "features.json", "--name", "rubbish", "--licence", "MIT"]
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(
        main, ["population", "build", "logs", "-o", "made", "--grader", MODEL, "--json", *facts]
    )
    assert result.exit_code == 0, result.output
    built = json.loads(result.stdout)
    assert built["documents"] == sum(len(Population("made").documents(prompt)) for prompt in PROMPTS)
    # a random model rates nothing readably: each document was asked about again, and kept
    assert built["coherence_unrated"] == built["documents"] <= built["asked_again"]
    assert built["answers"] + built["unreadable_answers"] == 2 * built["documents"]
    # one request a document for coherence and one for reading are needed; the others are what rubbish costs
    assert built["calls"] == 2 * built["documents"] + built["asked_again"]
    assert built["input_tokens"] > 0 < built["output_tokens"]
