"""What tests, intervals and figures say where the truth is known: level, coverage and verdicts on made-up data.

python benchmarks/trials.py            # two minutes on two cores
"""

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genie_inspect.measures.ngrams import creativity_index
from genie_inspect.measures.tokens import tokens
from genie_inspect.statistics.descriptive import prompt_interval
from genie_inspect.statistics.differences import crossed_p_value, paired_permutation
from genie_inspect.statistics.equivalence import tost
from genie_inspect.studies.personal.fitting import figures, foretell
from genie_inspect.studies.personal.power import World, simulated

LEVEL, FEATURES, PROMPTS = 0.05, 6, 8
Values = NDArray[np.float64]
Row = tuple[str, str]


def rejected(columns: Values) -> Any:
    """Whether the sign-flip test finds a difference from 0 in each column."""
    return paired_permutation(np.zeros_like(columns), columns, 500).p_value < LEVEL


def near_an_end(runs: int = 2_000) -> Iterator[Row]:
    """Coverage of the mean by 95% intervals over 8 and 20 prompts, values from beta distributions."""
    for mean, size in ((0.5, 3), (0.95, 10), (0.995, 30), (0.995, 100), (0.995, 350)):
        shares = []
        for prompts in (PROMPTS, 20):
            draws = np.random.default_rng(0).beta(mean * size, (1 - mean) * size, (runs, prompts)).tolist()
            ends = [prompt_interval(values, range(prompts), bounds=(0, 1)) for values in draws]
            shares.append(np.mean([one.low <= mean <= one.high for one in ends]))
        yield f"interval, mean {mean}, beta of size {size}", f"covers {shares[0]:.3f}, {shares[1]:.3f}"


def pooled_runs(runs: int = 1_000) -> Iterator[Row]:
    """How often `compare --pooled` finds a difference where there is none, models alike in what prompts do to them."""
    for models in (3, 5, 10):
        for over in (0.0, 0.3, 0.5):
            dice = np.random.default_rng(0)
            shared = math.sqrt(over) * dice.normal(size=(runs, PROMPTS, 1))
            deltas = shared + math.sqrt(1 - over) * dice.normal(size=(runs, PROMPTS, models))
            pairs, prompts = (rejected(each.T).mean() for each in (deltas.reshape(runs, -1), deltas.mean(axis=2)))
            both = np.mean([crossed_p_value(one) < LEVEL for one in deltas])
            yield (
                f"pooled, {models} models, correlation {over}",
                f"level: pairs {pairs:.3f}, prompts (`*`) {prompts:.3f}, prompts and models (`**`) {both:.3f}",
            )


def clustered_originals(runs: int = 1_000) -> Iterator[Row]:
    """False findings of `genie validate` over six features, several originals per prompt."""
    for each in (2, 5):
        for correlation in (0.0, 0.3, 0.5):
            dice, size = np.random.default_rng([each, round(10 * correlation)]), runs * FEATURES
            shared = math.sqrt(correlation) * dice.normal(size=(PROMPTS, 1, size))
            deltas = shared + math.sqrt(1 - correlation) * dice.normal(size=(PROMPTS, each, size))
            levels = [
                (
                    paired_permutation(np.zeros_like(pairs), pairs, 500).p_value.reshape(runs, FEATURES) * FEATURES
                    < LEVEL
                )
                .any(axis=1)
                .mean()
                for pairs in (deltas.reshape(PROMPTS * each, -1), deltas.mean(axis=1))
            ]
            yield (
                f"study, {each} originals per prompt, correlation {correlation}",
                f"level: originals {levels[0]:.3f}, prompts {levels[1]:.3f}",
            )


def noisy_raters(runs: int = 100) -> Iterator[Row]:
    """Votes that nothing foretells, 12 plots: figures of order and how often their intervals cover nothing."""
    noise, model = World(story=0.5, test=0.0, scores=(0.0,)), "grader + leniency"
    found = []
    for seed in range(runs):
        ballots, *_ = simulated(noise, seed)
        found.append(figures(ballots, foretell(ballots, seed, ["grader", model]), model, resamples=200, seed=seed))
    for name, none in (("auc", 0.5), ("auc_within", 0.5), ("pearson", 0.0), ("kappa", 0.0)):
        ends = [one.models[model][name] for one in found if one.models[model][name].low is not None]
        covers = np.mean([(one.low or 0.0) <= none <= (one.high or 0.0) for one in ends])
        yield f"rater fit, noise, {name}", f"mean {np.mean([one.value for one in ends]):+.3f}, covers {covers:.2f}"


