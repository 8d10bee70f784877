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
    """Mean, standard error and interval of every key, in the order of the keys that are named.

    Args:
        ranges: By key its lowest and highest value, as in a scorer's decorator; an end that is no number is open.
    """
    # every key that is not named, last
    ends = dict(ranges) if "*" in ranges else {**ranges, "*": ()}
    return {key: [mean(), stderr(), ci(*range_)] for key, range_ in ends.items()}


def originals(scores: Sequence[SampleScore]) -> list[SampleScore]:
    """The scores of all samples but the edits and paraphrases of a metric study."""
    from genie_inspect.populations.interventions import ORIGINAL
    from genie_inspect.samples import intervention_in

    facts = [intervention_in(score.sample_metadata) for score in scores]
    return [score for score, own in zip(scores, facts, strict=True) if own is None or own.kind == ORIGINAL]


def of_originals(metric: Metric) -> Metric:
    """A metric, anybody's, that counts a study's originals; NaN without any."""
    from genie_inspect.inspect_private import called_as

    of_all: Any = metric

    def value(scores: list[SampleScore]) -> Any:
        kept = originals(scores)
        return of_all(kept) if kept else math.nan

    return called_as(metric, value)


def mean() -> Metric:
    """Mean over the samples, under the name of Inspect's."""
    return of_originals(inspects_mean())


def stderr() -> Metric:
    """Standard error of the mean over prompts; NaN from one prompt, and where no two prompts differ.

    Each prompt is one observation, however many samples it has. A sample's prompt is its metadata `prompt`; a sample
    without it counts as a prompt of its own. It takes the place and the name of Inspect's own, which is 0 from one
    sample and reads as certainty.
    """
    from genie_inspect.inspect_private import called_as

    def error(scores: list[SampleScore]) -> float:
        # here and not outside: the scorers' decorators make the metric when they are registered
        from genie_inspect.statistics.descriptive import prompt_means, standard_error

        return standard_error(list(prompt_means(*_by_prompt(scores)).values()))

    return called_as(inspects_stderr(), error)


def ci(low: object = None, high: object = None) -> Metric:
    """95% interval of the mean over prompts, as every report of ours has it; NaN where `stderr` is.

    It takes the place and the name of Inspect's own, which is a point from one prompt and does not end where values do.
    """
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
    from genie_inspect.samples import PROMPT_KEY as KEY

    scores = originals(every)
    prompts = [str((score.sample_metadata or {}).get(KEY, ("sample", score.sample_id))) for score in scores]
    return [score.score.as_float() for score in scores], prompts
