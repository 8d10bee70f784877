"""A model that has a readable reply to every request of ours: what commands are tried with where they need a key."""

import json
from collections.abc import Iterator
from itertools import cycle

from tests.critics import blocks
from tests.scripted import sheet_of

from genie_inspect.graders.stand_ins import rehearsed
from genie_inspect.populations.population import open_population
from genie_inspect.signature import digest
from genie_inspect.solvers.generations import draw_plot
from genie_inspect.studies.metric_study import writing

# instructions are known once they were called for, which other tests do or do not
draw_plot()
assert writing


class Willing:
    """Writes the starter population's stories in turn, plans, reads, rates and compares."""

    def __init__(self) -> None:
        starter = open_population("starter")
        self.stories: dict[str, Iterator[str]] = {
            prompt: cycle([document.text for document in starter.documents(prompt)]) for prompt in starter.prompts
        }

    def reply(self, request: str) -> str:
        data = next(iter(blocks(request)), {})
        if "story_a" in data:
            return "A: earned. B: abrupt.\n\n[[A>B]]"
        if "story" in data:
            return "It ends well.\n\n[[YES]]" if "aspect" in request else rehearsed(data)
        if "stage" in data:
            return "First this, then that."
        if "sentences" in data:
            return json.dumps({"cut": []})
        if {"aspect", "text"} <= data.keys():
            quoted = " ".join(data["text"].split()[:3])
            return json.dumps([{"expression": quoted, "reason": "It begins so."}])
        if "answers" in data:
            texts = [self._story(request) for _ in range(data["answers"])]
            return json.dumps({"responses": [{"text": text, "probability": 1 / len(texts)} for text in texts]})
        if "sheet" in data:
            return sheet_of(data, _rating)
        if "others" in data:
            return json.dumps({number: _rating(data["answer"], other) for number, other in data["others"].items()})
        if "other" in data:
            return f"They are of one kind.\nRating: {_rating(data['answer'], data['other'])}"
        if {"document", "questions"} <= data.keys():
            return json.dumps({number: digest(data["document"] + number) for number in data["questions"]})
        return (
            rehearsed(data)
            if {"count", "document", "questions", "task", "text"} & data.keys()
            else self._story(request)
        )

    def _story(self, request: str) -> str:
        """The next story for the prompt that stands somewhere in a request; the first prompt's where none does."""
        first = next(iter(self.stories))
        return next(self.stories[next((prompt for prompt in self.stories if prompt in request), first)])


def _rating(answer: str, other: str) -> int:
    return 4 if answer == other else 1 + int(digest(answer + other), 16) % 3
