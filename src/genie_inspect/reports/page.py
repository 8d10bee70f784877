"""The report as one page: no network, no script, light and dark."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from genie_inspect.graders.close_reader import ASPECTS
from genie_inspect.graders.protocols import UNSPECIFIED, caution
from genie_inspect.logs.measures import GENIE
from genie_inspect.logs.reading import ScoredLog, cut_warning, length_warning
from genie_inspect.logs.results import graders_of, options_of, reference_scores_command
from genie_inspect.measures.genie import ALIKE
from genie_inspect.measures.tokens import is_like_length
from genie_inspect.reports import charts, figures, lanes
from genie_inspect.reports.documents import Documents, documents
from genie_inspect.reports.figures import Figure
from genie_inspect.reports.first_figure import first_figure
from genie_inspect.reports.ranking import leaders
from genie_inspect.reports.repeats import Repeated, Repeats
from genie_inspect.reports.report import Measure, QuestionRow, Report, StandOut
from genie_inspect.reports.study import Study
from genie_inspect.reports.study_verdict import sentence
from genie_inspect.reports.study_verdict import warnings as study_warnings
from genie_inspect.reports.verdict import DIFFERENCE, findings, prompts_needed, verdict, warnings
from genie_inspect.signature import package_version
from genie_inspect.statistics.effect import USUAL_POWER

TASK = "genie_inspect/leave_one_out"
RECORDED = "bundled/"  # models that replay stories and readings
LONGEST_NAME = 60  # characters of a picture's name, each of at most four bytes
_NO_NAME = re.compile(r"[^\w.-]")
ARGUMENTS = ("population", "judge", "embedder", "templates", "panel")


def run_facts(run: ScoredLog) -> dict[str, str]:
    """By name; what the log does not record is left out."""
    spec, plan = run.header.eval, run.header.plan
    generation = plan.config.model_dump(exclude_none=True) | spec.model_generate_config.model_dump(exclude_none=True)
    # Inspect lets a role have a list of models
    roles = {role: one if isinstance(one, list) else [one] for role, one in (spec.model_roles or {}).items()}

    def listed(values: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={value}" for name, value in values.items())

    facts = {
        "log": ", ".join(run.parts) or Path(run.file).name,
        "task": spec.task,
        "options": listed(spec.task_args_passed),
        "model": spec.model,
        "solver": " → ".join(step.solver.split("/")[-1] for step in plan.steps),
        "roles": listed({role: "+".join(one.model for one in models) for role, models in roles.items()}),
        "generation": listed({name: value for name, value in generation.items() if name != "seed"}),
        "seed": str(generation.get("seed", "none was set")),
        "prompts": str(len({document.prompt for document in run.documents})),
        "epochs": str(spec.config.epochs or 1),
        "population": str((spec.metadata or {}).get("population", "")),
        "begun": str(run.header.stats.started_at)[:16].replace("T", " "),
        "ended": str(run.header.stats.completed_at)[:16].replace("T", " "),
        "packages": listed(spec.packages),
        "commit": (spec.revision.commit or "") if spec.revision else "",
    }
    return {name: value for name, value in facts.items() if value}


def command_for_reference_scores(report: Report) -> str:
    """The command that makes a log of the population's own documents, scored as the runs are; empty without need."""
    known = any(measure.has_standing for measure in report.measures)
    if report.reference_scores or known or "genie" not in (measure.scorer for measure in report.measures):
        return ""
    run = next(run for run in report.runs if "genie" in run.ours)
    # the panel is the task's: no scorer has it
    given = {"panel": run.header.eval.task_args.get("panel"), **options_of(run, "genie")}
    arguments = {name: given[name] for name in ARGUMENTS if given.get(name) is not None}
    options = "".join(
        f" -T {name}={','.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in arguments.items()
    )
    models = graders_of(run, "genie")
    role = f" --model-role grader={','.join(models)}" if models else ""
    return f"inspect eval {TASK} --model mockllm/model{options}{role}"


