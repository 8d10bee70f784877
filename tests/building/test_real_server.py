"""The whole pipeline on a real vLLM server, whose tiny random model writes, reads and judges."""

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.scripted import FEATURES
from tests.tasks.runs import run

from genie_inspect.cli import main
from genie_inspect.populations.population import Population, write_features
from genie_inspect.populations.schema import Question, question_id, write_rows

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif("VLLM_BASE_URL" not in os.environ, reason="VLLM_BASE_URL names no server"),
]
PROMPTS = ("Write about an owl.", "Write about a fox.")
MODEL = "vllm/tiny"


def test_rubbish_all_the_way_ends_and_says_what_it_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", os.environ.get("VLLM_API_KEY", "none"))
    (tmp_path / "prompts.txt").write_text("\n".join(PROMPTS))
    asked = [
        Question(id=question_id(prompt, text), prompt=prompt, feature=feature, text=text)
        for prompt in PROMPTS
        for feature, text in (("plot", "What happens?"), ("style", "What is the tone?"))
    ]
    write_rows(tmp_path / "questions.jsonl", asked)
    write_features(tmp_path / "features.json", FEATURES)
    task_args = {"prompts": str(tmp_path / "prompts.txt")}
    run("population_prompts", tmp_path, MODEL, epochs=2, max_tokens=80, task_args=task_args)
    options = ["--questions", "questions.jsonl", "--features", "features.json", "--name", "rubbish", "--licence", "MIT"]
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(
        main, ["population", "build", "logs", "-o", "made", "--grader", MODEL, *options, "--json"]
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

    run(
        "population_prompts",
        tmp_path / "scored",
        MODEL,
        MODEL,
        max_tokens=80,
        epochs=1,
        task_args={"population": "made"},
    )


def test_questions_by_a_random_model_end_in_reasons_for_every_rejection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", os.environ.get("VLLM_API_KEY", "none"))
    (tmp_path / "prompts.txt").write_text(PROMPTS[0])
    options = ["-o", str(tmp_path / "q"), "--grader", MODEL, "--json"]
    result = CliRunner().invoke(main, ["questions", "write", str(tmp_path / "prompts.txt"), *options])
    spent = result.stderr if result.exit_code else result.stdout
    assert re.search(r'calls"?:? [1-9]', spent)
    assert result.exit_code == 0 or "no question passed: " in result.stderr
