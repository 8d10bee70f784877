"""Scripted critics of stories, for tests of several rooms."""

import json
import re
from collections.abc import Callable

from inspect_ai.model import ModelOutput
from tests.scripted import Data, Script

from genie_inspect.prompting.replies import YES_NO, labels

PLOT = "A keeper of bees learns to count."
Preference = Callable[[str, str, str], int | str | ModelOutput]


def blocks(request: str) -> list[Data]:
    """All fenced data of a request, in order."""
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)\n```", request, re.DOTALL)]


def comparing(preference: Preference, levels: int = 5) -> Script:
    """A critic that gives story A so many points over story B, by a function of both stories and the aspect.

    To a story alone it says yes for points above 0. A text in place of points is the whole reply. Asked for a plot, it
    gives always the same one.
    """

    def reply(request: str) -> str | ModelOutput:
        stories, *asked = blocks(request)
        if not asked:
            return f"Here it is:\n\n{PLOT}"
        alone = stories.get("story")
        points = preference(alone or stories["story_a"], stories.get("story_b", ""), asked[0]["aspect"])
        if not isinstance(points, int):
            return points
        if alone is not None:
            return f"A stock ending.\n\n{YES_NO[0] if points > 0 else YES_NO[1]}"
        return f"A: plain. B: bold.\n\n{labels(levels)[levels // 2 - points]}"

    return Script(reply)


def better(points: int, good: str) -> Preference:
    """Prefers the story that holds a word, by so many points, wherever it stands."""
    return lambda a, b, aspect: points if good in a else -points
