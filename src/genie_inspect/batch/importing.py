"""Replies from files into the cache, each read as the reader or the judge reads it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from genie_inspect.batch.shards import READ, Place, Plan, ScaleError
from genie_inspect.files.json_lines import Lines, json_object, placed_lines
from genie_inspect.graders.cache import TABLES, Cache, Judged, Memo
from genie_inspect.graders.instrument import mode_of
from genie_inspect.graders.logit_judge import Logprobs, first_tokens
from genie_inspect.graders.merging import Candidates, Part, Unrated, parts_in, rated
from genie_inspect.graders.protocols import UNREADABLE, Answer, AskedQuestion, Reading
from genie_inspect.graders.reader import CONCISE, LENGTHS, answered
from genie_inspect.populations.schema import Question
from genie_inspect.prompting.answers import NOT_SPECIFIED, reading_reply
from genie_inspect.prompting.templates import without_echo
from genie_inspect.prompting.texts import LONGEST, shortened, whole_text

TRUNCATED, NO_ID, NO_REPLY, NO_COMPLETION = "no whole JSON", "no custom_id", "no reply", "no chat completion"
TOO_LONG, OTHER = f"a reply longer than {LONGEST:,} characters", "for other reasons"
OKAY = range(200, 300)
MOST_REASONS = 50


class Reply(NamedTuple):
    name: str  # the request's id, where there is one
    text: str = ""
    candidates: Candidates = ()
    fault: str = ""  # why nothing of it can be used


class _Completion(BaseModel):
    class Choice(BaseModel):
        class Message(BaseModel):
            content: str | None = None

        message: Message
        logprobs: Logprobs | None = None

    choices: list[Choice]


def replies(source: Lines) -> Iterator[Reply | dict[str, Any]]:
    """What each line of a file of replies holds, one at a time."""
    try:
        for _, _, line in placed_lines(source):
            yield reply_in(line)
    except OSError as refused:
        raise ScaleError(f"{source} cannot be read: {refused.strerror or refused}") from refused


def reply_in(line: bytes) -> Reply | dict[str, Any]:
    """A reply, or the row of a cache's table that `genie cache export` wrote."""
    try:
        fields = json_object(line, "", ScaleError)
    except ScaleError:
        return Reply("", fault=TRUNCATED)
    table, name, error = fields.get("table"), fields.get("custom_id"), fields.get("error")
    if isinstance(table, str) and table in TABLES:
        return fields
    if not isinstance(name, str):
        return Reply("", fault=NO_ID)
    response = fields.get("response")
    response = response if isinstance(response, dict) else {}
    body, status = response.get("body"), response.get("status_code")
    failed = isinstance(status, int) and status not in OKAY
    if error or failed or not isinstance(body, dict):
        said = error or (body.get("error") if isinstance(body, dict) else None)
        if isinstance(said, dict):
            said = said.get("code") or said.get("type") or said.get("message")
        told = shortened(str(said)) if said else f"status {shortened(str(status))}"
        return Reply(name, fault=f"error: {told}" if said or failed else NO_REPLY)
    try:
        choices = _Completion.model_validate(body).choices
    except ValidationError:
        return Reply(name, fault=NO_COMPLETION)
    text = choices[0].message.content or "" if choices else ""
    if not choices or len(text) > LONGEST:
        return Reply(name, fault=TOO_LONG if choices else NO_REPLY)
    return Reply(name, whole_text(text), first_tokens(choices[0].logprobs))


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


class Importer:
    """Takes replies into a cache. What is on record stays as it is, so that to import again changes nothing."""

    def __init__(self, cache: Cache, places: Mapping[str, Place]) -> None:
        self.cache, self.places = cache, places
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
                    if not isinstance(line, Reply):
                        rows.setdefault(line.pop("table"), []).append(line)
                    elif line.fault:
                        count_fault(self.result.faults, line.fault)
                        self._failed.add(line.name)
                    else:
                        await self._reply(line, source)
            for table, values in rows.items():
                added = self.cache.add(TABLES[table], values)
                self.result.kept[table] += added.new
                self.result.conflicts += added.conflicts
                self.result.faults.update({NO_ROW: added.refused} if added.refused else {})
        self.result.missing = len(self.places.keys() - self._heard - self._failed)

    async def _reply(self, reply: Reply, source: Lines) -> None:
        if not self.places:
            raise ScaleError(f"{source} contains replies: name the requests that they answer, --requests FILE")
        place = self.places.get(reply.name)
        if place is None:
            self.result.faults[FOREIGN] += 1
            return
        self.result.doubled += reply.name in self._heard
        self._heard.add(reply.name)
        request, data = place.asked()
        text = without_echo(reply.text, request)
        # how many answers or ratings were asked for, said, and new
        if place.plan.step == READ:
            asked, said, new = await self._answers(place.plan, NOT_SPECIFIED in request, data, text)
        else:
            asked, said, new = await self._ratings(place.plan, data, text, reply.candidates)
        self.result.unreadable += not said
        self.result.incomplete += 0 < said < asked
        self.result.used += new > 0
        self.result.on_record += said > 0 and not new

    async def _ratings(
        self, plan: Plan, data: Mapping[str, Any], text: str, candidates: Candidates
    ) -> tuple[int, int, int]:
        mode, asked = mode_of(plan.judge), parts_in(data)
        said = mode.said(text, candidates, asked) if mode.said else [{}] * len(asked)
        new = [await self._part(plan, part, ratings) for part, ratings in zip(asked, said, strict=True)]
        self.result.kept["ratings"] += sum(new)
        return sum(len(others) for _, _, others in asked), sum(map(len, said)), sum(new)

    async def _part(self, plan: Plan, part: Part, said: Mapping[str, Judged]) -> int:
        """How many of the ratings of one answer are new."""
        question, answer, texts = part
        others, fresh = [Answer(other) for other in texts], dict[str, Judged]()

        async def rate(pairs: Unrated) -> Mapping[str, str]:
            fresh.update((other, said[other]) for other in pairs.others if other in said)
            if fresh:
                pairs.keep(fresh)
            return {}

        there = await rated(Memo(self.cache), plan.signature, question, answer, others, rate)
        here = {other.text: rating or 0.0 for other, rating in zip(others, there.ratings, strict=True)}
        self.result.conflicts += sum(float(judged.rating) != here[other] for other, judged in said.items())
        return len(fresh)

    async def _answers(self, plan: Plan, may_lack: bool, data: Mapping[str, Any], text: str) -> tuple[int, int, int]:
        wordings = [str(question) for question in data["questions"].values()]
        length = LENGTHS.get(plan.answer_length) or LENGTHS[CONCISE]
        read, is_attempt = reading_reply(text, len(wordings), wordings, length.longest, may_lack)
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

        questions = [Question.model_construct(text=wording, feature="") for wording in wordings]
        reading = await answered(Memo(self.cache), plan.signature, data["document"], questions, reading_of)
        texts_here = (answer.text if answer else None for answer in reading.answers)
        here = dict(zip(wordings, texts_here, strict=True))
        self.result.conflicts += sum(here[wording] != answer for wording, answer in answers.items())
        self.result.kept["answers"] += len(fresh)
        return len(wordings), len(answers), len(fresh)