def populations_of(report: Report, runs: Iterable[ScoredLog]) -> list[str]:
    """Those that the signatures name, in a log's own words where it speaks of the same one."""
    # a log that was scored afterwards speaks of the population of the run that wrote
    logged = [run.header.eval.metadata or {} for run in runs]
    parts = [(str(one.get("population") or ""), str(one.get("population_description") or "")) for one in logged]
    told = [": ".join(filter(None, words)) if words[0] else "" for words in parts]
    names = dict.fromkeys(measure.signature.facts.get("population", "") for measure in report.measures)
    return [next((words for words in told if words.startswith(name)), name) for name in names if name] or told


def of_population(report: Report, measure: Measure) -> list[str]:
    """What the runs' documents are compared with, in a sentence; nothing where the logs do not say it."""
    scores = (
        one.scores[measure.scorer] for run in report.runs for one in run.documents if measure.scorer in one.scores
    )
    counts = sorted({own.evidence.documents for own in scores if own.evidence.documents})
    if not counts:
        return []
    many = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    lines = [f"The population here: {many} other document{'s' * (counts[-1] != 1)} for the same prompt."]
    if own := {key: cell.mean for key, cell in measure.population.items()}:
        lines.append(f"The population's documents average {_ends(own, '{:.2f}')}.")
    if len(measure.keys) > 1:
        lines.append("Compare within a feature: answers to some questions differ more than to others.")
    return lines


def opening(report: Report) -> dict[str, str]:
    """By name; what no log says is left out."""
    runs = [run for run in report.runs if not run.is_population] or list(report.runs)

    def from_to(values: Iterable[Any]) -> str:
        ordered = sorted(values)
        return " to ".join(map(str, dict.fromkeys((ordered[0], ordered[-1]))))

    prompts = from_to(len({document.prompt for document in run.documents}) for run in runs)
    epochs = from_to(run.header.eval.config.epochs or 1 for run in runs)
    documents = from_to(len(run.documents) for run in runs)
    counts = f"{documents} per run: {prompts} prompt{'s' * (prompts != '1')} x {epochs}"
    facts = {
        "models": [run.model for run in runs],
        "documents": [counts],
        "population": populations_of(report, runs),
        "grader": [grader for run in runs for grader in graders_of(run)],
        "date": [from_to(str(run.header.eval.created)[:10] for run in runs)],
    }
    return {name: said for name, values in facts.items() if (said := ", ".join(filter(None, dict.fromkeys(values))))}


def matrix(study: Study) -> tuple[list[str], dict[str, list[dict[str, Any]]]]:
    """The columns of a study's matrix, and by intervention its cells, each with the depth of its colour."""
    rows: dict[str, list[dict[str, Any]]] = {}
    cells = charts.cells_of(study)
    for cell in cells:
        depth = min(1.0, abs(cell["held"]) / charts.STRONGEST)
        rows.setdefault(cell["row"], []).append({**cell, "share": f"{100 * depth:.0f}%"})
    return list(dict.fromkeys(cell["column"] for cell in cells)), rows


def every_figure(report: Report) -> Iterator[Figure]:
    """What the page draws and its tables of means and of effects, as pictures, in its order."""
    yield from filter(None, [first_figure(report)])
    yield from figures.forests(report)
    for place, study in enumerate(report.studies, start=1):
        told, title = " ".join(map(sentence, study.measures)), f"{charts.BARS}: {charts.BARS_SCALE}"
        heading, heatmap = "effects of edits and paraphrases", partial(charts.study_heatmap, study)
        yield Figure(f"study-{place}-effects", heading, told, heatmap)
        yield Figure(f"study-{place}-bars", title, told, partial(charts.bars, study, charts.ON_A_PHONE))
    for measure in report.measures:
        yield figures.heatmap(report, measure)
        yield from figures.ridges(report, measure)
    yield figures.length_ridges(report)


