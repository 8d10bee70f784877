"""From where to where the values of a key can go."""

from inspect_ai.log import EvalLog
from inspect_ai.viewer import ScoreColorScale


def known_range(log: EvalLog, key: str) -> tuple[float, float] | None:
    """Lowest and highest value by the task's own view; None where it does not say. The log's header is enough."""
    view = log.eval.viewer.task_samples_view if log.eval.viewer else None
    views = view if isinstance(view, list) else [view] if view else []
    for scale in (scale for one in views if (scale := (one.score_color_scales or {}).get(key))):
        if isinstance(scale, ScoreColorScale) and scale.min is not None and scale.max is not None:
            return scale.min, scale.max
    return None
