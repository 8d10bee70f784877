"""Every registered scorer in each of its settings, and a grader that answers all of them: no scorer may escape."""

import inspect
import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from inspect_ai.model import Logprob, Logprobs, ModelOutput, TopLogprob
from inspect_ai.scorer import Scorer
from inspect_ai.util import registry_info
from tests.critics import blocks
from tests.scripted import output, sheet_of

from genie_inspect import _registry
from genie_inspect.graders.instrument import MODES

NO_MEASURE = ("document", "personal")
"""Scorers that are registered and read the scores of others: no text and no grader."""
MAKERS: Mapping[str, Callable[..., Scorer]] = {
    registry_info(made).name.partition("/")[2]: made
    for made in vars(_registry).values()
    if hasattr(made, "__registry_info__") and registry_info(made).type == "scorer"
}
# beside the defaults of each; `genie` has one for every judge mode that is registered
SETTINGS: Mapping[str, list[dict[str, Any]]] = {
    "genie": [{"judge": mode} for mode in MODES],
    "creativity_index": [{}, {"matcher": "near"}],
    "partition": [{}, {"equivalence": "embedding"}],
    "close_reading": [{"sensical": True}],
    "ttcw": [{"reference": False}],
}


def scorer_of(name: str, folder: str, **options: Any) -> Scorer:
    """A registered scorer, beside the folder of a population where it takes one."""
    made = MAKERS[name]
    return made(folder, **options) if "population" in inspect.signature(made).parameters else made(**options)


# by its name and setting each scorer, which the folder of a population makes
SCORERS: Mapping[str, Callable[[str], Scorer]] = {
    " ".join([name, *map(str, options.values())]): partial(scorer_of, name, **options)
    for name in MAKERS
    if name not in NO_MEASURE
    for options in SETTINGS.get(name, [{}])
}
COMPARING = [name for name in SCORERS if "population" in inspect.signature(MAKERS[name.split()[0]]).parameters]
"""Those that compare a document with a population."""
EVERY_SCORER = pytest.mark.parametrize("name", SCORERS)


def graded(request: str) -> str | ModelOutput:
    """What each request asks for, with half a character before and inside of it."""
    data = blocks(request)[0]
    if "questions" in data:
        return "\ud83d" + json.dumps({number: f"an answer \ud83d {number}" for number in data["questions"]})
    if "sheet" in data:
        return sheet_of(data, lambda answer, other: 2) + "\ud83d"
    if "others" in data:
        return json.dumps(dict.fromkeys(data["others"], "2")) + "\ud83d"
    if "other_replies" in data:
        return json.dumps(dict.fromkeys(data["other_replies"], "different")) + "\ud83d"
    if "aspect" in data and "text" in data:
        return json.dumps([{"expression": data["text"][:9] + "\ud83d", "reason": "Half \ud83d a reason."}])
    said = output("Fine \ud83d.\n\n[[YES]]" if "story" in data else "Fine \ud83d.\nRating: 3\n[[A]]")
    # what the judge mode `logit` reads
    top = TopLogprob(token="3", logprob=math.log(0.9), bytes=None)
    said.choices[0].logprobs = Logprobs(content=[Logprob(token="3", logprob=0.0, top_logprobs=[top])])
    return said
