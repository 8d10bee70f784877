"""What a critic is asked, word by word, and what that costs."""

import pytest
from tests.critics import blocks

from genie_inspect.asking.cost import Cost
from genie_inspect.critic.instructions import Instructions
from genie_inspect.critic.requests import critique_cost, orders_of, request_parts
from genie_inspect.critic.rubrics import Test
from genie_inspect.engines.embedders.choices import static_token_count
from genie_inspect.prompting.replies import verdict

PACE = Test(id="a", name="the pace", question="Is it even?")


def test_the_reference_stands_first_and_then_the_candidate_does() -> None:
    assert orders_of("new", "old") == [("old", "new"), ("new", "old")]
    assert orders_of("new", None) == [("new",)]


def test_a_request_has_the_stories_by_neutral_names_then_the_aspect_with_the_scale_before_it() -> None:
    pair = Instructions.load()
    shown, aspect = request_parts(pair, ("old", "new"), PACE)
    assert blocks(shown) == [{"story_a": "old", "story_b": "new"}]
    assert blocks(aspect) == [{"aspect": "the pace", "question": "Is it even?"}]
    assert pair.scale.text.strip() in aspect
    assert pair.scale.text.strip() + "\n\n\n" not in aspect
    assert blocks(request_parts(Instructions.load(reference=False), ("new",), PACE)[0]) == [{"story": "new"}]


@pytest.mark.parametrize(("analyse", "reply"), [(True, 200), (False, 3)])
def test_each_test_costs_a_request_in_either_order_with_both_stories(analyse: bool, reply: int) -> None:
    pair, alone = (Instructions.load(analyse=analyse, reference=reference) for reference in (True, False))
    words = sum(map(static_token_count, request_parts(pair, ("", ""), PACE)))
    assert critique_cost(pair, [PACE] * 3, 100, 70) == Cost(6, 6 * (words + 170), 6 * reply)
    words = sum(map(static_token_count, request_parts(alone, ("",), PACE)))
    assert critique_cost(alone, [PACE], 100, None) == Cost(1, words + 100, reply)


def test_instructions_are_on_five_labels_with_an_analysis_unless_told_and_each_part_is_in_the_digest() -> None:
    usual, bare, seven = Instructions.load(), Instructions.load(analyse=False), Instructions.load(7)
    assert (usual.analyses, bare.analyses) == (True, False)
    assert [one.stories.name for one in (usual, bare)] == ["critic_pair", "critic_pair"]
    assert [one.test.name for one in (usual, bare)] == ["critic_analyse", "critic_label"]
    assert [one.scale.name for one in (usual, seven)] == ["scale_5", "scale_7"]
    alone = Instructions.load(reference=False, analyse=False)
    assert [alone.stories.name, alone.test.name, alone.scale.name] == [
        "critic_alone",
        "critic_alone_label",
        "scale_yes_no",
    ]
    assert len({one.digest for one in (usual, bare, seven, alone)}) == 4
    assert usual.form.pattern != bare.form.pattern
    assert [usual.read("[[A>>B]]"), seven.read("[[A>>>B]]")] == [2, verdict("[[A>>>B]]", levels=7)] == [2, 3]
