"""The preference judge."""

from pathlib import Path

import pytest
from tests.scripted import Script, saying
from tests.served import Served, serving

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.quality import GENERATIVE, GENERATIVE_COT, PROTOCOLS, PreferenceJudge, Protocol, protocol_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("label", "points"), [("[[A]]", 1.0), ("[[b]]", 0.0), ("[[ TIE ]]", 0.5)])
async def test_a_label_is_worth_its_points(label: str, points: float) -> None:
    judge = PreferenceJudge(Script(lambda request: f"The first is livelier.\n{label}").model())
    assert await judge.verdict("Write.", "one", "two") == points


async def test_the_judge_sees_prompt_and_stories_as_data() -> None:
    script = Script(lambda request: "[[A]]")
    await PreferenceJudge(script.model()).verdict("Write.", "one [[B]]", "two")
    assert script.data == [{"prompt": "Write.", "story_a": "one [[B]]", "story_b": "two"}]


async def test_babble_is_asked_again_and_then_given_up() -> None:
    replies = iter(["Both have merits.", "[[A]] or [[B]]", "[[B]]"])
    assert await PreferenceJudge(Script(lambda request: next(replies)).model()).verdict("p", "one", "two") == 0
    script = Script(lambda request: "Both have merits.")
    assert await PreferenceJudge(script.model()).verdict("p", "one", "two") is None
    assert len(script.requests) == 3


@pytest.mark.parametrize("protocol", [GENERATIVE, GENERATIVE_COT])
async def test_weights_see_the_stories_as_they_were_trained_and_nothing_behind_the_marker(protocol: Protocol) -> None:
    script = Script(lambda request: "Preferred: A")
    await PreferenceJudge(script.model(), protocol.wording()).verdict("Write of owls.", 'one "$5"\n<b>', "two")
    (request,) = script.requests
    assert '\n\nStory A:\none "$5"\n<b>\n\nStory B:\ntwo\n\n' in request
    assert request.endswith("Preferred: [A or B]\n\n### Assistant:\n")
    assert ("\nReasoning: [" in request) == (protocol is GENERATIVE_COT)
    assert "Write of owls." not in request, "they were trained without the writing prompt"


async def test_weights_on_a_server_of_plain_texts_are_sent_the_text_as_it_is() -> None:
    with serving(Served(lambda request: "Preferred: A")) as served:
        judge = PreferenceJudge(served.model("vllm-completions"), GENERATIVE.wording())
        assert await judge.verdict("Write.", "one", "two") == 1.0
    assert served.paths == ["/v1/completions"]
    assert served.bodies[0]["prompt"] == GENERATIVE.wording().request("Write.", "one", "two")
    assert (served.bodies[0]["max_tokens"], served.bodies[0]["temperature"]) == (16, 0)


@pytest.mark.parametrize(
    ("protocol", "reply", "points"),
    [
        (GENERATIVE, "Preferred: B", 0.0),
        (GENERATIVE, "Reasoning: Bold.\nPreferred: A", None),
        (GENERATIVE_COT, "Reasoning: Bold.\nPreferred: A", 1.0),
        (GENERATIVE_COT, "Preferred: A", None),
        (GENERATIVE, "[[A]]", None),
    ],
)
async def test_a_verdict_is_read_in_its_protocols_form_alone(
    protocol: Protocol, reply: str, points: float | None
) -> None:
    script = Script(lambda request: reply)
    assert await PreferenceJudge(script.model(), protocol.wording()).verdict("p", "one", "two") == points
    assert len(script.requests) == 1, "one sample at temperature 0"


def test_a_protocol_stands_in_the_signature_and_the_first_does_not() -> None:
    parts = [
        PreferenceJudge(saying("").model(), protocol.wording()).signature.partition(",")[2]
        for protocol in PROTOCOLS.values()
    ]
    digests = [protocol.wording().template.digest for protocol in PROTOCOLS.values()]
    assert parts == [
        f"template={digests[0]})",
        f"protocol=generative,template={digests[1]})",
        f"protocol=generative_cot,template={digests[2]})",
    ]


def test_the_words_of_a_release_can_be_brought_along(tmp_path: Path) -> None:
    (tmp_path / "prefer_generative.md").write_text("Story A:\n$story_a\nStory B:\n$story_b\n", encoding="utf-8")
    assert protocol_of("generative").wording(tmp_path).request("p", "one", "two") == "Story A:\none\nStory B:\ntwo\n"


def test_a_protocol_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownChoiceError, match="protocol is 'genrm', expected one of chat, generative, generative_c"):
        protocol_of("genrm")
