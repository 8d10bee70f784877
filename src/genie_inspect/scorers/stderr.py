"""The metrics of our scorers: a mean, and how far it could be off, as far as the prompts say.

Of a metric study they count the originals: edits and paraphrases are nobody's documents.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore
from inspect_ai.scorer import ci as inspects_ci
from inspect_ai.scorer import mean as inspects_mean
from inspect_ai.scorer import stderr as inspects_stderr


def per_key(ranges: Mapping[str, Sequence[Any]]) -> dict[str, list[Metric]]:
    """Mean, standard error and interval of every key, in the order of the ranges; an end that is no number is open."""
    # every key that is not named, last
    ends = dict(ranges) if "*" in ranges else {**ranges, "*": ()}
    return {key: [of_originals(inspects_mean()), stderr(), ci(*range_)] for key, range_ in ends.items()}


def originals(scores: Sequence[SampleScore]) -> list[SampleScore]:
    """The scores of all samples but the edits and paraphrases of a metric study."""
    from genie_inspect.samples import InterventionFacts

    facts = [InterventionFacts.of(score.sample_metadata) for score in scores]
    return [score for score, own in zip(scores, facts, strict=True) if own is None or own.kind == "original"]


def of_originals(metric: Metric) -> Metric:
    """A metric, anybody's, that counts a study's originals; NaN without any."""
    from genie_inspect.inspect_private import called_as

    of_all: Any = metric

    def value(scores: list[SampleScore]) -> Any:
        kept = originals(scores)
        return of_all(kept) if kept else math.nan

    return called_as(metric, value)


# what is loaded, is loaded when a metric is computed: the scorers' decorators make it when they are registered. Both
# take the place and the name of Inspect's own, which is 0, or a point, from one sample, and reads as certainty
def stderr() -> Metric:
    """Standard error of the mean over prompts; NaN from one prompt, and where no two prompts differ.

    Each prompt is one observation, however many samples it has. A sample's prompt is its metadata `prompt`; a sample
    without it counts as a prompt of its own.
    """
    from genie_inspect.inspect_private import called_as

    def error(scores: list[SampleScore]) -> float:
        from genie_inspect.statistics.descriptive import prompt_means, standard_error

        return standard_error(list(prompt_means(*_by_prompt(scores)).values()))

    return called_as(inspects_stderr(), error)


def ci(low: object = None, high: object = None) -> Metric:
    """95% interval of the mean over prompts, as every report of ours has it, within its ends; NaN where `stderr` is."""
    from genie_inspect.inspect_private import called_as

    lowest = float(low) if isinstance(low, int | float) else -math.inf
    highest = float(high) if isinstance(high, int | float) else math.inf

    def interval(scores: list[SampleScore]) -> dict[str, float]:
        from genie_inspect.statistics.descriptive import prompt_interval

        found = prompt_interval(*_by_prompt(scores), bounds=(lowest, highest))
        return {"lower": found.low, "upper": found.high}

    return called_as(inspects_ci(), interval)


def _by_prompt(every: Sequence[SampleScore]) -> tuple[list[float], list[str]]:
    """Values, and the prompt of each."""
    scores = originals(every)
    prompts = [str((score.sample_metadata or {}).get("prompt", ("sample", score.sample_id))) for score in scores]
    return [score.score.as_float() for score in scores], prompts
