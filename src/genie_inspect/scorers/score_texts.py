"""Novelty of texts from Python: what the scorer `genie` gives them, without a run and a log."""

import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from anyio.from_thread import start_blocking_portal
from inspect_ai.model import Model, ModelName, ModelOutput, get_model, model_roles
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState
from rich.console import Console  # noqa: TID251  # the door to the terminal is above; this bar shows counts alone
from rich.progress import Progress

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.grader import ROLE, gathered, refusals
from genie_inspect.graders.instrument import OFFLINE
from genie_inspect.inspect_private import bound_roles
from genie_inspect.populations.population import open_population
from genie_inspect.scorers.genie import genie

if TYPE_CHECKING:
    import pandas

Rows = list[dict[str, Any]]
Grader = str | Model | Sequence[str | Model]


def score_texts(
    texts: Sequence[str],
    prompts: str | Sequence[str],
    *,
    population: str = "starter",
    grader: Grader | None = None,
    judge: str = "list",
    progress: bool = True,
    **options: Any,
) -> "Rows | pandas.DataFrame":
    """Score texts that exist, feature by feature, with the scorer `genie`: the same numbers, no run and no log.

    It also works where an event loop runs, as in a notebook. Answers and ratings are kept: after an interruption the
    same call goes on where it stopped.

    Args:
        texts: The texts, each a document.
        prompts: The prompt of every text, or one prompt for all. It must be word for word one of the population's.
        population: `starter` or the folder of a population.
        grader: A model by its Inspect name (`openai/gpt-4o`) or an Inspect `Model`; several are a jury. Default: the
            grader role of the run that calls this, if there is one.
        judge: As for the scorer `genie`: `list`, `sheet`, `pairwise`, `logit`, `embedding` or `offline` (no grader).
        progress: Whether a bar on standard error shows how many texts are scored.
        **options: The other options of the scorer `genie`: `embedder`, `templates`, `cache`, `min_coverage`,
            `answer_length`, `ratings`.

    Returns:
        One row per text, in order: `text` (its index), `prompt`, for each feature its novelty from 0 (as the others) to
        1 (unlike all) and `<feature>_percentile` (0 to 100: the share of the population's documents that are less
        novel, where it has reference scores), `reason` (why there is no score, else empty), `explanation` and
        `signature`. A value that could not be measured is NaN. A pandas frame where pandas is installed, else a list of
        dicts.

    Raises:
        RefusedError: If the population cannot be opened, an option has a value that is not accepted, or prompts and
            texts do not pair up.
        PrerequisiteError: If the judge needs a grader and there is none, or its provider lacks a package or a key.

    Source: Genie (arXiv 2606.12790).
    """
    arguments = {"population": population, "grader": grader, "judge": judge, "progress": progress, **options}
    with start_blocking_portal() as portal:
        return portal.call(lambda: score_texts_async(texts, prompts, **arguments))


async def score_texts_async(
    texts: Sequence[str],
    prompts: str | Sequence[str],
    *,
    population: str = "starter",
    grader: Grader | None = None,
    judge: str = "list",
    progress: bool = True,
    **options: Any,
) -> "Rows | pandas.DataFrame":
    """As `score_texts`, to await where an event loop runs: in a notebook, a server, a solver, a training loop."""
    with refusals():
        texts = _strings("texts", texts)
        prompts = [prompts] * len(texts) if isinstance(prompts, str) else _strings("prompts", prompts)
        if len(prompts) != len(texts):
            raise UnknownChoiceError("prompts", f"{len(prompts)} prompts", f"one, or one per text: {len(texts)}")
        if grader is None and judge != OFFLINE and ROLE not in model_roles():
            expected = f"a model such as 'openai/gpt-4o' for judge={judge!r} (judge='offline' needs none)"
            raise UnknownChoiceError("grader", "None", expected)
        features = [feature.name for feature in open_population(population).features]
        if taken := sorted({"text", "prompt", "reason", "explanation", "signature"}.intersection(features)):
            raise UnknownChoiceError("feature", taken[0], "a name that is not one of the table's columns")
    graders = [grader] if isinstance(grader, str | Model) else list(grader or ())
    # not memoized: a client belongs to one event loop
    models = [get_model(one, memoize=False) if isinstance(one, str) else one for one in graders]
    scorer = genie(population, judge, **options)

    async def row(index: int) -> dict[str, Any]:
        output = ModelOutput.from_content("recorded", texts[index])
        state = TaskState(ModelName("recorded/text"), index, 1, prompts[index], [], output=output)
        score = await scorer(state, Target("")) or Score(value={})
        bar.advance(scored)
        novelty, facts = score.as_dict(), score.metadata or {}
        standings = facts.get("standing", {})
        values: dict[str, Any] = {"text": index, "prompt": prompts[index]}
        for feature in features:
            values[feature] = novelty[feature]
            values[f"{feature}_percentile"] = standings.get(feature, {}).get("percentile", math.nan)
        told = {"reason": score.reason or "", "explanation": score.explanation, "signature": facts["signature"]}
        return {**values, **told}

    with Progress(console=Console(stderr=True), disable=not progress, transient=True) as bar:
        scored = bar.add_task("texts scored", total=len(texts))
        with bound_roles({ROLE: models}) if models else nullcontext():
            rows = await gathered(*map(row, range(len(texts))))
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _strings(name: str, values: Iterable[object]) -> list[str]:
    values = [values] if isinstance(values, str) else list(values)
    for index, value in enumerate(values):
        if not isinstance(value, str):
            raise UnknownChoiceError(f"{name}[{index}]", value, "a text")
    return [str(value) for value in values]
