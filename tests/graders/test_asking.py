"""What is asked, how requests are set and cost, and what is asked again."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.event import ModelEvent, SpanBeginEvent
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model
from tests.critics import comparing
from tests.scripted import evaluated, grading, numbered, saying, small_population

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.equivalence import SAME, GraderEquivalence, _request, comparing_cost, partition_cost
from genie_inspect.graders.merging import numbered_tokens
from genie_inspect.graders.quality import (
    PROTOCOLS,
    GraderQuality,
    PreferenceJudge,
)
from genie_inspect.graders.readable import ANEW, until_read
from genie_inspect.graders.rubrics import load_rubric
from genie_inspect.scorers.genie import genie
from genie_inspect.tasks.ttcw import ttcw


@pytest.mark.parametrize(("name", "times"), [("chat", 3), ("generative", 1), ("generative_cot", 1)])
async def test_an_unreadable_verdict_is_asked_again_as_its_protocol_says(name: str, times: int) -> None:
    script = saying("Hm.")
    await PreferenceJudge(script.model(), PROTOCOLS[name]).verdict("Write.", "a", "b")
    assert len(script.requests) == times


def test_what_lists_cost_counts_each_text_in_each_list_and_each_reply() -> None:
    template = SAME.template()
    ten, two = (static_token_count(_request(template, "p", "", [""] * count)) for count in (10, 2))
    replies = numbered_tokens(10) + 10 + numbered_tokens(2) + 2
    assert comparing_cost(template, "p", 100.0, [5.0] * 12) == Cost(2, ten + two + 200 + 60, replies)
    first = comparing_cost(template, "p", 7.0, [3.0])
    assert partition_cost(template, "p", [3.0, 7.0]) == first
    assert partition_cost(template, "p", [3.0, 7.0, 9.0]) == first + comparing_cost(template, "p", 9.0, [3.0, 7.0])


PLAIN = GenerateConfig()


@pytest.mark.parametrize(("repeats", "attempts"), [(0, 1), (1, 2), (2, 3)])
async def test_what_cannot_be_read_is_asked_again_so_often_and_past_the_cache(repeats: int, attempts: int) -> None:
    settings: list[GenerateConfig] = []

    async def attempt(given: GenerateConfig) -> int:
        settings.append(given)
        raise UnreadableReplyError(f"attempt {len(settings)}")

    with pytest.raises(UnreadableReplyError, match=f"attempt {attempts}"):
        await until_read(attempt, repeats)
    assert settings == [PLAIN, *[ANEW] * (attempts - 1)]
    assert ANEW.cache is False
    settings.clear()

    async def read(given: GenerateConfig) -> int:
        settings.append(given)
        return 3

    assert (await until_read(read), settings) == (3, [PLAIN]), "what can be read is asked once, under the run's cache"


@pytest.mark.parametrize(
    ("ask", "reply", "value"),
    [
        (lambda model: GraderEquivalence(model).same("Write.", ["an owl"], "a fox"), numbered({1: "same"}), [True]),
        (lambda model: GraderQuality(model).levels("Write.", ["an owl"]), "Fine.\nRating: 7", [7.0]),
    ],
)
async def test_what_is_asked_again_gets_past_inspects_cache(
    ask: Callable[[Model], Awaitable[object]],
    reply: str,
    value: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    assert await ask(saying("Well, who can say.", reply).model(cache=True)) == value


def above_calls(log: EvalLog) -> list[str]:
    """The name of the span around each call of the grader, in their order."""
    (sample,) = log.samples or []
    names = {event.id: event.name for event in sample.events if isinstance(event, SpanBeginEvent)}
    calls = [event for event in sample.events if isinstance(event, ModelEvent) and event.role == "grader"]
    return [names[event.span_id or ""] for event in calls]


def test_each_call_of_reader_and_list_judge_stands_under_what_it_asks_and_of_which_text(tmp_path: Path) -> None:
    folder = small_population(tmp_path / "population").folder
    grader = grading(
        answer=lambda document, question: f"{document[:8]}\n{'far ' * 40}" if "tone" in question else document
    )
    whole = grader.reply
    cut: list[str] = []

    def reply(request: str) -> str:
        said = str(whole(request))
        # of the first reading the last answer is lost
        if not cut:
            cut.append(request)
            return said[: said.rindex(", ")] + "}"
        return said

    grader.reply = reply
    log = evaluated(genie(str(folder)), saying("A blue owl flew."), grader, tmp_path)
    names = above_calls(log)
    assert "read | 3 questions | A blue owl flew." in names
    assert "read | What is the tone? | A blue owl flew." in names
    assert "read | 3 questions | Grey owl over barns." in names
    assert "What happens? | A blue owl flew." in names
    (long,) = [name for name in names if name.startswith("What is the tone? | A blue o")]
    assert "\n" not in long
    assert long.endswith("…")
    assert "genie" not in names, "no call stands under the scorer alone"


def test_each_call_of_the_critic_stands_under_its_test_and_order(tmp_path: Path) -> None:
    critic = comparing(lambda a, b, aspect: 1)
    (log,) = evaluate(
        ttcw(cache=False),
        model=saying("A story.").model(),
        model_roles={"grader": critic.model()},
        limit=1,
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    tests, orders = load_rubric("ttcw").tests, ("reference first", "candidate first")
    expected = {f"test {test.id} | {test.name} | {order}" for test in tests for order in orders}
    assert set(above_calls(log)) == expected
