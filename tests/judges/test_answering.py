from pathlib import Path

import anyio
import pytest
from tests.scripted import Asked, Script, grading, saying

from genie_inspect.errors import GraderFailedError
from genie_inspect.judges.answering import AnswerMemo
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.grader_reader import GraderReader
from genie_inspect.judges.protocols import UNREADABLE, Answer, AskedQuestion, Reading
from genie_inspect.signature import digest

WHO, WHERE, END = Asked("Who is it?"), Asked("Where is it?"), Asked("How does it end?")


def cached(script: Script, folder: Path) -> GraderReader:
    return GraderReader(script.model(), memo=AnswerMemo(Cache(folder)))


async def test_what_is_on_record_is_not_asked_again_not_even_by_a_later_run(tmp_path: Path) -> None:
    script = grading(answer=lambda document, question: f"re {question}")
    first = await cached(script, tmp_path).read("A story.", [WHO, WHERE])
    second = await cached(script, tmp_path).read("A story.", [WHERE, WHO])
    assert first.answers == (Answer("re Who is it?"), Answer("re Where is it?"))
    assert second.answers == (Answer("re Where is it?"), Answer("re Who is it?"))
    assert len(script.requests) == 1


async def test_only_what_is_missing_is_asked_and_stands_in_its_place(tmp_path: Path) -> None:
    script = grading(answer=lambda document, question: f"re {question}")
    reader = cached(script, tmp_path)
    await reader.read("A story.", [WHERE])
    reading = await reader.read("A story.", [WHO, WHERE, END])
    assert [answer.text for answer in reading.answers if answer] == [f"re {asked.text}" for asked in (WHO, WHERE, END)]
    assert script.data[1]["questions"] == {"1": WHO.text, "2": END.text}


async def test_that_a_document_does_not_say_is_on_record_too(tmp_path: Path) -> None:
    script = grading(answer=lambda document, question: "[not said]")
    reader = cached(script, tmp_path)
    assert (await reader.read("A story.", [WHO])).answers == (None,)
    assert (await reader.read("A story.", [WHO])).answers == (None,)
    assert len(script.requests) == 1


async def test_that_a_document_is_no_attempt_is_on_record_too_for_any_question(tmp_path: Path) -> None:
    script = saying('{"attempt": "no"}', '{"attempt": "yes", "1": "a pilot"}')
    first = await cached(script, tmp_path).read("No.", [WHO, WHERE])
    second = await cached(script, tmp_path).read("No.", [WHERE])
    third = await cached(script, tmp_path).read("No.", [END])
    assert first == Reading((None, None), is_attempt=False)
    assert second == third == Reading((None,), is_attempt=False)
    assert len(script.requests) == 1


async def test_a_document_with_answers_on_record_stays_an_attempt(tmp_path: Path) -> None:
    script = saying('{"attempt": "yes", "1": "a pilot"}', '{"attempt": "no"}')
    reader = cached(script, tmp_path)
    await reader.read("A story.", [WHO])
    for _ in range(2):
        assert await reader.read("A story.", [WHO, WHERE]) == Reading((Answer("a pilot"), None))
    assert len(script.requests) == 2


async def test_what_is_no_attempt_counts_as_read_for_all_its_questions(tmp_path: Path) -> None:
    reader = cached(saying('{"attempt": "no"}'), tmp_path)
    await reader.read("No.", [WHO, WHERE])
    kept = Cache(tmp_path).answers(reader.signature, digest("No."), [WHO.text, WHERE.text])
    assert kept == {WHO.text: None, WHERE.text: None}


async def test_another_document_is_asked_for_itself(tmp_path: Path) -> None:
    script = grading(answer=lambda document, question: document)
    reader = cached(script, tmp_path)
    assert (await reader.read("A story.", [WHO])).answers == (Answer("A story."),)
    assert (await reader.read("A story. ", [WHO])).answers == (Answer("A story."),)
    assert len(script.requests) == 2


async def test_samples_that_ask_about_one_document_side_by_side_ask_once(tmp_path: Path) -> None:
    class Slow:
        """A reader that takes its time, so that everybody else comes while it reads."""

        calls = 0

        async def read(self, document: str, questions: object) -> Reading:
            self.calls += 1
            await anyio.sleep(0.02)
            return Reading((Answer("a pilot"),))

    slow = Slow()
    memo = AnswerMemo(Cache(tmp_path))
    readings: list[Reading] = []

    async def read() -> None:
        readings.append(await memo.answered("slow", "A story.", [WHO], slow.read))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(read)
    assert slow.calls == 1
    assert [reading.answers for reading in readings] == [(Answer("a pilot"),)] * 20


async def test_samples_that_ask_about_two_documents_do_not_wait_for_each_other(tmp_path: Path) -> None:
    begun: list[str] = []
    both = anyio.Event()

    async def read(document: str, questions: object) -> Reading:
        begun.append(document)
        if len(begun) == 2:
            both.set()
        await both.wait()
        return Reading((Answer("a pilot"),))

    memo = AnswerMemo(Cache(tmp_path))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for document in ("A story.", "Another."):
                group.start_soon(memo.answered, "slow", document, [WHO], read)
    assert sorted(begun) == ["A story.", "Another."]


async def test_unreadable_replies_are_not_kept_but_what_was_readable_is(tmp_path: Path) -> None:
    babbling = saying('{"1": "a pilot"}', "hm", "hm", '{"1": "the desert"}')
    reader = cached(babbling, tmp_path)
    first = await reader.read("A story.", [WHO, WHERE])
    assert (first.answers, first.faults) == ((Answer("a pilot"), None), {1: UNREADABLE})
    second = await reader.read("A story.", [WHO, WHERE])
    assert (second.answers, second.faults) == ((Answer("a pilot"), Answer("the desert")), {})


async def test_the_fault_of_a_question_keeps_its_place_when_others_are_on_record(tmp_path: Path) -> None:
    reader = cached(saying('{"1": "a pilot"}', "hm"), tmp_path)
    await reader.read("A story.", [WHO])
    reading = await reader.read("A story.", [WHO, WHERE, END])
    assert reading.faults == {1: UNREADABLE, 2: UNREADABLE}


async def test_a_grader_that_fails_leaves_no_record_and_the_next_one_may_ask(tmp_path: Path) -> None:
    tries: list[str] = []

    def broken_once(request: str) -> str:
        tries.append(request)
        if len(tries) == 1:
            raise ConnectionError("refused")
        return '{"1": "a pilot"}'

    reader = cached(Script(broken_once), tmp_path)
    with pytest.raises(GraderFailedError):
        await reader.read("A story.", [WHO])
    with anyio.fail_after(5):
        assert (await reader.read("A story.", [WHO])).answers == (Answer("a pilot"),)


async def test_the_signature_is_the_readers_own(tmp_path: Path) -> None:
    model = saying("").model()
    assert cached(saying(""), tmp_path).signature == GraderReader(model).signature


async def test_no_questions_are_no_request(tmp_path: Path) -> None:
    script = saying("")
    none: list[AskedQuestion] = []
    assert (await cached(script, tmp_path).read("A story.", none)).answers == ()
    assert script.requests == []
