"""Runs as reports see them, without a log file: for what looks at documents and names alone."""

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalPlan, EvalPlanStep, EvalSpec

from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog

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
    signatures = dict.fromkeys((name for one in documents for name in one.scores), ("measure:genie",))
    return ScoredLog(f"{folder}{label}.eval", EvalLog(eval=spec, plan=plan), documents, signatures, label=label)
