"""Replies from files into the cache, each read as the reader or the judge reads it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

from genie_inspect.batch.shards import Place, ScaleError
from genie_inspect.batch.walk import READ
from genie_inspect.files.json_lines import Lines, json_object, placed_lines
from genie_inspect.graders.cache import TABLES, Cache, Judged, Memo
from genie_inspect.graders.instrument import mode_of
from genie_inspect.graders.logit_judge import Logprobs
from genie_inspect.graders.merging import Candidates, RatingMemo, Unrated, others_in
from genie_inspect.graders.protocols import UNREADABLE, Answer, AskedQuestion, Reading
from genie_inspect.graders.reader import CONCISE, LENGTHS, answered
from genie_inspect.prompting.answers import NOT_SPECIFIED, reading_reply
from genie_inspect.prompting.fence import without_echo
from genie_inspect.prompting.texts import LONGEST, shortened, whole_text

TRUNCATED, NO_ID, NO_REPLY, NO_COMPLETION = "no whole JSON", "no custom_id", "no reply", "no chat completion"
TOO_LONG, OTHER = f"a reply longer than {LONGEST:,} characters", "for other reasons"
OKAY = range(200, 300)
MOST_REASONS = 50


@dataclass(frozen=True, slots=True)
class Reply:
    name: str
    text: str
    candidates: Candidates = ()


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of which nothing can be used; its name is the request's id where it has one."""

    reason: str
    name: str = ""


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    logprobs: Logprobs | None = None


class _Completion(BaseModel):
    choices: list[_Choice]


def replies(source: Lines) -> Iterator[Reply | BadLine | dict[str, Any]]:
    """What each line of a file of replies holds, one at a time."""
    try:
        for _, _, line in placed_lines(source):
            yield reply_in(line)
    except OSError as refused:
        raise ScaleError(f"{source} cannot be read: {refused.strerror or refused}") from refused


def reply_in(line: bytes) -> Reply | BadLine | dict[str, Any]:
    """A reply, or the row of a cache's table that `genie cache export` wrote."""
    try:
        fields = json_object(line, "", ScaleError)
    except ScaleError:
        return BadLine(TRUNCATED)
    table, name, error = fields.get("table"), fields.get("custom_id"), fields.get("error")
    if isinstance(table, str) and table in TABLES:
        return fields
    if not isinstance(name, str):
        return BadLine(NO_ID)
    response = fields.get("response")
    response = response if isinstance(response, dict) else {}
    body, status = response.get("body"), response.get("status_code")
    failed = isinstance(status, int) and status not in OKAY
    if error or failed or not isinstance(body, dict):
        said = error or (body.get("error") if isinstance(body, dict) else None)
        if isinstance(said, dict):
            said = said.get("code") or said.get("type") or said.get("message")
        if not (said or failed):
            return BadLine(NO_REPLY, name)
        return BadLine(f"error: {shortened(str(said))}" if said else f"error: status {shortened(str(status))}", name)
    try:
        completion = _Completion.model_validate(body)
    except ValidationError:
        return BadLine(NO_COMPLETION, name)
    if not completion.choices:
        return BadLine(NO_REPLY, name)
    choice = completion.choices[0]
    text = choice.message.content or ""
    if len(text) > LONGEST:
        return BadLine(TOO_LONG, name)
    return Reply(name, whole_text(text), (choice.logprobs or Logprobs()).first_tokens)


def count_fault(faults: Counter[str], reason: str) -> None:
    """Count a reason, which a server may have written: of endlessly many the rest count as one."""
    faults[reason if reason in faults or len(faults) < MOST_REASONS else OTHER] += 1


FOREIGN = "of no request in the plan"
NO_ROW = "no row of a cache"
TOGETHER = 1_000  # lines that are written at once


@dataclass(slots=True)
class Imported:
    lines: int = 0
    used: int = 0  # replies that brought something new
    on_record: int = 0  # replies all of whose content was there
    doubled: int = 0  # replies to a request that had one in these files; they also count as used or on record
    incomplete: int = 0  # replies of which a part could be read; the rest is asked for again
    unreadable: int = 0  # replies of which nothing could be read
    conflicts: int = 0  # answers, ratings and verdicts that are on record in other words; what is there stays
    missing: int = 0
    faults: Counter[str] = field(default_factory=Counter)  # lines that are no reply to a request, by reason
    kept: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Asked:
    text: str
    feature: str = ""


