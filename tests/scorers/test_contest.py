"""Win rate and order bias from verdicts that are known."""

import math
from pathlib import Path

import pytest
from tests.scripted import small_population

from genie_inspect.graders.cost import tokens
from genie_inspect.graders.quality import CHAT, preference_cost
from genie_inspect.populations.schema import Document
from genie_inspect.scorers.litbench import NOT_JUDGED, cost, drawn, measurement

MET = [Document(id=f"d-{name}", prompt="p", text=f"Story {name}.") for name in "abcd"]


def test_a_story_wins_by_both_orders_and_a_pair_judged_in_one_does_not_count() -> None:
    # 1: the story that stands first is better. It beats a, loses to b in both orders, ties by place with c
    found = measurement(MET, [1, 0, 1, None], [0, 1, 1, 1])
    assert found.value["litbench_win_rate"] == pytest.approx((1 + 0 + 0.5) / 3)
    # of six verdicts four name the first place
    assert found.value["litbench_order_bias"] == pytest.approx(2 * 4 / 6 - 1)
    assert found.metadata == {"compared": 3, "unreadable": 1, "lost_to": ["d-b"]}
    assert found.explanation == (
        "Win rate 0.50 against 3 documents, each in both orders; order bias +0.33 (0 = none, 1 = always the story that "
        "stands first). 1 more were not judged in both orders: unreadable replies."
    )
    assert found.reason is None


def test_half_a_loss_is_none() -> None:
    found = measurement(MET[:3], [0, 0.5, 0], [0.5, 1, 1])
    assert found.metadata["lost_to"] == ["d-c"]
    assert "more were not judged" not in found.explanation


def test_without_a_pair_judged_in_both_orders_nothing_is_measured() -> None:
    found = measurement(MET[:2], [None, 1], [1, None])
    assert math.isnan(found.value["litbench_win_rate"])
    assert (found.reason, found.metadata["unreadable"]) == (NOT_JUDGED, 2)


def test_so_many_opponents_are_met_as_are_wanted_the_same_by_the_same_story() -> None:
    assert drawn(MET, None, "text") == drawn(MET, 4, "text") == drawn(MET, 5, "text") == MET
    assert len(drawn(MET, 3, "text")) == 3
    assert drawn(MET, 2, "text") == drawn(MET, 2, "text")
    assert len({tuple(document.id for document in drawn(MET, 2, text)) for text in "abcdefgh"}) > 1


def test_a_verdict_is_paid_for_two_stories_of_usual_length(tmp_path: Path) -> None:
    population = small_population(tmp_path)
    prompt = population.prompts[0]
    lengths = [tokens(document.text) for document in population.documents(prompt)]
    request = preference_cost(CHAT.wording(), prompt, 0).tokens_in
    found = cost(CHAT.wording(), population, {prompt: 3})
    assert found.calls == 3 * 2 * len(lengths)
    assert found.tokens_in == pytest.approx(3 * 2 * (len(lengths) * request + 2 * sum(lengths)))
