import re
from collections.abc import Awaitable, Callable, Iterator
from itertools import groupby
from typing import Any

import anyio
import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model
from tests.scripted import Asked, Script, grading, output, saying
from tests.served import Served, serving

from genie_inspect.errors import GraderFailedError
from genie_inspect.graders.critic import Critic
from genie_inspect.graders.grader import THINKING_TOKENS, Room, ask, bound_when_scored, calls_in_flight, gathered
from genie_inspect.graders.instrument import MODES, graders_for
from genie_inspect.graders.list_judge import ListJudge
from genie_inspect.graders.pairwise_judge import PairwiseJudge
from genie_inspect.graders.protocols import Answer, Compared
from genie_inspect.graders.reader import GraderReader
from genie_inspect.graders.rubrics import Instructions, load_rubric
from genie_inspect.graders.sheet_judge import SheetJudge
from genie_inspect.prompting.forms import ratings_form, reading_form, sheet_form

PLAIN = GenerateConfig()


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(Served(lambda request: '{"1": "a pilot", "2": "the desert"}\nRating: 3')) as server:
        yield server


@pytest.mark.parametrize("judge", [*MODES, "embedding/fit.json"])
def test_without_a_grader_role_the_error_names_the_judge_and_both_ways_out(judge: str) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        graders_for(judge)
    message = str(caught.value.message)
    assert f"'{judge}'" in message
    assert "--model-role grader=" in message
    assert "judge=offline" in message


async def test_the_settings_of_the_instrument_beat_the_models_and_without_structured_output_words_alone_ask() -> None:
    script = grading()
    await GraderReader(script.model(temperature=1.5)).read("A story.", [Asked("Who?")])
    assert script.configs[0].temperature == 0.0
    assert script.configs[0].response_schema is None


@pytest.mark.parametrize(
    ("fault", "told"),
    [({"error": "overloaded"}, "mockllm/model failed: overloaded"), ({"choices": []}, "its reply has no choices")],
)
async def test_an_output_that_is_an_error_or_without_choices_is_a_grader_that_failed(
    fault: dict[str, Any], told: str
) -> None:
    with pytest.raises(GraderFailedError, match=told):
        await ask(Script(lambda request: output("").model_copy(update=fault)).model(), "hello", PLAIN)


async def test_a_wrong_set_up_is_no_failed_grader_but_ends_the_run() -> None:
    def wrong(request: str) -> str:
        raise PrerequisiteError("no key")

    with pytest.raises(PrerequisiteError, match="no key"):
        await ask(Script(wrong).model(), "hello", PLAIN)


BOTH = [Answer("a captain"), Answer("a cook")]
CRITIC = Instructions.load()
HELD: dict[str, tuple[Callable[[Model], Awaitable[object]], str, str]] = {
    "reader": (
        lambda model: GraderReader(model).read("A story.", [Asked("Who?"), Asked("Where?")]),
        '{"attempt": "yes", "1": "a pilot", "2": "at sea"}',
        reading_form(2).pattern,
    ),
    "list": (
        lambda model: ListJudge(model).rate(Asked("Who?"), Answer("a pilot"), BOTH),
        "1:2 2:3",
        ratings_form(2).pattern,
    ),
    "sheet": (
        lambda model: SheetJudge(model).rate_all([Compared(Asked("Who?"), Answer("a pilot"), BOTH)] * 2),
        "1| 4 0\n2| 2 1",
        sheet_form((2, 2)).pattern,
    ),
    "critic": (
        lambda model: Critic(model, CRITIC).compare("A fox.", "A hen.", load_rubric("ttcw").tests[:1]),
        "Both are plain.\n[[A=B]]",
        CRITIC.form.pattern,
    ),
}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the client of OpenAI knows no other
async def test_replies_on_vllm_are_held_to_the_form_that_is_read(name: str, anyio_backend: str) -> None:
    ask, reply, pattern = HELD[name]
    assert re.fullmatch(pattern, reply)
    with serving(Served(lambda request: "Hm." if name == "critic" else reply)) as served:
        async with served.model("vllm") as model:
            await ask(model)
    patterns = [body["structured_outputs"]["regex"] for body in served.bodies]
    # the critic is asked in two orders, each three times: also where it is asked again
    assert patterns == [pattern] * (6 if name == "critic" else 1)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_provider_that_has_structured_output_gets_a_schema_with_a_key_a_question(served: Served) -> None:
    model = get_model("openai/gpt-4o", base_url=served.url, api_key="none", memoize=False, responses_api=False)
    reading = await GraderReader(model).read("A story.", [Asked("Who?"), Asked("Where?")])
    assert reading.answers == (Answer("a pilot"), Answer("the desert"))
    schema = served.bodies[-1]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["attempt", "1", "2"]
    assert schema["properties"].keys() == {"attempt", "1", "2"}
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_pair_is_judged_in_words_because_its_reason_comes_first(served: Served) -> None:
    async with served.model("vllm") as model:
        rated = await PairwiseJudge(model).rate(Asked("Who?"), Answer("a pilot"), [Answer("a captain")])
    assert rated.ratings == (3,)
    assert not {"response_format", "structured_outputs"} & served.bodies[-1].keys()


