"""Every scorer that measures something, and a grader that answers all of them: for tests that no scorer may escape."""

import json
from collections.abc import Callable, Mapping

import pytest
from inspect_ai.scorer import Scorer
from tests.critics import blocks

from genie_inspect.scorers.close_reading import close_reading
from genie_inspect.scorers.coherence import coherence
from genie_inspect.scorers.compression import compression
from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.creativity_index import creativity_index
from genie_inspect.scorers.expression_novelty import expression_novelty
from genie_inspect.scorers.genie import genie
from genie_inspect.scorers.litbench import litbench
from genie_inspect.scorers.novelty_bench import novelty_bench
from genie_inspect.scorers.partition import partition
from genie_inspect.scorers.ttcw import ttcw

NO_MEASURE = ("document", "personal")
"""Scorers that are registered and read the scores of others: no text and no grader."""
# by scorer's name and setting
SCORERS: Mapping[str, Callable[[str], Scorer]] = {
    "genie": genie,
    "genie pairwise": lambda population: genie(population, judge="pairwise"),
    "genie embedded": lambda population: genie(population, judge="embedded"),
    "cosine": cosine,
    "compression": compression,
    "creativity_index": creativity_index,
    "expression_novelty": expression_novelty,
    "creativity_index near": lambda population: creativity_index(population, matcher="near"),
    "partition": partition,
    "partition embedded": lambda population: partition(population, equivalence="embedded"),
    "litbench": litbench,
    "ttcw": lambda _: ttcw(reference=False),
    "close_reading": lambda _: close_reading(sensical=True),
    "coherence": lambda _: coherence(),
    "novelty_bench": lambda _: novelty_bench(),
}
EVERY_SCORER = pytest.mark.parametrize("name", SCORERS)


def graded(request: str) -> str:
    """What each request asks for, with half a character before and inside of it."""
    data = blocks(request)[0]
    if "questions" in data:
        return "\ud83d" + json.dumps({number: f"an answer \ud83d {number}" for number in data["questions"]})
    if "others" in data:
        return json.dumps(dict.fromkeys(data["others"], "2")) + "\ud83d"
    if "other_replies" in data:
        return json.dumps(dict.fromkeys(data["other_replies"], "different")) + "\ud83d"
    if "aspect" in data and "text" in data:
        return json.dumps([{"expression": data["text"][:9] + "\ud83d", "reason": "Half \ud83d a reason."}])
    return "Fine \ud83d.\n\n[[YES]]" if "story" in data else "Fine \ud83d.\nRating: 3\n[[A]]"