class Importer:
    """Takes replies into a cache. What is on record stays as it is, so that to import again changes nothing."""

    def __init__(self, cache: Cache, places: Mapping[str, Place]) -> None:
        self.cache = cache
        self.places = places
        self.result = Imported()
        self._heard: set[str] = set()
        self._failed: set[str] = set()

    async def take(self, source: Lines) -> None:
        lines = replies(source)
        while some := list(islice(lines, TOGETHER)):
            self.result.lines += len(some)
            rows: dict[str, list[Mapping[str, object]]] = {}
            with self.cache.together():
                for line in some:
                    if isinstance(line, BadLine):
                        count_fault(self.result.faults, line.reason)
                        self._failed.add(line.name)
                    elif isinstance(line, Reply):
                        await self._reply(line, source)
                    else:
                        rows.setdefault(line.pop("table"), []).append(line)
            for table, values in rows.items():
                added = self.cache.add(TABLES[table], values)
                self.result.kept[table] += added.new
                self.result.conflicts += added.conflicts
                if added.refused:
                    self.result.faults[NO_ROW] += added.refused
        self.result.missing = len(self.places.keys() - self._heard - self._failed)

    async def _reply(self, reply: Reply, source: Lines) -> None:
        if not self.places:
            raise ScaleError(f"{source} holds replies: name the requests that they answer, --requests FILE")
        place = self.places.get(reply.name)
        if place is None:
            self.result.faults[FOREIGN] += 1
            return
        self.result.doubled += reply.name in self._heard
        self._heard.add(reply.name)
        request = place.message()
        text = without_echo(reply.text, request)
        take = self._answers if place.plan.step == READ else self._ratings
        asked, said, new = await take(place, request, text, reply)
        self.result.unreadable += not said
        self.result.incomplete += 0 < said < asked
        self.result.used += new > 0
        self.result.on_record += said > 0 and not new

    async def _ratings(self, place: Place, request: str, text: str, reply: Reply) -> tuple[int, int, int]:
        """How many ratings were asked for, said, and new."""
        data = place.data(request, {"question": str, "answer": str})
        mode = mode_of(place.plan.judge)
        others = [Answer(other) for other in (others_in(data) or {"": ""}).values()]
        said = dict(mode.said(text, reply.candidates, [other.text for other in others])) if mode.said else {}
        fresh: dict[str, Judged] = {}

        async def rate(pairs: Unrated) -> Mapping[str, str]:
            fresh.update((other, said[other]) for other in pairs.others if other in said)
            if fresh:
                pairs.keep(fresh)
            return {}

        memo = RatingMemo(self.cache)
        rated = await memo.rated(place.plan.signature, data["question"], data["answer"], others, rate)
        here = {other.text: rating or 0.0 for other, rating in zip(others, rated.ratings, strict=True)}
        self.result.conflicts += sum(float(judged.rating) != here[other] for other, judged in said.items())
        self.result.kept["ratings"] += len(fresh)
        return len(others), len(said), len(fresh)

    async def _answers(self, place: Place, request: str, text: str, reply: Reply) -> tuple[int, int, int]:
        """How many answers were asked for, said, and new."""
        data = place.data(request, {"document": str, "questions": dict})
        questions = [_Asked(str(question)) for question in data["questions"].values()]
        wordings = [question.text for question in questions]
        length = LENGTHS.get(place.plan.answer_length) or LENGTHS[CONCISE]
        read, is_attempt = reading_reply(text, len(questions), wordings, length.longest, NOT_SPECIFIED in request)
        answers = {wordings[number - 1]: answer for number, answer in read.items()}
        if is_attempt is False:
            answers = dict.fromkeys(wordings)
        fresh: set[str] = set()

        async def reading_of(document: str, unread: Sequence[AskedQuestion]) -> Reading:
            fresh.update(question.text for question in unread if question.text in answers)
            texts = [answers.get(question.text) for question in unread]
            faults = {place: UNREADABLE for place, question in enumerate(unread) if question.text not in answers}
            given = tuple(None if text is None else Answer(text) for text in texts)
            return Reading(given, faults, is_attempt is not False)

        memo = Memo(self.cache)
        reading = await answered(memo, place.plan.signature, data["document"], questions, reading_of)
        here = {
            question: answer.text if answer else None
            for question, answer in zip(wordings, reading.answers, strict=True)
        }
        self.result.conflicts += sum(here[question] != answer for question, answer in answers.items())
        self.result.kept["answers"] += len(fresh)
        return len(questions), len(answers), len(fresh)