async def test_a_grader_that_spends_its_allowance_on_thought_is_given_room_from_then_on() -> None:
    allowances: list[int | None] = []

    def reply(messages: Any, tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        allowances.append(config.max_tokens)
        thinking = (config.max_tokens or 0) < 1000
        made = output("<think>Let me see" if thinking else '<think>Let me see</think>{"1": "a pilot"}')
        made.choices[0].stop_reason = "max_tokens" if thinking else "stop"
        return made

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    for _ in range(2):
        assert (await GraderReader(model).read("A story.", [Asked("Who?")])).answers == (Answer("a pilot"),)
    assert allowances == [240, THINKING_TOKENS, THINKING_TOKENS]


def test_one_judge_serves_all_samples_until_another_model_is_bound() -> None:
    models = [saying("").model(), saying("").model()]
    bound = [models[0]]
    judge_by = bound_when_scored(lambda: bound[0], GraderReader)
    first = judge_by()
    assert judge_by() is first
    bound[0] = models[1]
    assert first.model is models[0]
    assert judge_by().model is models[1]


async def after(seconds: float, value: int) -> int:
    await anyio.sleep(seconds)
    return value


async def failing(error: Exception) -> int:
    raise error


async def test_results_stand_in_the_order_of_the_tasks_and_not_of_their_ends() -> None:
    waits = {1: 0.02, 2: 0, 3: 0.01}
    assert await gathered(*(after(seconds, value) for value, seconds in waits.items())) == [1, 2, 3]
    assert await Room(model(max_connections=2)).each(lambda value: after(waits[value], value), [*waits]) == [1, 2, 3]


async def test_graders_that_fail_side_by_side_are_one_error_also_when_gathered_twice_over() -> None:
    with pytest.raises(GraderFailedError, match="down"):
        await gathered(
            gathered(failing(GraderFailedError("down")), failing(GraderFailedError("down"))),
            failing(GraderFailedError("down")),
        )


async def test_another_fault_does_not_hide_behind_a_failed_grader() -> None:
    with pytest.raises(KeyError, match="bug"):
        await gathered(failing(GraderFailedError("down")), failing(KeyError("bug")), failing(GraderFailedError("down")))


def model(**config: object) -> Model:
    return get_model("mockllm/model", config=GenerateConfig.model_validate(config), memoize=False)


class Busy:
    """Counts what is under way, and keeps the order in which it began."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.begun: list[str] = []

    async def call(self, name: str) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.append(name)
        for _ in range(20):  # turns of the loop, which no slow machine makes fewer
            await anyio.sleep(0)
        self.now -= 1
        return name.upper()


@pytest.mark.parametrize("calls", [10, 2, 1])
async def test_no_more_calls_are_under_way_than_twice_the_connections_and_questions_follow_each_other(
    calls: int,
) -> None:
    room, busy = Room(model(max_connections=3)), Busy()
    async with anyio.create_task_group() as group:
        for question in "abcdefghij":
            group.start_soon(room.each, busy.call, [question] * calls)
    assert busy.most == 6
    assert [len(list(begun)) for _, begun in groupby(busy.begun)] == [calls] * 10


async def test_a_call_that_fails_ends_its_question_with_one_error_and_leaves_room_for_the_rest() -> None:
    room, busy = Room(model(max_connections=2)), Busy()

    async def failing(name: str) -> str:
        raise GraderFailedError(f"{name} is down")

    for _ in range(5):
        with pytest.raises(GraderFailedError, match="is down"):
            await room.each(failing, list("abcdef"))
    with anyio.fail_after(5):
        assert await room.each(busy.call, list("abcdef")) == list("ABCDEF")
    assert busy.most == 4, "every place is free again"


async def test_who_is_cancelled_anywhere_leaves_room_for_the_rest() -> None:
    room, busy = Room(model(max_connections=2)), Busy()
    for seconds in (0, 0.0005, 0.001, 0.002, 0.004) * 4:
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as group:
                group.start_soon(room.each, busy.call, list("abcdefgh"))
                group.start_soon(room.each, busy.call, list("abcdefgh"))
    busy = Busy()
    with anyio.fail_after(5):
        assert await room.each(busy.call, list("abcdefgh")) == list("ABCDEFGH")
    assert busy.most == 4


def test_all_calls_are_under_way_where_the_provider_takes_batches() -> None:
    assert calls_in_flight(model(adaptive_connections=30)) == 60
    assert calls_in_flight(model(batch=True)) == 1_000_000
