"""How novel is a model's writing, and where? Genie and its companions inside the Inspect eval harness."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genie_inspect._registry import *  # noqa: F403  # whatever is registered
    from genie_inspect.reports.summary import frame as frame
    from genie_inspect.scorers.score_texts import score_texts as score_texts
    from genie_inspect.scorers.score_texts import score_texts_async as score_texts_async

    # known already from the registry; the register's linter looks for them by name
    from genie_inspect.tasks.leave_one_out import leave_one_out as leave_one_out
    from genie_inspect.tasks.metric_study import metric_study as metric_study
    from genie_inspect.tasks.novelty_partition import novelty_partition as novelty_partition
    from genie_inspect.tasks.population_prompts import population_prompts as population_prompts
    from genie_inspect.tasks.synthetic_prompts import synthetic_prompts as synthetic_prompts
    from genie_inspect.tasks.ttcw import ttcw as ttcw
    from genie_inspect.tasks.ttcw_stories import ttcw_stories as ttcw_stories
    from genie_inspect.tasks.writing_prompts import writing_prompts as writing_prompts

_SCORING = "genie_inspect.scorers.score_texts"
_HOMES = {"frame": "genie_inspect.reports.summary", "score_texts": _SCORING, "score_texts_async": _SCORING}
_REGISTRY = "genie_inspect._registry"
"""Where all others are."""

# each is loaded when it is used, so that importing the package costs nothing; hidden from the type checker, which else
# would take any name for one of ours
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return _names()
        # what Python itself looks for, such as `__wrapped__`, is no reason to load Inspect
        if not name.startswith("_") and hasattr(home := import_module(_HOMES.get(name, _REGISTRY)), name):
            return getattr(home, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is here already, and what is loaded when it is used."""
    return sorted({*globals(), *_names()})


def _names() -> list[str]:
    return sorted([name for name in vars(import_module(_REGISTRY)) if not name.startswith("_")] + list(_HOMES))
