"""A model that costs nothing: what a willing grader might reply, so that a dry run takes the steps of the real one."""

import random
from itertools import cycle
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage

from genie_inspect.building.stand_ins.stand_in import StandIn, last_text
from genie_inspect.engines.embedders.choices import static_token_count, static_words
from genie_inspect.prompting.documents.sentences import last_sentence
from genie_inspect.prompting.fence import fenced, unfenced
from genie_inspect.prompting.forms import LAST
from genie_inspect.signature import digest

A_PLOT = "Somebody who wants one thing more than another sets out for it, " * 3 + "and comes home with neither."
TOKENS_A_REPLY_ITEM = 12  # of a short answer or question, as the recorded readings have them


class Rehearsal(StandIn):
    """Stands in for a model under its name; counts tokens with the static embedder's tokenizer.

    Args:
        model: The model whose name and settings it takes.
    """

    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """A readable reply to any of our requests."""
        request = last_text(messages)
        data = unfenced(request)
        reply = rehearsed(data)
        output = ModelOutput.from_content(str(self), reply)
        input_tokens = static_token_count(request)
        # what is written anew is as long as what it was made of; else as `fenced` writes the items
        is_text = data.keys() & {"text", "story", "writing"} and not reply.startswith("{")
        output_tokens = static_token_count(reply) if is_text else TOKENS_A_REPLY_ITEM * max(1, reply.count('":"'))
        # a dry run reports these as an estimate of the real run's tokens
        output.usage = ModelUsage(
            input_tokens=input_tokens, output_tokens=output_tokens, total_tokens=input_tokens + output_tokens
        )
        return output


def rehearsed(data: dict[str, Any]) -> str:
    """A readable reply to a request that carries this data."""
    if "story" in data:
        return A_PLOT
    if "writing" in data:
        # that it holds together: so that all later steps are counted
        return fenced({LAST: last_sentence(data["writing"])})
    if "taxonomy" in data:
        return fenced(dict.fromkeys(data["features"], next(iter(data["taxonomy"]))))
    if "others" in data:
        return " ".join(f"{number}:2" for number in data["others"])
    if "other" in data or ("document" in data and "questions" not in data):
        return "It holds together.\nRating: 4"
    # the keys of the fenced data say which template the request was filled from
    if "text" in data and (data.keys() & {"reader", "version"}) and "count" not in data:
        # as long as the text, and told apart by its first word: texts that are the same would be left out
        return " ".join([digest(str(data)), *data["text"].split()[1:]])
    if "text" in data and "count" not in data:
        return fenced({"1": "keep" if "changed" in data else "yes"})
    if "task" in data:
        return fenced({str(number): f"feature {number}: what it covers" for number in range(1, 7)})
    if "domain" in data:
        # words at random, which are far from each other as the pairs of a willing model are
        words = random.Random(digest(str(data))).sample(static_words(), 2 * data["count"])  # noqa: S311
        return fenced({str(n): f"{words[2 * n - 2]}; {words[2 * n - 1]}" for n in range(1, data["count"] + 1)})
    if "count" in data:
        numbers = range(1, data["count"] + 1)
        if not {"aspect", "feature"} & data.keys():
            return fenced({str(number): f"aspect {number}: one side; another side" for number in numbers})
        matter = digest(str(data))  # so that no two requests bring the same questions
        return fenced({str(number): f"What is said of matter {number} of {matter}?" for number in numbers})
    answers = (
        cycle(data["features"])
        if "features" in data
        else cycle([_answer(data["document"]) if "document" in data else "keep"])
    )
    return fenced(dict(zip(data["questions"], answers, strict=False)))


def _answer(document: str) -> str:
    """An answer of the document's own: as many pairs are rated as can be."""
    return f"a short answer {digest(document)[:4]}"
