"""How a population gets the yardstick that a log's scores lack."""

import math
from typing import Any

from genie_inspect.logs.measures import GENIE, measure_of
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.signature import facts_of, judge_of, models_in

NO_MODEL = "embedded"
BY_VECTORS = (NO_MODEL, "vectors")
"""Judges that take an embedder."""
USUAL_JUDGE = "list"
"""What a scorer's entry in a log leaves unsaid, as `inspect score` without `-S judge=` does."""
UNSAID = {"population": "FOLDER", "grader": "PROVIDER/MODEL"}
"""What stands in the command for what the log does not say."""


def graders_of(log: ScoredLog, scorer: str = "") -> list[str]:
    """The models that read and judge, one or a jury: by the scores' signatures, else by the role `grader`.

    Signatures come first, because a log that was scored afterwards keeps the roles of the run that wrote.

    Args:
        log: With scores.
        scorer: Whose scores; all of the log's unless given.
    """
    signatures = [one for name in ([scorer] if scorer else log.signatures) for one in log.signatures.get(name, ())]
    facts = [facts_of(signature) for signature in signatures]
    # an embedder stands in the place of the judge, but is no grader
    parts = [one.get(part, "") for one in facts for part in ("reader", "judge")]
    models = [model for part in parts if part.partition("(")[0] not in BY_VECTORS for model in models_in(part)]
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
    signature, *_ = log.signatures.get(scorer, ("",))
    judge = judge_of(signature)
    alike = [one for one in entries if str(one.get("judge") or USUAL_JUDGE).partition("/")[0] == judge]
    names = {name for one in alike for name in one}
    return {name: alike[0].get(name) for name in names if all(one.get(name) == alike[0].get(name) for one in alike)}


def yardstick_command(log: ScoredLog, scorer: str) -> str:
    """The command that compares the population's own documents as the scores were made.

    Empty for another measure, and where the population has no documents whose length the scores could tell.
    """
    signature, *_ = log.signatures.get(scorer, ("",))
    has_documents = any(not math.isnan(document.population_words) for document in log.documents)
    if measure_of(signature) != GENIE or not has_documents:
        return ""
    options = options_of(log, scorer)
    judge = judge_of(signature)
    given = {
        # a fit of the user's stands in the option alone
        "judge": option if (option := str(options.get("judge"))).startswith(f"{judge}/") else judge,
        "grader": "" if judge == NO_MODEL else " --grader ".join(graders_of(log, scorer)) or UNSAID["grader"],
        "embedder": options.get("embedder") if judge in BY_VECTORS else "",
        "templates": options.get("templates"),
    }
    named = "".join(f" --{name} {value}" for name, value in given.items() if value)
    return f"genie population yardstick {options.get('population') or UNSAID['population']}{named}"
