"""What readers and judges set in their requests, what of it is in their signatures, and what is asked anew."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, Model
from tests.scripted import Asked, saying

from genie_inspect.engines.embedders import CachedEmbedder, static_token_count
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.equivalence import GraderEquivalence
from genie_inspect.graders.instrument import Instrument, graders_for
from genie_inspect.graders.list_judge import CHUNK, LIST, ListJudge
from genie_inspect.graders.logit_judge import LOGIT, LogitJudge
from genie_inspect.graders.merging import Mode, numbered_tokens
from genie_inspect.graders.pairwise_judge import PAIRWISE, PairwiseJudge
from genie_inspect.graders.protocols import Answer
from genie_inspect.graders.reader import GraderReader

Made = Callable[[Model], Any]
COUNTED: dict[str, tuple[Made, str, list[int]]] = {
    "reader": (GraderReader, "reader", [240, 280]),
    "list": (ListJudge, "list_judge", [112, 124]),
    "equivalence": (GraderEquivalence, "equivalence", [112, 124]),
    "pairwise": (PairwiseJudge, "pairwise_judge", [256]),
    "logit": (LogitJudge, "logit_judge", [1]),
}
QUESTIONS = [Asked("Who?"), Asked("Where?")]


@pytest.mark.parametrize("name", COUNTED)
def test_a_signature_knows_the_settings_of_one_item_and_of_two(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, module, most = COUNTED[name]
    given: list[tuple[GenerateConfig, object]] = []

    def identified(model: Model, *requests: tuple[GenerateConfig, object]) -> str:
        given.extend(requests)
        return "m@0"

    monkeypatch.setattr(importlib.import_module(f"genie_inspect.graders.{module}"), "identified_model", identified)
    own = make(saying("").model())
    assert "(m@0," in own.signature
    assert own.signature.endswith(f"template={own.template.digest})")
    assert [settings.max_tokens for settings, _ in given] == most
    assert {settings.temperature for settings, _ in given} == {0.7 if name == "pairwise" else 0.0}
    assert len({str(form) for _, form in given}) == len(most)


async def _asked(judge: Any) -> None:
    if isinstance(judge, GraderReader):
        await judge.read("A story.", QUESTIONS)
    elif isinstance(judge, ListJudge):
        await judge.rate(QUESTIONS[0], Answer("an owl"), [Answer("a fox"), Answer("a hen")])
    else:
        await judge.same("Write.", ["a", "b"], "c")


@pytest.mark.parametrize("name", ["reader", "list", "equivalence"])
async def test_what_could_not_be_read_is_asked_twice_more_past_the_provider_s_cache(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, module, _ = COUNTED[name]
    given: list[GenerateConfig] = []

    async def ask(model: Model, request: str, settings: GenerateConfig, *form: object) -> str:
        given.append(settings)
        return "Hm."

    monkeypatch.setattr(importlib.import_module(f"genie_inspect.graders.{module}"), "ask", ask)
    await _asked(make(saying("").model()))
    # a reader asks anew for each question alone
    assert [settings.cache for settings in given] == [None, *[False] * (4 if name == "reader" else 2)]
    assert [settings.max_tokens for settings in given][:2] == [280, 240] if name == "reader" else [124, 124]
    given.clear()
    await _asked(make_without_repeats(make))
    assert len(given) == 1


def make_without_repeats(make: Made) -> Any:
    return make(saying("").model(), repeats=0)  # type: ignore[call-arg]  # all three take it


@pytest.mark.parametrize(
    ("mode", "chunk", "tokens"),
    [
        (LIST, CHUNK, [static_token_count("1:0 2:0 3:0"), numbered_tokens(3) + 3]),
        (PAIRWISE, 1, [30, 30]),
        (LOGIT, 1, [1, 1]),
    ],
)
def test_a_reply_is_counted_as_a_line_or_as_json(mode: Mode, chunk: int, tokens: list[int]) -> None:
    assert [mode.reply_tokens(3, as_json) for as_json in (False, True)] == tokens
    assert (mode.chunk, mode.asks_pairs) == (chunk, True)
    assert numbered_tokens(3) == static_token_count(json.dumps({"1": "", "2": "", "3": ""}))


def test_ways_to_judge_without_a_grader_are_told_as_far_as_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[str, bool, bool]] = []

    def grader(judge: str, *, replaceable: bool, panel_alone: bool) -> tuple[Model, ...]:
        given.append((judge, replaceable, panel_alone))
        return (saying("").model(),)

    monkeypatch.setattr("genie_inspect.graders.instrument.graders", grader)
    for judge, alone in (("list", True), ("ttcw", False), ("vectors/fit.json", True)):
        graders_for(judge, panel_alone=alone)
    assert given == [("list", True, True), ("ttcw", False, False), ("vectors/fit.json", True, True)]


def test_an_instrument_asks_anew_in_another_cache_when_it_is_told_to(tmp_path: Path) -> None:
    model, cache = saying("").model(), Cache(tmp_path)
    plain: Any = Instrument("list").reader_and_judge(model)
    own: Any = Instrument("list", cache=False).reader_and_judge(model, anew=True, cache=cache)
    assert [one.memo.cache.path for one in plain] == [Cache().path] * 2
    assert [one.memo.cache for one in own] == [cache, cache]
    assert (plain[1].memo.anew, own[1].memo.anew) == (False, True)
    assert Instrument("list", cache=False).cache_for(model) is None
    screen: Any = Instrument("vectors").reader_and_judge(model)[1]
    assert isinstance(screen.embedder, CachedEmbedder)
    assert Instrument("list").min_coverage == 0.5
    assert [Instrument(judge).is_smoke_test for judge in ("embedded", "pairwise")] == [True, False]
