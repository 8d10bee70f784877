"""Asking again: how often, for what, and past the provider's cache."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig, Model
from tests.scripted import Asked, numbered, saying

from genie_inspect.asking.readable import ANEW, readable, until_complete, until_read
from genie_inspect.building.interviewing import Interviewer
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.judges.list_judge import ListJudge
from genie_inspect.judges.pairwise_judge import PairwiseJudge
from genie_inspect.judges.protocols import Answer
from genie_inspect.panel_judges.coherence import GraderCoherence
from genie_inspect.panel_judges.equivalence import GraderEquivalence
from genie_inspect.panel_judges.preference import PreferenceJudge
from genie_inspect.panel_judges.quality import GraderQuality
from genie_inspect.prompting.forms import answers_form
from genie_inspect.prompting.ratings import pair_rating
from genie_inspect.prompting.replies import numbered_answers

PLAIN = GenerateConfig()
BABBLE = "Well, who can say."


async def test_what_can_be_read_is_asked_once_under_the_runs_own_cache() -> None:
    settings: list[GenerateConfig] = []

    async def attempt(given: GenerateConfig) -> int:
        settings.append(given)
        return 3

    assert await until_read(attempt) == 3
    assert settings == [PLAIN]


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


async def test_only_what_is_missing_is_asked_again() -> None:
    asked: list[tuple[Sequence[str], GenerateConfig]] = []

    async def attempt(items: Sequence[str], settings: GenerateConfig) -> dict[str, int]:
        asked.append((list(items), settings))
        return {item: len(asked) for item in items[:1]}

    assert await until_complete(["a", "b", "c", "d"], attempt) == {"a": 1, "b": 2, "c": 3}
    assert asked == [(["a", "b", "c", "d"], PLAIN), (["b", "c", "d"], ANEW), (["c", "d"], ANEW)]


async def test_nothing_is_asked_for_nothing() -> None:
    async def attempt(items: Sequence[str], settings: GenerateConfig) -> dict[str, int]:
        raise AssertionError("asked")

    assert await until_complete([], attempt) == {}


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Model]:
    """A model whose replies Inspect caches, as under `--cache true`."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    return lambda *replies: saying(*replies).model(cache=True)


async def test_inspects_cache_would_give_the_same_rubbish_again(cached: Callable[..., Model]) -> None:
    model = cached(BABBLE, "Rating: 2")
    replies = [(await model.generate("Rate.")).completion for _ in range(3)]
    assert replies == [BABBLE] * 3


async def test_a_repeated_request_gets_past_inspects_cache(cached: Callable[..., Model]) -> None:
    assert await readable(cached(BABBLE, "Rating: 2"), "Rate.", PLAIN, pair_rating) == 2


OWL, FOX = Answer("an owl"), Answer("a fox")


async def _list(model: Model) -> object:
    return (await ListJudge(model).rate(Asked("Who?"), OWL, [FOX])).ratings


async def _pairwise(model: Model) -> object:
    return (await PairwiseJudge(model).rate(Asked("Who?"), OWL, [FOX])).ratings


async def _equivalence(model: Model) -> object:
    return list(await GraderEquivalence(model).same("Write.", ["an owl"], "a fox"))


async def _quality(model: Model) -> object:
    return await GraderQuality(model).levels("Write.", ["an owl"])


async def _preference(model: Model) -> object:
    return await PreferenceJudge(model).verdict("Write.", "an owl", "a fox")


async def _coherence(model: Model) -> object:
    return await GraderCoherence(model).rate("Write.", "an owl")


async def _interview(model: Model) -> object:
    return await Interviewer(model).list_items("list_features", 1, {"task": "t"}, answers_form(1), numbered_answers)


@pytest.mark.parametrize(
    ("ask", "reply", "value"),
    [
        (_list, numbered({1: 2}), (2,)),
        (_pairwise, "Alike.\nRating: 2", (2,)),
        (_equivalence, numbered({1: "same"}), [True]),
        (_quality, "Fine.\nRating: 7", [7.0]),
        (_preference, "Better.\n[[A]]", 1.0),
        (_coherence, "Sound.\nRating: 4", 4),
        (_interview, numbered({1: "a feature"}), ["a feature"]),
    ],
)
async def test_everything_that_asks_again_gets_past_inspects_cache(
    cached: Callable[..., Model], ask: Callable[[Model], Awaitable[object]], reply: str, value: object
) -> None:
    assert await ask(cached(BABBLE, reply)) == value
