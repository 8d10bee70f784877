"""The results of one scorer in one log: the numbers that summary, report and comparison show, all made here."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from genie_inspect.logs.evidence import (
    NO_SHARE,
    GraderResults,
    Share,
    agreement,
    jury_warnings,
    results_by_grader,
    together,
    warnings,
)
from genie_inspect.logs.measures import GENIE, UNIT
from genie_inspect.logs.reading import ScoredLog
from genie_inspect.logs.scores import NONE, Scores
from genie_inspect.statistics.descriptive import Interval, Standing, prompt_interval

# how providers call one version of a model
DATE = re.compile(r"[-@:.](latest|preview|[0-9]{4}-?[0-9]{2}-?[0-9]{2}|[0-9]{4})$")


def self_preference(log: ScoredLog, scorer: str) -> list[str]:
    """A line where a model that a scorer asks has the name of the one that wrote; empty where none has.

    The name is what stands behind the last slash, without a date: of whoever serves it, it is one model.
    """
    # the population's own documents are by whoever wrote them, not by the model that the run had to name
    if log.is_population:
        return []
    facts = [fact for signature in log.signatures.get(scorer, ()) for fact in signature.models.items()]
    asked = [model for name, models in facts if name != "population" for model in models]
    writer, *names = (DATE.sub("", model.rpartition("/")[2].casefold()) for model in (log.model, *asked))
    return [
        f"{model} judges what a model of its name wrote{'' if log.model == model else f' ({log.model})'}: "
        "judges prefer their own (self-preference)"
        for model in dict.fromkeys(model for model, name in zip(asked, names, strict=True) if name == writer)
    ]


@dataclass(frozen=True, slots=True)
class Results:
    """One scorer's results in one log."""

    cells: Mapping[str, Interval]  # by key: the mean over prompts; its 95% interval ends where values can end
    coverage: Mapping[str, Share]  # by key: questions (tests) used, of those asked; 0 of 0 where nothing says it
    pairs: Mapping[str, Share]  # by key: ratings that count, and those that were due, likewise
    documents: int  # each epoch of a sample by itself, also those that failed before they were scored
    unscored: Mapping[str, int]  # documents without any value, by reason, the most frequent one first
    faults: Mapping[str, int]  # answers, ratings or verdicts that are missing, likewise
    refusals: int  # documents that the model refused to write
    position_bias: float  # mean points that a judge of pairs gives a document for standing first; else NaN
    warnings: Sequence[str]  # what to beware of, a line each
    nearest: Mapping[str, Interval]  # by key, as far as the scorer says how near the nearest comes: its mean likewise
    # by key, where the population has reference scores: each document's standing among its own, as means over prompts
    standing: Mapping[str, Standing]
    # by key, where answers were rated against a sample: what of the mean's standard error comes of that
    sampling: Mapping[str, float]
    graders: Mapping[str, GraderResults]  # of a jury each grader's own results; empty where one grader measured
    agreement: Mapping[str, float]  # of a jury by key: alpha over its graders' novelties of all questions

    @property
    def scored(self) -> int:  # documents with a value under some key
        return self.documents - sum(self.unscored.values())

    def mean(self, key: str) -> float:
        """The mean of a key; NaN where it has none."""
        return self.cells[key].mean if key in self.cells else math.nan


def results_of(log: ScoredLog, scorer: str) -> Results:
    """A scorer's results in a log, under every key that any of its documents has."""
    keys, prompts = log.keys(scorer), [document.prompt for document in log.documents]
    scores = [document.scores.get(scorer, Scores({})) for document in log.documents]
    reasons = Counter(reason for document in log.documents if (reason := document.why_unscored(scorer)))
    ends = {key: log.known_range(scorer, key) or (-math.inf, math.inf) for key in keys}
    evidence, parts = together([own.evidence for own in scores]), [own.graders for own in scores]
    graders, alphas = results_by_grader(parts, prompts, keys), agreement(parts, keys)
    nearest = dict.fromkeys(key for own in scores for key in own.nearest)
    sampled = dict.fromkeys(key for own in scores for key in own.sampling)
    near = {key: [own.nearest.get(key, math.nan) for own in scores] for key in nearest}
    return Results(
        cells={key: prompt_interval(log.values(scorer, key), prompts, bounds=ends[key]) for key in keys},
        coverage={key: evidence.coverage.get(key, NO_SHARE) for key in keys},
        pairs={key: evidence.pairs.get(key, NO_SHARE) for key in keys},
        documents=len(log.documents),
        unscored=dict(reasons.most_common()),
        faults=evidence.faults,
        refusals=sum(document.refused for document in log.documents),
        position_bias=evidence.position_bias,
        warnings=[*warnings(evidence), *jury_warnings(parts, graders, alphas), *self_preference(log, scorer)],
        nearest={key: prompt_interval(row, prompts, bounds=UNIT) for key, row in near.items()},
        standing={key: found for key in keys if (found := standing_of([log], scorer, key))},
        sampling={key: sampling_error([own.sampling.get(key, math.nan) for own in scores], prompts) for key in sampled},
        graders=graders,
        agreement=alphas if graders else {},
    )


