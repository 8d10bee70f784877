"""What replies of a random model cost: a vLLM server's model writes, names features, asks, reads and judges.

    VLLM_BASE_URL=http://127.0.0.1:8123/v1 python benchmarks/rubbish_vllm.py tiny

Every step ends, whatever comes back. The requests that a willing grader needs are those of the dry run.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog

from genie_inspect.cli import main as genie
from genie_inspect.populations.population import read_features
from genie_inspect.populations.schema import Question, question_id, write_rows

PROMPTS = ("Write about an owl.", "Write about a fox.")
EPOCHS, QUESTIONS, SAMPLES = 4, 12, 5
Row = tuple[str, int | str, int, int, int, str]
SPENT = re.compile(r"calls (\d+), replies on record 0, input tokens (\d+), output tokens (\d+)")


def asked(*arguments: str) -> dict[str, Any]:
    """What a verb says as JSON; of one that ends in an error its costs and the error."""
    result = CliRunner().invoke(genie, [*arguments, "--json"])
    if result.exit_code == 0:
        found: dict[str, Any] = json.loads(result.stdout)
        return found
    spent = SPENT.search(result.stderr)
    if spent is None:
        raise SystemExit(result.output)
    names = ("calls", "input_tokens", "output_tokens")
    return dict(zip(names, map(int, spent.groups()), strict=True)) | {
        "error": result.stderr.rpartition("Error: ")[2].partition(" (record")[0].strip()
    }


def step(name: str, *arguments: str) -> Row:
    """A verb that ends in an error, with what it cost until then."""
    needed, found = asked(*arguments, "--dry-run"), asked(*arguments)
    ended = found.get("error", "nothing")
    return name, needed["calls_needed"], found["calls"], found["input_tokens"], found["output_tokens"], ended


def building(model: str) -> list[Row]:
    """Reading alone, and coherence as what a whole build costs more."""
    options = ["--name", "r", "--licence", "MIT", "--grader", model, "--questions", "questions.jsonl"]
    order = ["population", "build", "logs", *options]
    needed = asked(*order, "-o", "dry", "--coherence", "none", "--dry-run")["calls_needed"]
    reading = asked(*order, "-o", "read", "--coherence", "none")
    whole = asked(*order, "-o", "made")
    more = [whole[name] - reading[name] for name in ("calls", "input_tokens", "output_tokens")]
    unrated = f"{whole['coherence_unrated']} of {whole['documents']} documents unrated, and kept"
    answers = reading["answers"] + reading["unreadable_answers"]
    lost = f"{reading['unreadable_answers']} of {answers} answers"
    coherence = ("coherence", whole["documents"], more[0], more[1], more[2], unrated)
    return [
        coherence,
        ("reading", needed, reading["calls"], reading["input_tokens"], reading["output_tokens"], lost),
    ]


def run(model: str, folder: str, epochs: int, roles: dict[str, str], **options: str) -> EvalLog:
    """One evaluation, which must end well."""
    log = evaluate(
        "genie_inspect/population_prompts",
        task_args=options,
        model=model,
        model_roles=dict(roles),
        epochs=epochs,
        max_tokens=200,
        log_dir=folder,
        display="none",
    )[0]
    if log.status != "success":
        raise SystemExit(str(log.error))
    return log


def scoring(model: str) -> Row:
    """Documents of the same model against the population."""
    log = run(model, "scored", 2, {"grader": model}, population="made")
    samples = log.samples or []
    usage = (log.stats.role_usage or {})["grader"]
    calls = sum(event.event == "model" and event.role == "grader" for sample in samples for event in sample.events)
    values = [(sample.scores or {})["genie"].value for sample in samples]
    unscored = sum(isinstance(value, dict) and all(v != v for v in value.values()) for value in values)
    lost = f"{unscored} of {len(values)} documents unscored"
    return "scoring", "", calls, usage.input_tokens, usage.output_tokens, lost


def main() -> None:
    """Print the table."""
    if not os.environ.get("VLLM_BASE_URL"):
        print("skipped: no VLLM_BASE_URL")
        return
    model = f"vllm/{sys.argv[1] if len(sys.argv) > 1 else 'tiny'}"
    os.environ.setdefault("VLLM_API_KEY", "none")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("prompts.txt").write_text("\n".join(PROMPTS), encoding="utf-8")
        names = [feature.name for feature in read_features("starter")]
        write_rows(
            Path("questions.jsonl"),
            (
                Question(id=question_id(prompt, text), prompt=prompt, feature=names[number % 6], text=text)
                for prompt in PROMPTS
                for number in range(QUESTIONS)
                for text in [f"What is said of matter {number}?"]
            ),
        )
        run(model, "logs", EPOCHS, {}, prompts="prompts.txt")
        task = ("--task", "write a short story", "--samples", str(SAMPLES))
        rows = [step("features", "features", "discover", *task, "-o", "features", "--grader", model)]
        rows.append(step("questions", "questions", "write", "prompts.txt", "-o", "questions", "--grader", model))
        rows += [*building(model), scoring(model)]
    print("| step | requests needed | requests | prompt tokens | tokens written | ended unusable |")
    print("|:--|--:|--:|--:|--:|:--|")
    for name, needed, calls, read, written, ended in rows:
        print(f"| {name} | {needed} | {calls} | {read:,} | {written:,} | {ended} |")


if __name__ == "__main__":
    main()