@cache
def template() -> Callable[..., str]:  # Jinja's, which takes far longer to read than to fill in
    from jinja2 import Environment, PackageLoader, StrictUndefined

    # prompts, answers and names come from models: autoescape makes them text, not markup
    environment = Environment(loader=PackageLoader("genie_inspect.reports"), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters |= {"number": charts.number, "words": charts.in_words}
    asked: tuple[Callable[..., Any], ...] = (
        *(figures.places, figures.shade, lanes.forest_lanes, lanes.length_lanes, lanes.means_lanes, lanes.spread_lanes),
        *(answers, answers_elsewhere, asides, beware, caution, caveats, command_for_reference_scores, cost),
        *(cut_warning, definitions, length_warning, matrix, meanings, most_novel, most_repeated, of_population),
        *(lanes.study_lanes, opening, prompts_needed, run_facts, sentence, unlike_lengths, verdict, warned),
    )
    environment.globals |= {function.__name__: function for function in asked} | {
        **{"study_warnings": study_warnings, "is_finite": math.isfinite, "version": package_version()},
        **{"ASPECTS": ASPECTS, "DIFFERENCE": DIFFERENCE, "UNSPECIFIED": UNSPECIFIED, "GENIE": GENIE, "ALIKE": ALIKE},
        **{"POWER": USUAL_POWER, "RECORDED": RECORDED, "BARS": charts.BARS, "BARS_SCALE": charts.BARS_SCALE},
    }
    return environment.get_template("page.html.j2").render


def page(report: Report) -> str:
    report = in_one_order(report)
    # the first measure on a scale from 0 to 1 opens the page
    drawn = ((measure, found) for measure in report.measures if (found := lanes.means_lanes(report, measure)))
    headline, headline_lanes = next(drawn, (None, []))
    return template()(
        report=report,
        marks=lanes.markers(report.runs),
        is_example=any(run.model.startswith(RECORDED) for run in report.runs),
        headline=headline,
        headline_lanes=headline_lanes,
        listed=documents(report),
        priced=any(map(cost, report.runs)),
        carried_command=next(filter(None, (reference_scores_command(run, "genie") for run in report.runs)), ""),
    )


def answers_elsewhere(listed: Documents, one: StandOut) -> dict[str, str]:
    """What documents of other runs for the same prompt answer to its question, by run; of two runs at most."""
    said: dict[str, str] = {}
    for row in listed.rows:
        if row.detail and one.question and row.run != one.run and row.document.prompt == one.prompt:
            for asked in row.detail.questions:
                if asked.question == one.question.question and asked.answer:
                    said.setdefault(row.run, asked.answer)
    return dict(list(said.items())[:2])


MOST_FINDINGS = 8  # lines of each kind at the head of the page


def answers(report: Report) -> list[str]:
    """The main finding in plain sentences: the comparison, else who leads, else where runs are in the population."""
    if report.comparison:
        return _shortened(findings(report.comparison))
    return _shortened(leaders(report.rankings) or among(report))


def asides(report: Report) -> list[str]:
    """Where runs are in the population, where another finding is the main one."""
    return _shortened(among(report)) if report.comparison or report.rankings else []


def among(report: Report) -> list[str]:
    """Where each run is among the population's own documents, a sentence each."""
    lines = []
    for measure in report.measures:
        for run, row in zip(report.runs, measure.rows, strict=True):
            known = {key: cell.standing.percentile for key, cell in row.items() if cell.standing}
            if known and not run.is_population:
                told = _ends(known, "{:.0f}%")
                lines.append(f"{run.label} scores above {told} of the population's documents on average; 50% is usual.")
    return lines


def _ends(values: Mapping[str, float], form: str, most: int = 3) -> str:
    """The lowest value and the highest, each with the keys that have it as it is shown."""
    shown = {key: form.format(values[key]) for key in sorted(values, key=values.__getitem__)}
    lowest, *_, highest = [*shown.values(), *shown.values()]
    told = []
    for end in dict.fromkeys((lowest, highest)):
        names = [charts.in_words(key) for key in values if shown[key] == end]
        more = f" and {len(names) - most} more" if len(names) > most else ""
        told.append(f"{end} ({', '.join(names[:most])}{more})")
    return " to ".join(told)


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_FINDINGS
    return [*lines[:MOST_FINDINGS], *([f"{more} more are below."] if more > 0 else [])]


def caveats(report: Report, first: Measure) -> list[str]:
    """What changes how the answers are to be read: cautions on judges, and the warnings on the measure shown first."""
    lines = dict.fromkeys(caution(measure.signature.facts.get("judge", "")) for measure in report.measures)
    return [*filter(None, lines), *warned(report, first)]


def warned(report: Report, measure: Measure) -> list[str]:
    pairs = zip(report.runs, measure.warnings, strict=True)
    return [f"{run.label}: {line}." for run, own in pairs for line in own]


def most_novel(report: Report) -> StandOut | None:
    """A most novel document that is told apart at sight: most of the population gives one and the same other answer."""

    def at_sight(one: StandOut) -> tuple[float, float]:
        asked = one.question or QuestionRow("")
        shared = max((other.given for other in asked.nearest), default=0) / max(asked.ratings, 1)
        return (asked.novelty or 0.0) * min(shared, 1.0), one.value

    return max((one for one in report.stand_outs if one.end == "most" and one.question), key=at_sight, default=None)


def in_one_order(report: Report) -> Report:
    """The report with the keys of each measure as the first figure has them: the highest mean first."""
    measures = tuple(replace(measure, keys=tuple(lanes.ordered_keys(report, measure))) for measure in report.measures)
    place = {(own.scorer, key): (n, m) for n, own in enumerate(measures) for m, key in enumerate(own.keys)}
    comparison = report.comparison
    if comparison:
        rows = sorted(comparison.rows, key=lambda row: place.get((row.scorer, row.key), (len(measures), 0)))
        comparison = replace(comparison, rows=tuple(rows))
    found = sorted(report.stand_outs, key=lambda one: place[one.scorer, one.key])
    ranked = sorted(report.rankings, key=lambda one: place[one.scorer, one.key])
    return replace(report, measures=measures, comparison=comparison, stand_outs=tuple(found), rankings=tuple(ranked))


SHOWN_REPEATS = 3  # questions of each feature that are not folded


def most_repeated(own: Repeats) -> tuple[list[Repeated], list[Repeated]]:
    """The questions whose answers documents share, feature by feature: the most repeated, and the others."""
    first, rest = [], []
    for feature in own.features:
        shared = [row for row in own.rows if row.feature == feature and row.own.same > 0]
        first += shared[:SHOWN_REPEATS]
        rest += shared[SHOWN_REPEATS:]
    return first, rest


def meanings(report: Report, scorer: str) -> list[str]:
    return next((run.meanings(scorer) for run in report.runs if scorer in run.ours), [])


def definitions(report: Report) -> dict[str, str]:
    """Of the features of the runs' populations, by name; empty where no log has them."""
    by_run = [(run.header.eval.metadata or {}).get("features") for run in report.runs]
    found = {str(name): str(text) for own in by_run if isinstance(own, dict) for name, text in own.items()}
    # in the order of the first figure, as far as that has them
    keys = [key for measure in report.measures[:1] for key in measure.keys]
    return {name: found[name] for name in dict.fromkeys([*(key for key in keys if key in found), *found])}


def write_pictures(report: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for place, figure in enumerate(every_figure(report), start=1):
        # scorers and keys are a log's words, and may be paths
        name = _NO_NAME.sub("_", figure.name)[:LONGEST_NAME]
        name = name if name not in taken else f"{name}-{place}"
        taken.add(name)
        for ending in charts.ENDINGS:
            charts.write_chart(figure.draw, folder / (name + ending))


def cost(run: ScoredLog) -> str:
    """Of all model calls, in the currency of the log; empty where the log has no prices."""
    prices = [u.total_cost for u in run.header.stats.model_usage.values() if u.total_cost is not None]
    return f"{math.fsum(prices):.2f}" if prices else ""


def unlike_lengths(report: Report) -> tuple[str, dict[str, float], str, dict[str, float]] | None:
    """The runs with the shortest and the longest median document, where they are too far apart to compare well."""
    # means of texts of unlike length do not compare, see LIKE
    lengths = {run.label: words for run, words in zip(report.runs, report.lengths, strict=True) if words["median"] > 0}
    ordered = sorted(lengths.items(), key=lambda pair: pair[1]["median"])
    if not ordered or is_like_length(ordered[0][1]["median"], ordered[-1][1]["median"]):
        return None
    return (*ordered[0], *ordered[-1])


def beware(report: Report) -> list[str]:
    """What to beware of in the comparison, without what stands below the means."""
    if report.comparison is None:
        return []
    below = tuple(line for measure in report.measures for lines in measure.warnings for line in lines)
    return [line for line in warnings(report.comparison) if not line.endswith(below)]
