"""The sheet judge: one call rates all answers of a document, each against its others."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import GraderFailedError
from genie_inspect.graders.cache import Judged, Memo
from genie_inspect.graders.grader import Request, ask, gathered
from genie_inspect.graders.list_judge import LIST, SPARE_TOKENS, TOKENS_A_RATING, ListJudge, shuffled
from genie_inspect.graders.merging import (
    SHEET,
    Mode,
    Part,
    RatingJudge,
    Unrated,
    parts_in,
    rated,
    rated_together,
)
from genie_inspect.graders.protocols import UNREADABLE, Answer, Compared, Rated
from genie_inspect.graders.readable import labelled
from genie_inspect.prompting.forms import sheet_form
from genie_inspect.prompting.replies import sheet_ratings
from genie_inspect.prompting.templates import Instruction, Template, numbered

SIZE = 120  # most other answers on one sheet: 17 questions with six each, and some to spare


def sheet_reply(ratings: Sequence[Sequence[float]]) -> str:
    return "\n".join(f"{number}| {' '.join(map(str, each))}" for number, each in enumerate(ratings, start=1))


class SheetJudge(RatingJudge):
    """Rates up to `chunk` others a call, of as many questions as there are; what a reply lacks is asked again alone."""

    name = SHEET
    instruction = Instruction(
        "rate_sheet",
        frozenset({"count", "data"}),
        frozenset({SHEET}),
        rehearsed=lambda data: sheet_reply([[2] * len(others) for _, _, others in parts_in(data)]),
        recorded=lambda record, data: sheet_reply(
            [
                [record.rating(question, answer, other) for other in others]
                for question, answer, others in parts_in(data)
            ]
        ),
        is_prose=True,
    )

    def __init__(
        self,
        model: Model,
        template: Template | None = None,
        memo: Memo | None = None,
        chunk: int = SIZE,
        alone: Template | None = None,
    ) -> None:
        super().__init__(model, template, memo)
        self.chunk, self.alone = chunk, ListJudge(model, alone, self.memo)
        self.alone.repeats = 0
        self.facts = f"size={chunk},alone={self.alone.template.digest},"
        self.requests = _asked((1,)), _asked((1, 2)), self.alone.requests[0]

    async def rate_all(self, items: Sequence[Compared]) -> list[Rated | GraderFailedError]:
        parts = [(question.text, answer.text, others) for question, answer, others in items]
        return await rated_together(self.memo, self.signature, parts, self._rate_together)

    async def _rate_together(self, items: Sequence[Unrated]) -> list[Mapping[str, str] | GraderFailedError]:
        failures: dict[int, GraderFailedError] = {}
        missing = [dict.fromkeys(shuffled(pairs.others, pairs.question, pairs.answer)) for pairs in items]

        async def ask_sheet(sheet: Sequence[tuple[int, Sequence[str]]]) -> None:
            parts = [(items[place].question, items[place].answer, others) for place, others in sheet]
            config, form = _asked(tuple(len(others) for _, others in sheet))
            try:
                async with labelled(f"rate {len(parts)} questions", parts[0][1]):
                    reply = await ask(self.model, sheet_request(self.template, parts), config, form)
            except GraderFailedError as error:
                failures.update((place, error) for place, _ in sheet)
                return
            for (place, _), judged in zip(sheet, _said(reply, parts), strict=True):
                items[place].keep(judged)
                for other in judged:
                    del missing[place][other]

        async def ask_alone(place: int) -> Mapping[str, str] | GraderFailedError:
            pairs, others = items[place], list(missing[place])
            if place in failures or not (others and self.repeats):
                return failures.get(place, {})
            try:
                return await self._rate(Unrated(pairs.question, pairs.answer, others, pairs.keep))
            except GraderFailedError as error:
                return error

        chunks = [
            (place, others[start : start + self.chunk])
            for place, others in enumerate(map(list, missing))
            for start in range(0, len(others), self.chunk)
        ]
        groups = packed([len(others) for _, others in chunks], self.chunk)
        await self.room.each(ask_sheet, [[chunks[place] for place in group] for group in groups])
        return await gathered(*map(ask_alone, range(len(items))))

    async def _rate(self, pairs: Unrated) -> Mapping[str, str]:
        """Asks about one answer alone: as the list judge does, whose replies are kept as its own too."""
        others = [Answer(other) for other in pairs.others]
        found = await rated(self.memo, self.alone.signature, pairs.question, pairs.answer, others, self.alone._rate)
        usable = {place: rating for place, rating in enumerate(found.ratings) if found.faults.get(place) != UNREADABLE}
        pairs.keep({pairs.others[place]: Judged(rating or 0.0) for place, rating in usable.items()})
        return {}


def packed(sizes: Sequence[float], most: float) -> list[list[int]]:
    """Places in order, in groups of at most so much together; what is larger is a group by itself."""
    groups: list[list[int]] = []
    room = 0.0
    for place, size in enumerate(sizes):
        if size > room:
            groups.append([])
            room = most
        groups[-1].append(place)
        room -= size
    return groups


def sheet_request(template: Template, parts: Sequence[Part]) -> str:
    return template.request({SHEET: numbered(parts)}, count=len(parts))


def _said(reply: str, parts: Sequence[Part]) -> list[dict[str, Judged]]:
    ratings = sheet_ratings(reply, [len(others) for _, _, others in parts])
    return [
        dict(zip(others, map(Judged, rated_here), strict=True)) if rated_here else {}
        for (_, _, others), rated_here in zip(parts, ratings, strict=True)
    ]


def _asked(counts: tuple[int, ...]) -> Request:
    most = SPARE_TOKENS + TOKENS_A_RATING * (sum(counts) + len(counts))
    return GenerateConfig(temperature=0.0, max_tokens=most), sheet_form(counts)


@lru_cache
def reply_tokens(count: int, as_json: bool) -> int:
    """Tokens of a question's line with so many ratings; no provider is held to JSON."""
    return static_token_count(sheet_reply([[0] * count]))


SHEETS = Mode(
    SheetJudge.name,
    SheetJudge,
    SheetJudge.instruction,
    reply_tokens,
    sheet_request,
    lambda text, candidates, parts: _said(text, parts),
    SIZE,
    alone=LIST,
)
