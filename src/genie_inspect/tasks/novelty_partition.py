"""Ten replies to one prompt, judged as a set: the protocol of NoveltyBench."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

if TYPE_CHECKING:
    from genie_inspect.tasks.novelty_measures import CostLine

# generation settings of the benchmark (Zhang et al. 2025)
CONFIG = GenerateConfig(temperature=1.0, max_tokens=512)
SYNTHETIC = "synthetic"
NAME = "novelty_partition"


@task
def novelty_partition(
    dataset: str = SYNTHETIC,
    split: str = "curated",
    k: int = 10,
    equivalence: str = "grader",
    quality: str = "grader",
    threshold: float | None = None,
    embedder: str = "static",
    templates: str | None = None,
) -> Task:
    """Ten replies to each prompt: how many classes of replies there are, and what they are worth to a reader.

    Args:
        dataset: `synthetic` (the 25 concept pairs, no network), `yimingzhang/novelty-bench` or another hub id (needs
            the extra `hub`; `owner/name@<commit>` pins it), or a local JSON Lines file with a field `prompt`.
        split: For a hub dataset: `curated` (100 prompts) or `wildchat` (1,000).
        k: Replies a prompt, at least 2.
        equivalence: As for the scorer `novelty_bench`; `classifier` is the published one.
        quality: As for the scorer `novelty_bench`; `reward` is the published one.
        threshold: As for the scorer `novelty_bench`.
        embedder: As for the scorer `novelty_bench`.
        templates: As for the scorer `novelty_bench`.

    Source: NoveltyBench (Zhang et al. 2025, arXiv 2504.05228). Published: classifier and reward.
    """
    from genie_inspect.engines.identity import with_commit
    from genie_inspect.graders.grader import refusals
    from genie_inspect.providers.replay import check_recorded
    from genie_inspect.scorers.novelty_bench import KEYS, novelty_bench
    from genie_inspect.signature import TASKS
    from genie_inspect.solvers.generations import generations
    from genie_inspect.solvers.requirements import announce_cost, require_models
    from genie_inspect.tasks.novelty import package, score_view, shown_score

    with refusals():
        solver = generations(k)
        scorer = novelty_bench(equivalence, quality, threshold, embedder, templates=templates)
        samples = prompts_of(dataset, split)
        line = cost_line(samples, k, equivalence, quality, templates)
    check_recorded(str(sample.input) for sample in samples)
    return Task(
        dataset=MemoryDataset(samples, name=NAME),
        setup=[require_models(equivalence, quality), announce_cost(line)],
        solver=solver,
        scorer=scorer,
        config=CONFIG,
        viewer=score_view("Classes of replies", {"novelty_bench": KEYS}, {"distinct": (1, k), "utility": (0, 10)}),
        headline_metric=HeadlineMetric(scorer="novelty_bench", metric="mean"),
        tags=[shown_score(KEYS[0])],
        metadata={"prompts": dataset if dataset == SYNTHETIC else f"{with_commit(dataset)} {split}", **package()},
        version=TASKS[NAME],
    )


def prompts_of(dataset: str, split: str) -> list[Sample]:
    from genie_inspect.populations.prompts import all_prompts
    from genie_inspect.tasks.novelty import prompt_dataset
    from genie_inspect.tasks.synthetic_prompts import concept_pairs

    # the benchmark's own prompts need a network, ours do not
    return list(prompt_dataset(NAME, concept_pairs() if dataset == SYNTHETIC else all_prompts(dataset, split)))


def cost_line(samples: list[Sample], k: int, equivalence: str, quality: str, templates: str | None) -> "CostLine":
    """What the grader is asked at most of k replies to each prompt."""
    from genie_inspect.graders.cost import Cost
    from genie_inspect.graders.equivalence import GRADER, SAME, equivalence_kind, quality_kind
    from genie_inspect.graders.quality import QUALITY
    from genie_inspect.scorers.novelty_bench import cost
    from genie_inspect.tasks.novelty_measures import CostLine, by_prompt

    length = CONFIG.max_tokens or 0
    kinds = SAME.template(templates) if equivalence_kind(equivalence) == GRADER else None
    levels = QUALITY.template(templates) if quality_kind(quality) == GRADER else None

    def asks(samples: Sequence[Sample], epochs: int) -> Cost:
        counts = by_prompt(samples, epochs)
        return sum((cost(kinds, levels, prompt, length, k) * count for prompt, count in counts.items()), Cost())

    return CostLine(NAME, samples, 1, {"novelty_bench": asks} if kinds or levels else {})
