"""Logs with given scores, as Inspect writes them, and runs as reports see them."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalPlan,
    EvalPlanStep,
    EvalSample,
    EvalSpec,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelOutput, ModelUsage
from inspect_ai.scorer import Score
from inspect_ai.viewer import ViewerConfig

from genie_inspect.logs.reading import ScoredDocument, ScoredLog
from genie_inspect.signature import Signature
from genie_inspect.tasks.novelty import score_view

CREATED = "2026-01-02T03:04:05+00:00"
GENIE = "measure:genie|judge:test|population:small-1@0|version:0"
QUESTION = {"id": "q", "feature": "plot", "question": "How does it end?", "answer": "in rain", "novelty": 0.5}
NEAR = [{"answer": "in snow", "rating": 2, "given": 3}]


def scored(
    value: Mapping[str, float] | float, signature: str = GENIE, reason: str | None = None, **metadata: Any
) -> Score:
    given = dict(value) if isinstance(value, Mapping) else value
    return Score(value=given, reason=reason, metadata={"signature": signature, **metadata})


def asked(novelty: float | None, feature: str = "plot", **other: Any) -> dict[str, Any]:
    """A row of the question table, as `genie` keeps it."""
    return QUESTION | {"feature": feature, "novelty": novelty, "nearest": NEAR, "ratings": 12} | other


def made_log(
    folder: Path,
    samples: Sequence[Mapping[str, Score]],
    *,
    model: str = "mock/writer",
    texts: Sequence[str] = (),
    prompts: Sequence[str] = (),
    places: Sequence[tuple[str, int]] = (),
    metadatas: Sequence[Mapping[str, Any]] = (),
    status: str = "success",
    solver: str = "",
    viewer: ViewerConfig | None = None,
    **spec: Any,
) -> str:
    """The file of a log with a sample for each mapping of scores by scorer.

    Unless given, each sample has a prompt of its own, some words as its text, a number from 1 as its id, and epoch 1.
    `metadatas` is what the dataset says of each sample beside its prompt, `spec` more of the log's `eval`.
    """
    where: Sequence[tuple[str | int, int]] = places or [(number, 1) for number in range(1, len(samples) + 1)]
    ids = list(dict.fromkeys(name for name, _ in where))
    ranges = {"plot": (0.0, 1.0), "style": (0.0, 1.0)}
    log = EvalLog(
        status="success" if status == "success" else "error",
        eval=EvalSpec(
            created=CREATED,
            dataset=EvalDataset(samples=len(ids), sample_ids=ids),
            model=model,
            config=EvalConfig(epochs=max((epoch for _, epoch in where), default=1)),
            viewer=viewer or score_view("made", {"genie": list(ranges)}, ranges),
            **{"task": "made", **spec},
        ),
        plan=EvalPlan(steps=[EvalPlanStep(solver=solver, params={})] if solver else []),
        samples=[
            EvalSample(
                id=name,
                epoch=epoch,
                input=prompt,
                target="",
                output=ModelOutput.from_content("mock/writer", text),
                scores=dict(scores),
                metadata={"prompt": prompt, **metadata},
            )
            for (name, epoch), scores, text, prompt, metadata in zip(
                where,
                samples,
                texts or ["It rains."] * len(samples),
                prompts or [f"Prompt {name}" for name, _ in where],
                metadatas or [{}] * len(samples),
                strict=True,
            )
        ],
    )
    log.stats.model_usage = {model: ModelUsage(input_tokens=1_000, output_tokens=2_000, total_tokens=3_000)}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"log-{len(list(folder.iterdir()))}.eval"
    write_eval_log(log, str(path))
    return str(path)


def made_run(
    *documents: ScoredDocument, label: str = "run", model: str = "m/a", strategy: str = "generate", folder: str = ""
) -> ScoredLog:
    """A run of these documents, whose scores all have one signature; its label names its file, too."""
    config, dataset = EvalConfig(), EvalDataset()
    spec = EvalSpec(created=CREATED, task="genie_inspect/made", dataset=dataset, model=model, config=config)
    plan = EvalPlan(steps=[EvalPlanStep(solver=strategy, params={})])
    signatures = dict.fromkeys((name for one in documents for name in one.scores), (Signature("measure:genie"),))
    return ScoredLog(f"{folder}{label}.eval", EvalLog(eval=spec, plan=plan), documents, signatures, label=label)


def log_of(
    folder: Path,
    task: str,
    values: Mapping[str, Sequence[Mapping[str, float]]],
    *,
    texts: Sequence[str] = (),
    coherence: Sequence[float] = (),
    model: str = "model",
    solver: str = "retelling",
    spec: Mapping[str, Any] | None = None,
    **facts: Any,
) -> EvalLog:
    """The log of a task: genie's scores by sample id and epoch, and by epoch texts and coherence.

    The sample's id is put behind each text. `facts` are metadata of each of genie's scores.
    """
    texts = texts or (f"A story of {task} words",)
    places = [(name, epoch) for name, own in values.items() for epoch in range(1, len(own) + 1)]
    samples = []
    for name, epoch in places:
        value = values[name][epoch - 1]
        reason = "no_response" if all(map(math.isnan, value.values())) else None
        samples.append({"genie": scored(value, "measure:genie|judge:test|version:0", reason, **facts)})
        if coherence:
            rating = {"coherence_rating": coherence[epoch - 1]}
            samples[-1]["coherence"] = scored(rating, "measure:coherence|by:test|version:0")
    said = [texts[(epoch - 1) % len(texts)] + f" {name}" * bool(texts[0]) for name, epoch in places]
    prompts = [f"Write about {name}." for name, _ in places]
    given: dict[str, Any] = {"texts": said, "prompts": prompts, "places": places, **(spec or {})}
    return read_eval_log(made_log(folder, samples, model=f"mockllm/{model}", task=task, solver=solver, **given))


def plots(*values: float) -> dict[str, list[dict[str, float]]]:
    """One key, `plot`, for as many prompts as there are values."""
    return {f"thing{number}": [{"plot": value}] for number, value in enumerate(values)}
