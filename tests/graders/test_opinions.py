"""What a critic sets in its requests, how they are labelled in the log, and how replies are put in order."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig, Model
from tests.critics import blocks
from tests.scripted import Script, saying

from genie_inspect.graders import critic as module
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.critic import Critic, VerdictMemo
from genie_inspect.graders.rubrics import Instructions, Test

TESTS = [Test(id=name, name=f"aspect {name}", question="Is it?") for name in "abc"]


async def test_a_request_is_labelled_by_its_test_and_by_who_stands_first(monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def labelled(*given: str) -> AsyncIterator[None]:
        labels.append(given)
        yield

    monkeypatch.setattr(module, "labelled", labelled)
    await Critic(saying("[[A=B]]").model(), Instructions.load()).compare("new", "old", TESTS[:1])
    assert sorted(labels) == [("test a", "aspect a", "candidate first"), ("test a", "aspect a", "reference first")]
    labels.clear()
    await Critic(saying("[[YES]]").model(), Instructions.load(reference=False)).compare("new", None, TESTS[:1])
    assert labels == [("test a", "aspect a", "alone")]


async def test_the_first_opinion_is_that_with_the_reference_first() -> None:
    script = Script(lambda request: "[[A>>B]]" if blocks(request)[0]["story_a"] == "old" else "[[A>B]]")
    (found,) = await Critic(script.model(), Instructions.load()).compare("new", "old", TESTS[:1])
    assert found.verdicts == (2, 1)


async def test_judgements_come_in_the_order_of_the_tests_whichever_was_asked_first(tmp_path: Path) -> None:
    async def compared(tests: Sequence[Test]) -> list[str]:
        own = Critic(saying("[[A=B]]").model(), Instructions.load(), VerdictMemo(Cache(tmp_path)))
        return [judgement.test.id for judgement in await own.compare("new", "old", tests)]

    await compared(TESTS[:1])
    # nothing is on record of b, which goes ahead
    assert await compared(TESTS) == ["a", "b", "c"]


def test_a_first_request_is_at_temperature_0_and_a_repeat_is_not_and_the_signature_knows_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[tuple[GenerateConfig, object]] = []

    def identified(model: Model, *requests: tuple[GenerateConfig, object]) -> str:
        given.extend(requests)
        return "m@0"

    monkeypatch.setattr(module, "identified_model", identified)
    own = Critic(saying("").model(), Instructions.load())
    assert own.signature == f"critic(m@0,template={own.instructions.digest})"
    assert [(one.temperature, one.max_tokens) for one, _ in given] == [(0.0, 2048), (0.7, 2048)]
    assert {form for _, form in given} == {own.instructions.form}


async def test_of_a_reply_that_repeats_the_request_only_what_comes_after_it_is_kept() -> None:
    script = Script(lambda request: f"{request}\n\nB is livelier.\n[[B>A]]")
    (found,) = await Critic(script.model(), Instructions.load()).compare("new", "old", TESTS[:1])
    assert [opinion.reply for opinion in found.opinions] == ["B is livelier.\n[[B>A]]"] * 2
