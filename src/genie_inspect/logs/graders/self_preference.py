"""Whether a model judges what it wrote: judges prefer their own."""

import re
from collections.abc import Iterator

from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.signature import facts_of, models_in

DATE = re.compile(r"[-@:.](latest|preview|[0-9]{4}-?[0-9]{2}-?[0-9]{2}|[0-9]{4})$")
"""How providers call one version of a model."""


def self_preference(log: ScoredLog, scorer: str) -> list[str]:
    """A line where a model that a scorer asks has the name of the one that wrote; empty where none has.

    The name is what stands behind the last slash, without a date: of whoever serves it, it is one model.
    """
    # the population's own documents are by whoever wrote them, not by the model that the run had to name
    if log.is_population:
        return []
    asked = dict.fromkeys(model for signature in log.signatures.get(scorer, ()) for model in _asked(signature))
    return [
        f"{model} judges what a model of its name wrote{_as_named(log.model, model)}: "
        "judges prefer their own (self-preference)"
        for model in asked
        if _name(model) == _name(log.model)
    ]


def _asked(signature: str) -> Iterator[str]:
    for name, fact in facts_of(signature).items():
        if name != "population":
            yield from models_in(fact)


def _as_named(writer: str, model: str) -> str:
    """The writer in brackets, where it is not named exactly as the model that judges."""
    return "" if writer == model else f" ({writer})"


def _name(model: str) -> str:
    return DATE.sub("", model.rpartition("/")[2].casefold())