def sampling_error(errors: Sequence[float], prompts: Sequence[str]) -> float:
    """The standard error of a mean over prompts that comes of those of its documents; NaN without any."""
    by_prompt: dict[str, list[float]] = {}
    for error, prompt in zip(errors, prompts, strict=True):
        if not math.isnan(error):
            by_prompt.setdefault(prompt, []).append(error)
    squares = math.fsum((math.hypot(*own) / len(own)) ** 2 for own in by_prompt.values())
    return math.sqrt(squares) / len(by_prompt) if by_prompt else math.nan


def standing_of(logs: Iterable[ScoredLog], scorer: str, key: str) -> Standing | None:
    """Where the values under a key fall among the population's own documents: means over prompts, of each part.

    None where it is not known of every value: a part of them would have another mean than that beside which it stands.
    """
    documents = [document for log in logs for document in log.documents if not math.isnan(document.value(scorer, key))]
    standings = [document.scores[scorer].standing.get(key) for document in documents]
    known = [standing for standing in standings if standing]
    if not known or len(known) < len(documents):
        return None
    prompts = [document.prompt for document in documents]
    values = ([getattr(standing, part.name) for standing in known] for part in fields(Standing))
    return Standing(*(prompt_interval(own, prompts).mean for own in values))


NO_MODEL = "offline"
BY_EMBEDDER = (NO_MODEL, "embedding")  # judges that take an embedder
USUAL_JUDGE = "list"  # what a scorer's entry in a log leaves unsaid, as `inspect score` without `-S judge=` does
UNSAID = {"population": "FOLDER", "grader": "PROVIDER/MODEL"}  # in the command for what the log does not say


def graders_of(log: ScoredLog, scorer: str = "") -> list[str]:
    """The models that read and judge, one or a jury: by the scores' signatures, else by the role `grader`.

    Signatures come first, because a log that was scored afterwards keeps the roles of the run that wrote.
    """
    signatures = [one for name in ([scorer] if scorer else log.signatures) for one in log.signatures.get(name, ())]
    models = [
        model
        for signature in signatures
        for part in ("reader", "judge")
        # an embedder stands in the place of the judge, but is no grader
        if signature.facts.get(part, "").partition("(")[0] not in BY_EMBEDDER
        for model in signature.models.get(part, ())
    ]
    role = (log.header.eval.model_roles or {}).get("grader")
    return list(dict.fromkeys(models)) or [one.model for one in (role if isinstance(role, list) else [role]) if one]


def options_of(log: ScoredLog, scorer: str) -> dict[str, Any]:
    """The options that Genie was scored with: those of the task, or of the scorer that was added to its log.

    Where several with this judge are on record, those options alone that are the same for all.
    """
    spec = log.header.eval
    entries = [dict(one.options or {}) for one in spec.scorers or () if one.name.split("/")[-1] == GENIE]
    if not entries:
        return spec.task_args
    signature, *_ = log.signatures.get(scorer, (NONE,))
    alike = [one for one in entries if str(one.get("judge") or USUAL_JUDGE).partition("/")[0] == signature.judge]
    names = {name for one in alike for name in one}
    return {name: alike[0].get(name) for name in names if all(one.get(name) == alike[0].get(name) for one in alike)}


def reference_scores_command(log: ScoredLog, scorer: str) -> str:
    """The command that compares the population's own documents as the scores were made.

    Empty for another measure, and where the population has no documents whose length the scores could tell.
    """
    signature, *_ = log.signatures.get(scorer, (NONE,))
    has_documents = any(not math.isnan(document.population_words) for document in log.documents)
    if signature.measure != GENIE or not has_documents:
        return ""
    options, judge = options_of(log, scorer), signature.judge
    given = {
        # a fit of the user's stands in the option alone
        "judge": option if (option := str(options.get("judge"))).startswith(f"{judge}/") else judge,
        "grader": "" if judge == NO_MODEL else " --grader ".join(graders_of(log, scorer)) or UNSAID["grader"],
        "embedder": options.get("embedder") if judge in BY_EMBEDDER else "",
        "templates": ",".join(map(str, named)) if isinstance(named := options.get("templates"), list) else named,
    }
    named = "".join(f" --{name} {value}" for name, value in given.items() if value)
    return f"genie population reference-scores {options.get('population') or UNSAID['population']}{named}"
