"""Score a log that you have with the panel of holistic measures, as one score with a key a measure.

inspect score LOG --scorer scorers/novelty_panel.py                    the cheap panel: no model is asked
inspect score LOG --scorer scorers/novelty_panel.py -S panel=cosine,compression
inspect score LOG --scorer scorers/novelty_panel.py -S panel=all -S judge=list --model-role grader=<provider/model>
"""

from inspect_ai.scorer import Scorer, scorer

from genie_inspect.graders.grader import refusals
from genie_inspect.scorers.stderr import per_key
from genie_inspect.tasks.panel import chosen_panel, combined


@scorer(metrics=per_key({}))
def novelty_panel(
    population: str = "starter", panel: str | list[str] = "cheap", judge: str = "offline", embedder: str = "static"
) -> Scorer:
    """Distance, compression, copied runs and class of each document against one population."""
    with refusals():
        return combined(chosen_panel(panel, judge).scorers(population, embedder))
