"""What solvers leave in a sample's store, by key, and where scorers and reports find it."""

from collections.abc import Iterable

from inspect_ai.solver import TaskState

from genie_inspect.prompting.texts import whole_text

GENERATIONS = "generations"
"""Several replies to one prompt, which are judged as a set."""
EARLIER = "earlier"
"""The documents that negative sampling wrote before the last one, oldest first."""
ORIGINAL = "original"
"""The document before the solver `trim` cut it."""
PLAN = "plan"
"""The outline, by part."""
RESPONSES = "responses"
"""The responses of verbalized sampling, each with its probability."""
UNSCORED = "unscored"
"""Why every scorer of the task leaves the sample unscored."""

RESPONSES_ASKED, RESPONSES_PARSED = "responses_asked", "responses_parsed"
"""In the sample's metadata: how many responses verbalized sampling asked for, and how many could be read."""
RESPONSES_DISTINCT = "responses_distinct"
"""And how many of those have a text of their own."""


def keep_generations(state: TaskState, texts: Iterable[str]) -> None:
    """Put the texts in the sample's store, empty ones included."""
    state.store.set(GENERATIONS, list(map(whole_text, texts)))


def kept_generations(state: TaskState) -> list[str]:
    """The texts in the sample's store; none when no solver left any."""
    texts: list[str] = state.store.get(GENERATIONS, [])
    return list(map(whole_text, texts))
