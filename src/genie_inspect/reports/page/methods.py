"""How the numbers of a report came about, as far as its logs say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.yardstick import graders_of, options_of
from genie_inspect.reports.page.report import Report
from genie_inspect.signature import facts_of

TASK = "genie_inspect/leave_one_out"
ARGUMENTS = ("population", "judge", "embedder", "templates", "panel")


def compared(report: Report) -> list[tuple[str, dict[str, str]]]:
    """The parts of each scorer's signature (judge, reader, population, version ...), by name."""
    return [(measure.scorer, facts_of(measure.signature)) for measure in report.measures]


def definitions(report: Report) -> dict[str, str]:
    """Definitions of the features of the runs' populations, by name; empty where no log has them."""
    definitions_by_run = ((run.header.eval.metadata or {}).get("features") for run in report.runs)
    return {
        str(name): str(text)
        for features in definitions_by_run
        if isinstance(features, dict)
        for name, text in features.items()
    }


def run_facts(run: ScoredLog) -> dict[str, str]:
    """Settings of a run as its log records them, by name; what is not recorded is left out."""
    spec, plan = run.header.eval, run.header.plan
    generation = plan.config.model_dump(exclude_none=True) | spec.model_generate_config.model_dump(exclude_none=True)
    # Inspect lets a role have a list of models
    roles = {role: one if isinstance(one, list) else [one] for role, one in (spec.model_roles or {}).items()}
    facts = {
        "log": ", ".join(run.parts) or Path(run.file).name,
        "task": spec.task,
        "options": _listed(spec.task_args_passed),
        "model": spec.model,
        "solver": " → ".join(step.solver.split("/")[-1] for step in plan.steps),
        "roles": _listed({role: "+".join(one.model for one in models) for role, models in roles.items()}),
        "generation": _listed({name: value for name, value in generation.items() if name != "seed"}),
        "seed": str(generation.get("seed", "none was set")),
        "prompts": str(len({document.prompt for document in run.documents})),
        "epochs": str(spec.config.epochs or 1),
        "population": str((spec.metadata or {}).get("population", "")),
        "begun": str(run.header.stats.started_at)[:16].replace("T", " "),
        "ended": str(run.header.stats.completed_at)[:16].replace("T", " "),
        "packages": _listed(spec.packages),
        "commit": (spec.revision.commit or "") if spec.revision else "",
    }
    return {name: value for name, value in facts.items() if value}


def command_for_yardstick(report: Report) -> str:
    """The command that makes a log of the population's own documents, scored as the runs are.

    Empty when there is one, where the scores know the population's own yardstick, and where nothing in the report is
    measured with a population's questions.
    """
    known = any(cell.standing for measure in report.measures for row in measure.rows for cell in row.values())
    if report.yardstick or known or "genie" not in (measure.scorer for measure in report.measures):
        return ""
    run = next(run for run in report.runs if "genie" in run.ours)
    # the panel is the task's: no scorer has it
    given = {"panel": run.header.eval.task_args.get("panel"), **options_of(run, "genie")}
    arguments = {name: given[name] for name in ARGUMENTS if given.get(name) is not None}
    options = "".join(f" -T {name}={_option(value)}" for name, value in arguments.items())
    models = graders_of(run, "genie")
    role = f" --model-role grader={','.join(models)}" if models else ""
    return f"inspect eval {TASK} --model mockllm/model{options}{role}"


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _option(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
