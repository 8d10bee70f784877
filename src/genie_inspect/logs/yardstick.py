"""How a population gets the yardstick that a log's scores lack."""

import math

from genie_inspect.logs.measures import GENIE, measure_of
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.signature import facts_of

NO_MODEL = "embedded"
BY_VECTORS = (NO_MODEL, "vectors")
"""Judges that take an embedder."""
UNSAID = {"population": "FOLDER", "grader": "PROVIDER/MODEL"}
"""What stands in the command for what the log does not say."""


def graders_of(log: ScoredLog) -> list[str]:
    """The models of the role `grader`: one, or a jury; none where the log names none."""
    role = (log.header.eval.model_roles or {}).get("grader")
    return [model.model for model in (role if isinstance(role, list) else [role]) if model]


def yardstick_command(log: ScoredLog, scorer: str) -> str:
    """The command that compares the population's own documents as the scores were made.

    Empty for another measure, and where the population has no documents whose length the scores could tell.
    """
    signature, *_ = log.signatures.get(scorer, ("",))
    has_documents = any(not math.isnan(document.population_words) for document in log.documents)
    if measure_of(signature) != GENIE or not has_documents:
        return ""
    options = log.header.eval.task_args
    judge = facts_of(signature).get("judge", "").partition("(")[0]
    given = {
        # a fit of the user's stands in the option alone
        "judge": option if (option := str(options.get("judge"))).startswith(f"{judge}/") else judge,
        "grader": "" if judge == NO_MODEL else " --grader ".join(graders_of(log)) or UNSAID["grader"],
        "embedder": options.get("embedder") if judge in BY_VECTORS else "",
        "templates": options.get("templates"),
    }
    named = "".join(f" --{name} {value}" for name, value in given.items() if value)
    return f"genie population yardstick {options.get('population') or UNSAID['population']}{named}"
