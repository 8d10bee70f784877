from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from genie_inspect.errors import GraderFailedError
from genie_inspect.graders.cache import Cache, Judged
from genie_inspect.graders.merging import RatingMemo, Unrated
from genie_inspect.graders.protocols import OFF_LABELS, UNREADABLE, UNSPECIFIED, Answer, Rated


class Asked:
    """Rates by a table, and keeps what it was asked; what the table lacks has no rating."""

    def __init__(self, table: Mapping[str, Judged], reasons: Mapping[str, str] | None = None) -> None:
        self.table, self.reasons = table, reasons or {}
        self.calls: list[list[str]] = []

    async def __call__(self, pairs: Unrated) -> Mapping[str, str]:
        self.calls.append(sorted(pairs.others))
        await anyio.sleep(0.005)
        pairs.keep({text: self.table[text] for text in pairs.others if text in self.table})
        return {text: reason for text, reason in self.reasons.items() if text in pairs.others}


async def rated(memo: RatingMemo, ask: Asked, *others: str, answer: str = "rain", judge: str = "judge") -> Rated:
    return await memo.rated(judge, "How does it end?", answer, [Answer(text) for text in others], ask)


async def test_one_rating_a_distinct_answer_stands_wherever_an_equal_answer_stands() -> None:
    ask = Asked({"At sea": Judged(4), "at home": Judged(2)})
    found = await rated(RatingMemo(), ask, "At sea", "at home", "at  SEA.", "at home!")
    assert found.ratings == (4, 2, 4, 2)
    assert ask.calls == [["At sea", "at home"]]


async def test_what_was_judged_is_not_asked_again_by_a_later_run_whatever_its_spelling(tmp_path: Path) -> None:
    first, second = Asked({"At sea": Judged(4)}), Asked({"at home": Judged(2)})
    await rated(RatingMemo(Cache(tmp_path)), first, "At sea")
    found = await rated(RatingMemo(Cache(tmp_path)), second, "at sea!", "at home", answer="RAIN.")
    assert found.ratings == (4, 2)
    assert second.calls == [["at home"]]


async def test_without_a_cache_everything_is_asked_anew() -> None:
    ask, memo = Asked({"at sea": Judged(4)}), RatingMemo()
    await rated(memo, ask, "at sea")
    await rated(memo, ask, "at sea")
    assert len(ask.calls) == 2


@pytest.mark.parametrize("change", [{"judge": "another"}, {"answer": "snow"}])
async def test_another_judge_or_answer_is_asked_for_itself(tmp_path: Path, change: dict[str, str]) -> None:
    ask, memo = Asked({"at sea": Judged(4)}), RatingMemo(Cache(tmp_path))
    await rated(memo, ask, "at sea")
    await rated(memo, ask, "at sea", **change)
    assert len(ask.calls) == 2


async def test_samples_that_ask_for_the_same_side_by_side_ask_once(tmp_path: Path) -> None:
    ask, memo = Asked({"at sea": Judged(4), "at home": Judged(2)}), RatingMemo(Cache(tmp_path))
    found: list[Rated] = []

    async def sample() -> None:
        found.append(await rated(memo, ask, "at sea", "at home"))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(sample)
    assert len(ask.calls) == 1
    assert [one.ratings for one in found] == [(4, 2)] * 20


async def test_every_lost_rating_has_its_reason_and_every_equal_answer_has_it_too() -> None:
    ask = Asked({"a": Judged(3), "none": Judged(0)}, {"b": "no log probabilities"})
    found = await rated(RatingMemo(), ask, "a", "b", "c", "none", "B.")
    assert found.ratings == (3, None, None, None, None)
    assert found.faults == {1: "no log probabilities", 2: UNREADABLE, 3: UNSPECIFIED, 4: "no log probabilities"}


async def test_what_has_no_rating_is_not_on_record_and_is_asked_again(tmp_path: Path) -> None:
    memo = RatingMemo(Cache(tmp_path))
    assert (await rated(memo, Asked({}), "at sea")).ratings == (None,)
    assert (await rated(memo, Asked({"at sea": Judged(2)}), "at sea")).ratings == (2,)


async def test_what_was_kept_before_a_failure_is_on_record(tmp_path: Path) -> None:
    async def failing(pairs: Unrated) -> Mapping[str, str]:
        pairs.keep({"at sea": Judged(4)})
        raise GraderFailedError("down")

    others = [Answer("at sea"), Answer("at home")]
    with pytest.raises(GraderFailedError):
        await RatingMemo(Cache(tmp_path)).rated("judge", "How does it end?", "rain", others, failing)
    ask = Asked({"at home": Judged(1)})
    assert (await rated(RatingMemo(Cache(tmp_path)), ask, "at sea", "at home")).ratings == (4, 1)
    assert ask.calls == [["at home"]]


async def test_the_mean_off_the_labels_counts_also_what_is_too_far_off_to_be_rated(tmp_path: Path) -> None:
    table = {"a": Judged(3.5, 0.1), "b": Judged(2.5, 0.8)}
    others = [Answer("a"), Answer("b")]
    ask = Asked(table)
    for _ in range(2):  # the second time from the cache
        memo = RatingMemo(Cache(tmp_path))
        found = await memo.rated("judge", "How does it end?", "rain", others, ask, most_off_labels=0.5)
        assert found.ratings == (3.5, None)
        assert found.faults == {1: OFF_LABELS}
        # (0.1 + 0.8) / 2
        assert found.off_labels == pytest.approx(0.45)
    assert len(ask.calls) == 1


async def test_nothing_to_compare_asks_nobody() -> None:
    ask = Asked({})
    found = await rated(RatingMemo(), ask)
    assert (found.ratings, found.faults, ask.calls) == ((), {}, [])


@pytest.mark.parametrize(
    ("judged", "rating", "fault"),
    [
        (Judged(3.5, 0.5), 3.5, None),  # the highest probability at which it is still rated
        (Judged(3.5, 0.51), None, OFF_LABELS),
        (Judged(0.0, 0.5), None, UNSPECIFIED),
        (Judged(0.0, 0.51), None, OFF_LABELS),  # so far off its 0 says nothing either
    ],
)
async def test_up_to_the_limit_off_the_labels_a_finding_counts(
    judged: Judged, rating: float | None, fault: str | None
) -> None:
    found = await RatingMemo().rated("judge", "How?", "rain", [Answer("a")], Asked({"a": judged}), most_off_labels=0.5)
    assert found.ratings == (rating,)
    assert found.faults == ({0: fault} if fault else {})


async def test_asked_anew_it_asks_for_what_it_has_on_record_and_keeps_what_is_said_now(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await rated(RatingMemo(cache), Asked({"at sea": Judged(4)}), "at sea")
    assert (await rated(RatingMemo(cache, anew=True), Asked({"at sea": Judged(2)}), "at sea")).ratings == (2,)
    assert (await rated(RatingMemo(cache), Asked({}), "at sea")).ratings == (2,)
