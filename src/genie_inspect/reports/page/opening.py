"""What a report opens with: which documents, of whom, when, against what."""

from collections.abc import Iterable, Sequence

from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.yardstick import graders_of
from genie_inspect.reports.page.report import Report
from genie_inspect.signature import facts_of


def opening(report: Report) -> dict[str, str]:
    """The facts by name; what no log says is left out."""
    runs = [run for run in report.runs if not run.is_population] or list(report.runs)
    facts = {
        "models": _listed(run.model for run in runs),
        "documents": _prompts(runs),
        "population": _populations(report, runs),
        "grader": _listed(grader for run in runs for grader in graders_of(run)),
        "date": _span(str(run.header.eval.created)[:10] for run in runs),
    }
    return {name: value for name, value in facts.items() if value}


def _prompts(runs: Sequence[ScoredLog]) -> str:
    """Prompts x epochs; from the least to the most where runs differ."""
    prompts = _range(len({document.prompt for document in run.documents}) for run in runs)
    epochs = _range(run.header.eval.config.epochs or 1 for run in runs)
    documents = _range(len(run.documents) for run in runs)
    return f"{_counted(prompts, 'prompt')} x {_counted(epochs, 'epoch')}: {documents} a run"


def _populations(report: Report, runs: Sequence[ScoredLog]) -> str:
    """The populations that the signatures name, in a log's own words where it speaks of the same one."""
    told = [str((run.header.eval.metadata or {}).get("population") or "") for run in runs]
    names = dict.fromkeys(facts_of(measure.signature).get("population", "") for measure in report.measures)
    # a log that was scored afterwards speaks of the population of the run that wrote
    populations = [next((words for words in told if words.startswith(name)), name) for name in names if name]
    return _listed(populations or told)


def _span(values: Iterable[str]) -> str:
    ordered = sorted(values)
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


def _range(counts: Iterable[int]) -> str:
    ordered = sorted(counts)
    return str(ordered[0]) if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


def _counted(count: str, noun: str) -> str:
    return f"{count} {noun}{'' if count == '1' else 's'}"


def _listed(values: Iterable[str]) -> str:
    return ", ".join(value for value in dict.fromkeys(values) if value)
