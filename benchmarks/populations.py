"""What a large population costs: built from logs with a grader that replies at once, checked, opened for one prompt.

    python benchmarks/populations.py 100000

50 documents a prompt by 25 models, 200 words each, some nearly the same; 17 questions a prompt, as in the
study; coherence rated and every question answered: two requests a document. Each step is a process of its own.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.cli import main as genie
from genie_inspect.graders.stand_ins import rehearsed
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Question, question_id, write_rows
from genie_inspect.prompting.templates import unfenced

DOCUMENTS, MODELS, EPOCHS, QUESTIONS, WORDS = 5_000, 25, 2, 17, 200
VOCABULARY = [f"word{number}" for number in range(5_000)]
FEATURES = ("agent", "perspective", "plot", "setting", "social_atmosphere", "style")


@modelapi(name="atonce")
class AtOnce(ModelAPI):
    """A grader that replies at once, in the form that is asked for."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  # Inspect's own name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Some readable reply."""
        output = ModelOutput.from_content(self.model_name, rehearsed(unfenced(input[-1].text)))
        output.usage = ModelUsage(input_tokens=400, output_tokens=100, total_tokens=500)
        return output

    def max_connections(self) -> int:
        """As many as a fast server takes."""
        return 100


def texts(seed: int) -> Iterator[str]:
    """Documents without end, every fiftieth of them another one with one word changed."""
    chance = random.Random(seed)
    words: list[str] = []
    for number in range(sys.maxsize):
        words = words if number % 50 == 49 else chance.choices(VOCABULARY, k=WORDS)
        words = [*words[:-1], "end"] if number % 50 == 49 else words
        yield " ".join(words)


def prompts(documents: int) -> list[str]:
    """A prompt for each 50 documents."""
    return [f"Write a story about {number}." for number in range(documents // (MODELS * EPOCHS))]


def write_logs(folder: Path, documents: int) -> None:
    """A log for each model."""
    asked = prompts(documents)
    for model in range(MODELS):
        told = texts(model)
        samples = [
            EvalSample(id=i, epoch=epoch, input=prompt, target="", output=ModelOutput.from_content("m", next(told)))
            for i, prompt in enumerate(asked, start=1)
            for epoch in range(1, EPOCHS + 1)
        ]
        dataset = EvalDataset(samples=len(asked), sample_ids=list(range(1, len(asked) + 1)))
        spec = EvalSpec(
            created="2026-01-01T00:00:00+00:00",
            task="stories",
            dataset=dataset,
            model=f"some/model-{model}",
            config=EvalConfig(epochs=EPOCHS),
        )
        write_eval_log(EvalLog(eval=spec, status="success", samples=samples), str(folder / f"{model}.eval"))


def write_questions(path: Path, documents: int) -> None:
    """17 questions a prompt."""
    write_rows(
        path,
        (
            Question(id=question_id(prompt, text), prompt=prompt, feature=FEATURES[number % 6], text=text)
            for prompt in prompts(documents)
            for number in range(QUESTIONS)
            for text in [f"What is said of matter {number}?"]
        ),
    )


def step(name: str, folder: Path, documents: int) -> None:
    """One step, in this process."""
    if name == "logs written (not measured)":
        write_logs(folder / "logs", documents)
        write_questions(folder / "questions.jsonl", documents)
    elif name.startswith("build"):
        more = ["--name", "large", "--licence", "MIT", "--grader", "atonce/grader", "--json"]
        genie(["population", "build", "logs", "-o", "large", "--questions", "questions.jsonl", *more])
    elif name == "check":
        genie(["population", "check", "large", "--json"])
    else:
        population = Population("large")
        population.documents(population.prompts[0])
        population.answers(population.readers[0], population.prompts[0])


def measured(name: str, folder: Path, documents: int) -> tuple[float, float]:
    """Wall seconds and peak MB of a step in a process of its own."""
    start = time.perf_counter()
    command = [sys.executable, __file__, str(documents), name, str(folder)]
    with (folder / "out.txt").open("w") as out:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | {"GENIE_CACHE_DIR": str(folder)}, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {name}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS
    if len(sys.argv) > 3:
        os.chdir(sys.argv[3])
        step(sys.argv[2], Path(sys.argv[3]), documents)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        measured("logs written (not measured)", folder, documents)
        print(f"| {documents:,} documents | s | peak MB |\n|:--|--:|--:|")
        for label in ("build", "check", "open and read one prompt"):
            seconds, peak = measured(label, folder, documents)
            print(f"| {label} | {seconds:.0f} | {peak:.0f} |", flush=True)
            if label == "build":
                built = json.loads((folder / "out.txt").read_text())
                size = sum(file.stat().st_size for file in (folder / "large").iterdir()) / 1e6
                print(f"| ... {built['calls']:,} calls, {built['answers']:,} answers, {size:.0f} MB | | |")


if __name__ == "__main__":
    main()
