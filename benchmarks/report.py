"""The commands that read logs, on thousands of documents with 10 measures: time, memory, size; how fast the page opens.

    python benchmarks/report.py [SAMPLES [LOGS]]

The logs are made here, one per model: 50 prompts, 500 words per document, a question table of 17 rows, nine more
measures.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score

from genie_inspect.tasks.novelty import feature_view

SAMPLES, LOGS, PROMPTS, WORDS, QUESTIONS, MEASURES = 5_000, 5, 50, 500, 17, 10
FEATURES = ("agent", "perspective", "plot", "setting", "social_atmosphere", "style")
PARTS = ("mean", "nearest", "share")  # keys of each of the other measures
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
GENIE = "import sys; from genie_inspect.cli import main; main(sys.argv[1:])"


def write_log(folder: Path, model: int, samples: int, chance: random.Random) -> None:
    """One model's log."""
    epochs = samples // PROMPTS
    ids = [f"prompt-{prompt}" for prompt in range(PROMPTS)]
    log = EvalLog(
        status="success",
        eval=EvalSpec(
            created="2026-01-01T00:00:00+00:00",
            task="made",
            dataset=EvalDataset(samples=PROMPTS, sample_ids=list(ids)),
            model=f"provider/model-{model}",
            config=EvalConfig(epochs=epochs),
            viewer=feature_view(FEATURES, {}),
        ),
        results=EvalResults(total_samples=samples, completed_samples=samples),
        samples=[sample(name, epoch, chance) for name in ids for epoch in range(1, epochs + 1)],
    )
    write_eval_log(log, str(folder / f"{model}.eval"))


def sample(name: str, epoch: int, chance: random.Random) -> EvalSample:
    """A document with scores drawn at random."""
    text = " ".join(chance.choice(VOCABULARY) for _ in range(WORDS))
    others = {f"measure_{number}": panel_score(number, text, chance) for number in range(1, MEASURES)}
    return EvalSample(
        id=name,
        epoch=epoch,
        input=f"Write a story about {name}.",
        target="",
        output=ModelOutput.from_content("provider/model", text),
        scores={"genie": genie_score(text, chance), **others},
        metadata={"prompt": f"Write a story about {name}."},
    )


def genie_score(text: str, chance: random.Random) -> Score:
    """Six features and the question table that they rest on."""
    rows = [
        {
            "id": f"q-{number:012}",
            "feature": FEATURES[number % len(FEATURES)],
            "question": text[number * 50 : number * 50 + 60],
            "answer": text[number * 90 : number * 90 + 40],
            "nearest": [{"answer": text[at : at + 40], "rating": 2, "given": 3} for at in (0, 100, 200)],
            "novelty": round(chance.betavariate(8, 2), 4),
            "ratings": 50,
        }
        for number in range(QUESTIONS)
    ]
    signature = "measure:genie|judge:list|reader:grader|population:made-1@0|version:0"
    return Score(
        value={feature: chance.betavariate(8, 2) for feature in FEATURES},
        answer=text,
        explanation=text[:800],
        metadata={"signature": signature, "coverage": dict.fromkeys(FEATURES, "3/3"), "questions": rows},
    )


def panel_score(number: int, text: str, chance: random.Random) -> Score:
    """Three figures of another measure."""
    value = {f"measure_{number}_{part}": chance.gauss(number, 1) for part in PARTS}
    metadata = {"signature": f"measure:measure_{number}|population:made-1@0|version:0"}
    return Score(value=dict(value), answer=text, explanation=text[:200], metadata=metadata)


def opened(page: Path) -> float:
    """Seconds until a Chromium has the page and its pictures; NaN where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return float("nan")
    if not chromium:
        return float("nan")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium, headless=True, args=CHROMIUM_ARGUMENTS
        )
        tab = context.new_page()
        start = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="load")
        tab.evaluate("Promise.all([...document.images].map(image => image.decode()))")
        seconds = time.perf_counter() - start
        context.close()
    return seconds


def measured(folder: Path, *arguments: str) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak MB of a command in a process of its own."""
    start = time.perf_counter()
    environment = os.environ | {"GENIE_CACHE_DIR": str(folder)}
    with (folder / "out.txt").open("w") as out:
        process = subprocess.Popen([sys.executable, "-c", GENIE, *arguments], env=environment, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: genie {arguments[0]}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--write"]:
        write_log(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), random.Random(int(sys.argv[3])))
        return
    given = [int(number) for number in sys.argv[1:]]
    samples, models = [*given, *(SAMPLES, LOGS)[len(given) :]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        for model in range(models):
            # apart: a command that is started counts what its parent holds into its own peak
            command = [sys.executable, __file__, "--write", str(folder / "logs"), str(model), str(samples // models)]
            subprocess.run(command, check=True)
        logs, page, table = str(folder / "logs"), folder / "report.html", folder / "scores.csv"
        size = sum(path.stat().st_size for path in (folder / "logs").iterdir()) / 1e6
        keys = len(FEATURES) + (MEASURES - 1) * len(PARTS)
        print(f"{samples:,} documents in {models} logs of {size:.0f} MB, {MEASURES} measures ({keys} keys)\n")
        print("| command | s | processor s | peak MB | MB written |\n|:--|--:|--:|--:|--:|", flush=True)
        commands: dict[str, tuple[Path, tuple[str, ...]]] = {
            "summary": (folder / "out.txt", ("summary", logs)),
            "export": (table, ("export", logs, "-o", str(table))),
            "report": (page, ("report", logs, "-o", str(page))),
            "compare": (folder / "out.txt", ("compare", logs, "--baseline", "provider/model-0")),
        }
        for verb, (output, arguments) in commands.items():
            seconds, processor, peak = measured(folder, *arguments)
            print(
                f"| {verb} | {seconds:.1f} | {processor:.1f} | {peak:.0f} | {output.stat().st_size / 1e6:.1f} |",
                flush=True,
            )
        print(f"\nThe page opens in {median(opened(page) for _ in range(5)):.2f} s (median of five).")


VOCABULARY = [f"word{number}" for number in range(2_000)]

if __name__ == "__main__":
    main()
