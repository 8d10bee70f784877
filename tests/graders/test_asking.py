"""What each judge of whole texts asks for, how its requests are set, and what they cost."""

from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai.model import Model
from tests.scripted import Script, numbered, saying

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders import equivalence as choices
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.equivalence import SAME, GraderEquivalence, _request, comparing_cost, partition_cost
from genie_inspect.graders.merging import numbered_tokens
from genie_inspect.graders.quality import (
    CHAT,
    GENERATIVE,
    PROTOCOLS,
    QUALITY,
    GraderQuality,
    PreferenceJudge,
    Wording,
    preference_cost,
    preference_model,
    quality_cost,
)
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.templates import Instruction, Template

Made = Callable[[Model, Template | None], Any]


def _preferring(model: Model, template: Template | None) -> PreferenceJudge:
    return PreferenceJudge(model, Wording(CHAT, template) if template else None)


JUDGES: dict[str, tuple[Made, Instruction, str, int]] = {
    "equivalence": (GraderEquivalence, SAME, "grader", 124),
    "preference": (_preferring, CHAT.instruction, "preference", 300),
    "quality": (GraderQuality, QUALITY, "grader", 200),
}


async def asked(judge: Any) -> None:
    if isinstance(judge, GraderEquivalence):
        await judge.same("Write.", ["a", "b"], "c")
    elif isinstance(judge, PreferenceJudge):
        await judge.verdict("Write.", "a", "b")
    else:
        await judge.levels("Write.", ["a"])


@pytest.mark.parametrize("name", JUDGES)
async def test_a_request_is_by_the_template_given_at_temperature_0_and_for_so_many_tokens(name: str) -> None:
    make, instruction, kind, most = JUDGES[name]
    script = saying("Hm.")
    template = Template("mine", instruction.template().text + "\nThink.")
    own = make(script.model(), template)
    await asked(own)
    assert all(request.endswith("Think.") for request in script.requests)
    assert (script.configs[0].temperature, script.configs[0].max_tokens) == (0.0, most)
    # the first request and two more
    assert len(script.requests) == 3
    assert script.configs[1].seed != script.configs[0].seed or script.configs[1] != script.configs[0]
    assert own.signature.startswith(f"{kind}(mockllm/model@")
    assert own.signature.endswith(f"template={template.digest})")
    assert template.digest != instruction.template().digest


async def test_so_many_repeats_are_asked_as_are_wanted() -> None:
    for judge in (GraderEquivalence, GraderQuality):
        script = saying("Hm.")
        await asked(judge(script.model(), repeats=0))
        assert len(script.requests) == 1


@pytest.mark.parametrize(("name", "times"), [("chat", 3), ("generative", 1), ("generative_cot", 1)])
async def test_an_unreadable_verdict_is_asked_again_as_its_protocol_says(name: str, times: int) -> None:
    script = saying("Hm.")
    await asked(PreferenceJudge(script.model(), PROTOCOLS[name].wording()))
    assert len(script.requests) == times


async def test_ten_texts_stand_in_one_list_numbered_from_1() -> None:
    script = Script(lambda request: numbered(dict.fromkeys(range(1, 11), "different")))
    await GraderEquivalence(script.model()).same("Write.", list("abcdefghijk"), "z")
    assert [list(data["other_replies"]) for data in script.data] == [[str(n) for n in range(1, 11)], ["1"]]
    assert {(data["request"], data["reply"]) for data in script.data} == {("Write.", "z")}
    assert [config.max_tokens for config in script.configs] == [220, 112]


def test_what_lists_cost_counts_each_text_in_each_list_and_each_reply() -> None:
    template = SAME.template()
    ten, two = (static_token_count(_request(template, "p", "", [""] * count)) for count in (10, 2))
    replies = numbered_tokens(10) + 10 + numbered_tokens(2) + 2
    assert comparing_cost(template, "p", 100.0, [5.0] * 12) == Cost(2, ten + two + 200 + 60, replies)
    first = comparing_cost(template, "p", 7.0, [3.0])
    assert partition_cost(template, "p", [3.0, 7.0]) == first
    assert partition_cost(template, "p", [3.0, 7.0, 9.0]) == first + comparing_cost(template, "p", 9.0, [3.0, 7.0])


def test_what_a_verdict_and_a_level_cost_is_the_request_the_texts_and_the_reply() -> None:
    prefer = CHAT.instruction.template().fill(data=fenced({"prompt": "p", "story_a": "", "story_b": ""}))
    assert preference_cost(CHAT.wording(), "p", 40.0) == Cost(1, static_token_count(prefer) + 40, 50)
    trained = GENERATIVE.instruction.template().fill(story_a="", story_b="")
    assert preference_cost(GENERATIVE.wording(), "p", 40.0) == Cost(1, static_token_count(trained) + 40, 4)
    level = QUALITY.template().fill(data=fenced({"request": "p", "reply": ""}))
    assert quality_cost(QUALITY.template(), "p", 40.0) == Cost(1, static_token_count(level) + 40, 30)


async def test_the_judge_of_quality_sees_prompt_and_reply() -> None:
    script = saying("Rating: 3")
    await GraderQuality(script.model()).levels("Write.", ["An owl."])
    assert script.data == [{"request": "Write.", "reply": "An owl."}]


def test_preferences_are_asked_of_a_judge_of_their_own_before_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[object] = []
    monkeypatch.setattr("genie_inspect.graders.quality.judging_model", lambda *given: asked_for.extend(given))
    preference_model()
    assert asked_for[:2] == [("preference", "grader"), "litbench"]


def test_a_classifier_is_some_classifier_whichever_model_it_names() -> None:
    assert [choices.equivalence_kind(name) for name in ("grader", "classifier", "classifier/a/b")] == [
        "grader",
        "classifier",
        "classifier",
    ]
