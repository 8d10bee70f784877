"""What each judge sends, and the signature under which its scores stand.

A score of yesterday compares with one of today where both have one signature: who changes a line here makes every log
with such scores incomparable, and says so in the CHANGELOG.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import Model
from tests.critics import blocks
from tests.scripted import Asked, Data, Script

from genie_inspect.graders.close_reader import Approach, CloseReader
from genie_inspect.graders.critic import Critic
from genie_inspect.graders.equivalence import GraderEquivalence
from genie_inspect.graders.list_judge import ListJudge, shuffled
from genie_inspect.graders.pairwise_judge import PairwiseJudge
from genie_inspect.graders.protocols import Answer
from genie_inspect.graders.quality import (
    CHAT,
    GENERATIVE,
    GENERATIVE_COT,
    GraderCoherence,
    GraderQuality,
    PreferenceJudge,
)
from genie_inspect.graders.reader import GraderReader
from genie_inspect.graders.rubrics import BUNDLED, Instructions, load_rubric
from genie_inspect.prompting.templates import Template, load_template

QUESTION = Asked("Who?")
OTHERS = [Answer("a fox"), Answer("a hen")]
TTCW = load_rubric("ttcw").tests[0]


@dataclass(frozen=True)
class Request:
    judge: Callable[[Model], Any]
    asked: Callable[[Any], Awaitable[object]]
    reply: str
    data: list[Data]  # block by block what is fenced in
    max_tokens: int
    signature: str


def novel_alone() -> Approach:
    """One aspect, so that the first request is always the same."""
    approach = Approach()
    approach.aspects = ("novel",)
    return approach


REQUESTS = {
    "reader": Request(
        GraderReader,
        lambda judge: judge.read("An owl.", [QUESTION, Asked("Where?")]),
        '{"1": "an owl", "2": "a barn"}',
        [{"questions": {"1": "Who?", "2": "Where?"}, "document": "An owl."}],
        200 + 2 * 40,
        "grader(mockllm/model@e37fb1a2cc51,template=121eb6b8372b)",
    ),
    "list": Request(
        ListJudge,
        lambda judge: judge.rate(QUESTION, Answer("an owl"), OTHERS),
        '{"1": "2", "2": "3"}',
        [{"question": "Who?", "others": {"1": "a fox", "2": "a hen"}, "answer": "an owl"}],
        100 + 2 * 12,
        "list(mockllm/model@4f5a0a3f5128,chunk=50,template=b551413aba95)",
    ),
    "pairwise": Request(
        PairwiseJudge,
        lambda judge: judge.rate(QUESTION, Answer("an owl"), OTHERS[:1]),
        "Rating: 2",
        [{"question": "Who?", "answer": "an owl", "other": "a fox"}],
        256,
        "pairwise(mockllm/model@1466d5eb0493,template=e7be5617eaf7)",
    ),
    "equivalence": Request(
        GraderEquivalence,
        lambda judge: judge.same("Write.", ["a fox", "a hen"], "an owl"),
        '{"1": "same", "2": "different"}',
        [{"request": "Write.", "reply": "an owl", "other_replies": {"1": "a hen", "2": "a fox"}}],
        100 + 2 * 12,
        "grader(mockllm/model@4f5a0a3f5128,chunk=10,template=8415032b247e)",
    ),
    "quality": Request(
        GraderQuality,
        lambda judge: judge.levels("Write.", ["an owl"]),
        "Fine. Rating: 7",
        [{"request": "Write.", "reply": "an owl"}],
        200,
        "grader(mockllm/model@00a9b56a0960,template=0b38932dbab1)",
    ),
    "preference": Request(
        PreferenceJudge,
        lambda judge: judge.verdict("Write.", "an owl", "a fox"),
        "[[A]]",
        [{"prompt": "Write.", "story_a": "an owl", "story_b": "a fox"}],
        300,
        "preference(mockllm/model@d23490508683,template=f5306375fde9)",
    ),
    "preference as GenRM": Request(
        lambda model: PreferenceJudge(model, GENERATIVE),
        lambda judge: judge.verdict("Write.", "an owl", "a fox"),
        "Preferred: A",
        [],
        16,
        "preference(mockllm/model@ca374086b9f4,protocol=generative,template=db0dbdb87fc5)",
    ),
    "preference as GenRM-CoT": Request(
        lambda model: PreferenceJudge(model, GENERATIVE_COT),
        lambda judge: judge.verdict("Write.", "an owl", "a fox"),
        "Reasoning: Owls.\nPreferred: A",
        [],
        1024,
        "preference(mockllm/model@83ae294dd5d6,protocol=generative_cot,template=4886783fcd7c)",
    ),
    "coherence": Request(
        GraderCoherence,
        lambda judge: judge.rate("Write.", "an owl"),
        "Rating: 4",
        [{"document": "an owl"}],
        150,
        "grader(mockllm/model@6cd751bb2eae,template=5fd940c15723)",
    ),
    "close reader": Request(
        lambda model: CloseReader(model, novel_alone()),
        lambda reader: reader.read("an owl"),
        "[]",
        [{"aspect": "novel", "text": "an owl"}],
        4096,
        "close_reader(mockllm/model@ae421dcfd240,template=a7c209980004)",
    ),
    "critic": Request(
        lambda model: Critic(model, Instructions.load()),
        lambda judge: judge.compare("an owl", "a fox", [TTCW]),
        "Both plain.\n\n[[A≫B]]",
        [{"story_a": "a fox", "story_b": "an owl"}, {"aspect": TTCW.name, "question": TTCW.question}],
        2048,
        "critic(mockllm/model@7368e5ce8cf2,template=9e46462744df)",
    ),
    "critic alone": Request(
        lambda model: Critic(model, Instructions.load(reference=False)),
        lambda judge: judge.compare("an owl", None, [TTCW]),
        "[[YES]]",
        [{"story": "an owl"}, {"aspect": TTCW.name, "question": TTCW.question}],
        2048,
        "critic(mockllm/model@7368e5ce8cf2,template=d1ef6a516b99)",
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_request_holds_what_is_judged_has_room_for_its_reply_and_the_signature_that_it_had(name: str) -> None:
    request, script = REQUESTS[name], Script(lambda _: REQUESTS[name].reply)
    judge = request.judge(script.model())
    assert judge.signature == request.signature, "that of yesterday"
    await request.asked(judge)
    # as texts, for what repeats has to stand first; requests that go out together come in any order
    assert str(request.data) in [str(blocks(sent)) for sent in script.requests]
    (config, *_) = script.configs
    assert config.max_tokens == request.max_tokens
    # the study's protocol alone is asked at its own temperature
    assert config.temperature == (0.7 if name == "pairwise" else 0)


def test_rubrics_of_today_have_the_digests_that_they_had() -> None:
    digests = {name: (load_rubric(name).digest, load_rubric(name).tests[0].digest) for name in BUNDLED}
    assert digests == {
        "ttcw": ("fe1ddbe6465a", "450c98224125"),
        "gomez_williams": ("9b86af65dd80", "123a820c7cc5"),
    }


def test_the_order_in_which_answers_are_asked_about_is_that_of_yesterday() -> None:
    # what is on record was judged in it, whatever order the answers came in
    assert shuffled(list("abcdef"), "Who?", "an owl") == shuffled(list("fedcba"), "Who?", "an owl") == list("daefcb")


# those of readers and raters are in tests/graders/test_instrument.py, those of classes in tests/scorers
@pytest.mark.parametrize(
    ("name", "file", "make"),
    [
        ("preference", "prefer", lambda model, template: PreferenceJudge(model, CHAT, template)),
        ("coherence", "coherence", GraderCoherence),
    ],
)
async def test_a_wording_of_the_users_own_is_what_is_asked_and_is_in_the_signature(
    name: str, file: str, make: Callable[[Model, Template], Any], tmp_path: Path
) -> None:
    (tmp_path / f"{file}.md").write_text("In my words: $data", encoding="utf-8")
    template = load_template(file, {"data"}, tmp_path)
    script = Script(lambda _: REQUESTS[name].reply)
    judge = make(script.model(), template)
    await REQUESTS[name].asked(judge)
    assert script.requests[0].startswith("In my words: ")
    assert template.digest in judge.signature
