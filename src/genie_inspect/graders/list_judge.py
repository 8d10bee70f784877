"""The list judge: one call rates one answer against many."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders.cache import Judged, Memo
from genie_inspect.graders.grader import Request, ask
from genie_inspect.graders.merging import Mode, RatingJudge, Unrated, numbered_tokens, pair_instruction
from genie_inspect.graders.readable import ANEW, labelled, until_complete
from genie_inspect.inspect_private import unlogged
from genie_inspect.prompting.forms import ratings_form
from genie_inspect.prompting.replies import numbered_ratings
from genie_inspect.prompting.templates import Template, numbered
from genie_inspect.signature import digest

CHUNK = 50  # most other answers in one call: the whole population of the study
TOKENS_A_RATING = 12
SPARE_TOKENS = 100
ORDERS = 4  # of a question's others: one would favour places, and each is a beginning that a prefix cache has to read
CIRCLE = 16**12  # how many digests there are


def list_reply(ratings: Mapping[str, float]) -> str:
    return " ".join(f"{number}:{rating}" for number, rating in ratings.items())


class ListJudge(RatingJudge):
    """Rates an answer against up to `chunk` others a call; what comes back unusable is asked again together."""

    name = "list"
    instruction = pair_instruction("rate_list", frozenset({"count", "data"}), "others", list_reply)

    def __init__(
        self, model: Model, template: Template | None = None, memo: Memo | None = None, chunk: int = CHUNK
    ) -> None:
        super().__init__(model, template, memo)
        self.chunk = chunk
        self.facts = f"chunk={chunk},"
        self.requests = _asked(1), _asked(2)

    async def _rate(self, pairs: Unrated) -> Mapping[str, str]:
        order = shuffled(pairs.others, pairs.question, pairs.answer)

        async def ask_missing(missing: Sequence[str], settings: GenerateConfig) -> dict[str, Judged]:
            async def ask_chunk(chunk: Sequence[str]) -> dict[str, Judged]:
                request = list_request(self.template, pairs.question, pairs.answer, chunk)
                config, form = _asked(len(chunk))
                # one call per question in the log, for people to see
                is_first = chunk == order[: self.chunk] and settings != ANEW
                with nullcontext() if is_first else unlogged():
                    async with labelled(pairs.question, pairs.answer):
                        reply = await ask(self.model, request, config.merge(settings), form)
                judged = list_ratings(reply, chunk)
                pairs.keep(judged)
                return judged

            chunks = [missing[start : start + self.chunk] for start in range(0, len(missing), self.chunk)]
            parts = await self.room.each(ask_chunk, chunks)
            return {text: judged for part in parts for text, judged in part.items()}

        await until_complete(order, ask_missing, self.repeats)
        return {}


def list_request(template: Template, question: str, answer: str, others: Sequence[str]) -> str:
    # what documents share comes first: a server with a prefix cache reads it once
    return template.request({"question": question, "others": numbered(others), "answer": answer}, count=len(others))


def list_ratings(reply: str, others: Sequence[str]) -> dict[str, Judged]:
    return {others[number - 1]: Judged(rating) for number, rating in numbered_ratings(reply, len(others)).items()}


@lru_cache
def reply_tokens(count: int, as_json: bool) -> int:
    """Tokens of a reply with so many ratings: of JSON, or of the one line that rate_list.md asks for, which is half."""
    if as_json:
        return numbered_tokens(count) + count  # a rating is one token
    return static_token_count(list_reply({str(number): 0 for number in range(1, count + 1)}))


def _asked(count: int) -> Request:
    config = GenerateConfig(temperature=0.0, max_tokens=SPARE_TOKENS + TOKENS_A_RATING * count)
    return config, ratings_form(count)


def shuffled(texts: Sequence[str], question: str, answer: str) -> list[str]:
    """The texts in one of the question's few orders, which all begin in another place; the answer says in which.

    Each text has its place by itself, so that one more or less moves no other.
    """
    turn = int(digest(answer), 16) % ORDERS * CIRCLE // ORDERS
    return sorted(texts, key=lambda text: (int(digest(question, text), 16) + turn) % CIRCLE)


LIST = Mode(
    ListJudge.name,
    ListJudge,
    ListJudge.instruction,
    reply_tokens,
    lambda template, parts: list_request(template, *parts[0]),
    lambda text, candidates, parts: [list_ratings(text, parts[0][2])],
    CHUNK,
)