def length_alone(runs: int = 1_000) -> Iterator[Row]:
    """A word count with noise: how often some edit is said to move it, and what is left with length taken out."""
    dice = np.random.default_rng(PROMPTS)
    longer = np.array([26.0] * FEATURES + [19.0]) + 3 * dice.normal(size=(PROMPTS, FEATURES + 1))
    noise = dice.normal(size=(PROMPTS, FEATURES + 1, runs)) - dice.normal(size=(PROMPTS, 1, runs))
    deltas = 0.1 * longer[:, :, None] + noise
    plain, left = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for edit in range(FEATURES):
        others = [place for place in range(FEATURES + 1) if place != edit]
        rate = (longer[:, others, None] * deltas[:, others]).sum(axis=1) / (longer[:, others] ** 2).sum(axis=1)[:, None]
        without = deltas[:, edit] - rate * longer[:, edit, None]
        for hits, values in ((plain, deltas[:, edit]), (left, without)):
            hits |= paired_permutation(np.zeros_like(values), values, 500).p_value * FEATURES < LEVEL
    yield "study, words and noise", f"moved by some edit {plain.mean():.3f}, with length taken out {left.mean():.3f}"


def other_scripts() -> Iterator[Row]:
    """A Chinese text with one character put into each clause, held against the text itself."""
    text = "从前有一位老船长住在海边的小屋里,他每天清晨都要到码头去看船。有一天海上起了大雾,他听见远处传来钟声。" * 2
    copy = text.replace(",", "了,").replace("。", "啊。")
    found = creativity_index(tokens(copy), [tokens(text)])
    yield "creativity index, a Chinese copy", f"mean {found.mean:.2f}, by runs of 5 {found.by_length[5]:.2f} (1 = new)"


def constants() -> Iterator[Row]:
    """Two runs with the same value everywhere."""
    yield "equivalence of identical constants", f"p {tost([1.0] * PROMPTS, [1.0] * PROMPTS).p_value:.3f}"


def zero_of_compression(left: int = 2) -> Iterator[Row]:
    """What stories of the starter that were left out add to so many others, by the scorer `compression`."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import Generate, TaskState, solver

    from genie_inspect import compression
    from genie_inspect.populations.population import open_population
    from genie_inspect.populations.writing import write_population

    @solver
    def as_given() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput.from_content("left out", state.metadata["text"])
            state.completed = True
            return state

        return solve

    starter = open_population("starter")
    for size in (1, 2, 6, 22):
        with tempfile.TemporaryDirectory() as folder:
            told = {one: sorted(starter.documents(one), key=lambda document: document.id) for one in starter.prompts}
            chosen = [document for documents in told.values() for document in documents[:size]]
            path = Path(folder) / "population"
            write_population(
                path, name="part", version="1", licence="none", features=starter.features, documents=chosen,
                questions=[], answers=[],
            )  # fmt: skip
            samples = [
                Sample(input=prompt, id=f"{number}-{place}", metadata={"prompt": prompt, "text": document.text})
                for number, (prompt, documents) in enumerate(told.items())
                for place, document in enumerate(documents[-left:])
            ]
            task = Task(dataset=MemoryDataset(samples), solver=as_given(), scorer=compression(str(path)))
            (log,) = evaluate(task, model="mockllm/model", log_dir=folder, display="none")
            scores = [(sample.scores or {})["compression"].value for sample in log.samples or []]
            values = [float(value["compression_novelty"]) for value in scores if isinstance(value, dict)]
            known = [value for value in values if not math.isnan(value)]
            shown = f"mean {np.mean(known):+.3f} (sd {np.std(known, ddof=1):.3f})" if known else "unscored"
            yield f"compression of left-out stories, {size} others", shown


TRIALS: tuple[Callable[[], Iterator[Row]], ...] = (
    near_an_end, pooled_runs, clustered_originals, noisy_raters, length_alone, other_scripts, constants,
    zero_of_compression,
)  # fmt: skip


def main() -> None:
    """Print the table."""
    print("| trial | result |\n|:--|:--|")
    for trial in TRIALS:
        for what, result in trial():
            print(f"| {what} | {result} |", flush=True)


if __name__ == "__main__":
    main()
