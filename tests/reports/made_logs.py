"""Logs with given scores, as Inspect writes them, and runs as reports see them."""

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
    write_eval_log,
)
from inspect_ai.model import ModelOutput, ModelUsage
from inspect_ai.scorer import Score
from inspect_ai.viewer import ViewerConfig

from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.signature import Signature
from genie_inspect.tasks.novelty import score_view

GENIE = "measure:genie|judge:test|population:small-1@0|version:0"
QUESTION = {"id": "q", "feature": "plot", "question": "How does it end?", "answer": "in rain", "novelty": 0.5}
NEAR = [{"answer": "in snow", "rating": 2, "given": 3}]


def scored(
    value: Mapping[str, float] | float, signature: str = GENIE, reason: str | None = None, **metadata: Any
) -> Score:
    """A score of ours."""
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
    viewer: ViewerConfig | None = None,
    **spec: Any,
) -> str:
    """The file of a log with a sample for each mapping of scores by scorer.

    Args:
        folder: Where to.
        samples: Scores.
        model: Who wrote.
        texts: What each sample's model said; some words unless given.
        prompts: Of each sample; one of its own unless given.
        places: Id and epoch of each sample; numbers from 1 and the first epoch unless given.
        metadatas: What the dataset says of each sample beside its prompt.
        status: How the evaluation ended.
        viewer: As in the log; plot and style from 0 to 1 unless given.
        spec: More of the log's `eval`.
    """
    where: Sequence[tuple[str | int, int]] = places or [(number, 1) for number in range(1, len(samples) + 1)]
    ids = list(dict.fromkeys(name for name, _ in where))
    ranges = {"plot": (0.0, 1.0), "style": (0.0, 1.0)}
    log = EvalLog(
        status="success" if status == "success" else "error",
        eval=EvalSpec(
            created="2026-01-02T03:04:05+00:00",
            task="made",
            dataset=EvalDataset(samples=len(ids), sample_ids=ids),
            model=model,
            config=EvalConfig(epochs=max((epoch for _, epoch in where), default=1)),
            viewer=viewer or score_view("made", {"genie": list(ranges)}, ranges),
            **spec,
        ),
        samples=[
            _sample(
                place,
                scores,
                texts[number] if texts else "It rains.",
                prompts[number] if prompts else "",
                metadatas[number] if metadatas else {},
            )
            for number, (place, scores) in enumerate(zip(where, samples, strict=True))
        ],
    )
    log.stats.model_usage = {model: ModelUsage(input_tokens=1_000, output_tokens=2_000, total_tokens=3_000)}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"log-{len(list(folder.iterdir()))}.eval"
    write_eval_log(log, str(path))
    return str(path)


def _sample(
    place: tuple[str | int, int], scores: Mapping[str, Score], text: str, prompt: str, metadata: Mapping[str, Any]
) -> EvalSample:
    return EvalSample(
        id=place[0],
        epoch=place[1],
        input=prompt or f"Prompt {place[0]}",
        target="",
        output=ModelOutput.from_content("mock/writer", text),
        scores=dict(scores),
        metadata={"prompt": prompt or f"Prompt {place[0]}", **metadata},
    )


CREATED = "2026-01-02T03:04:05+00:00"


def made_run(
    *documents: ScoredDocument, label: str = "run", model: str = "m/a", strategy: str = "generate", folder: str = ""
) -> ScoredLog:
    """A run of these documents, whose scores all have one signature.

    Args:
        documents: In their order.
        label: Its name, also of its file.
        model: Who wrote.
        strategy: The solver.
        folder: Before the file's name.
    """
    config, dataset = EvalConfig(), EvalDataset()
    spec = EvalSpec(created=CREATED, task="genie_inspect/made", dataset=dataset, model=model, config=config)
    plan = EvalPlan(steps=[EvalPlanStep(solver=strategy, params={})])
    signatures = dict.fromkeys((name for one in documents for name in one.scores), (Signature("measure:genie"),))
    return ScoredLog(f"{folder}{label}.eval", EvalLog(eval=spec, plan=plan), documents, signatures, label=label)
