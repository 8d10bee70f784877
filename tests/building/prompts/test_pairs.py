"""Which pairs of concepts are sound; distances by vectors that are given, so that they can be reckoned by hand."""

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from genie_inspect.building.prompts.pairs import (
    APART,
    LEFT,
    NEAR,
    NEAR_PAIR,
    NO_PAIR,
    PAIRS_APART,
    TAKEN,
    TWICE,
    UNKNOWN,
    Pair,
    PairChooser,
    concepts,
)
from genie_inspect.engines.embedders.choices import StaticEmbedder
from genie_inspect.tasks.synthetic_prompts import concept_pairs

AXES = {name: np.eye(8)[axis] for axis, name in enumerate(["a castle", "a spaceship", "a dog", "a tram", "an egg"])}
KNOWN = {
    **AXES,
    "a fort": (AXES["a castle"] * 3 + AXES["a dog"] * 4) / 5,  # cosine 0.6 with a castle
    "castle": AXES["a castle"],
    "The Castle": AXES["a castle"],
    "the castle": AXES["a castle"],
    "A spaceship": AXES["a spaceship"],
    "???a": np.zeros(8),
    "a anti": -AXES["a tram"],
}


class Given:
    """Vectors by name."""

    name = identity = "given"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([KNOWN[text] for text in texts]).reshape(len(texts), 8)


def chosen(*proposals: str, most: int = 9, apart: float = 0.5, pairs_apart: float = 0.0) -> PairChooser:
    chooser = PairChooser(Given(), apart, pairs_apart)
    chooser.take(proposals, most)
    return chooser


def test_a_pair_is_taken_with_the_distance_of_its_concepts() -> None:
    chooser = chosen("a castle; a spaceship", "a fort; a tram")
    assert chooser.taken == [Pair("a castle", "a spaceship", 1.0), Pair("a fort", "a tram", 1.0)]
    # 1 - 3/5
    assert chosen("a castle; a fort", apart=0.3).taken == [Pair("a castle", "a fort", 0.4)]
    assert not chooser.dropped


@pytest.mark.parametrize(("apart", "dropped"), [(0.4, {}), (0.41, {NEAR: 1})])
def test_a_pair_whose_concepts_are_nearer_than_asked_is_dropped(apart: float, dropped: dict[str, int]) -> None:
    assert chosen("a castle; a fort", apart=apart - 1e-9).dropped == dropped


def test_a_pair_that_was_proposed_before_is_dropped_whichever_concept_is_first_and_whatever_became_of_it() -> None:
    assert chosen("a castle; a spaceship", "A spaceship; the castle.").dropped == {TWICE: 1}
    assert chosen("a castle; a fort", "a fort; a castle").dropped == {NEAR: 1, TWICE: 1}


def test_a_concept_stands_in_one_pair_only_with_whatever_article() -> None:
    chooser = chosen("a castle; a spaceship", "a dog; castle", "The Castle; an egg", "a dog; an egg")
    assert [(pair.first, pair.second) for pair in chooser.taken] == [("a castle", "a spaceship"), ("a dog", "an egg")]
    assert chooser.dropped == {TAKEN: 2}


# castle + spaceship against fort + tram: ((3+0)/5) / (sqrt 2 * sqrt 2) = 0.3, a distance of 0.7
@pytest.mark.parametrize(("least", "dropped"), [(0.69, {}), (0.71, {NEAR_PAIR: 1})])
def test_a_pair_near_one_that_was_taken_is_dropped(least: float, dropped: dict[str, int]) -> None:
    assert chosen("a castle; a spaceship", "a fort; a tram", pairs_apart=least).dropped == dropped
    assert chosen("a castle; a spaceship", "a tram; a fort", pairs_apart=least).dropped == dropped


def test_a_concept_without_a_vector_has_no_distance_and_is_dropped_with_that_reason() -> None:
    assert chosen("???a; a castle", "a castle; ???a").dropped == {UNKNOWN: 1, TWICE: 1}
    # two that cancel out have no direction together
    assert chosen("a tram; a anti").dropped == {UNKNOWN: 1}


def test_what_is_more_than_was_wanted_is_left_and_proposals_of_later_rounds_add_to_the_earlier() -> None:
    chooser = chosen("a castle; a spaceship", most=2)
    chooser.take(["a dog; a tram", "an egg; a castle"], 2)
    assert len(chooser.taken) == 2
    assert chooser.dropped == {LEFT: 1}


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("a castle; a spaceship", ("a castle", "a spaceship")),
        (" a  castle ;a spaceship. ", ("a castle", "a spaceship")),
        ("a castle", None),
        ("a castle; ", None),
        ("a castle; a spaceship; a dog", None),
        ("a castle; ...", None),
        ("a castle; " + "x" * 61, None),
        ("a castle; one two three four five six seven", None),
        ("a castle; a \x1b[31mspaceship", None),
    ],
)
def test_a_line_holds_two_short_concepts_with_one_semicolon_between_them(
    text: str, pair: tuple[str, str] | None
) -> None:
    assert concepts(text) == pair
    assert bool(chosen(text).dropped[NO_PAIR]) == (pair is None)


def test_by_default_all_of_the_studys_pairs_have_concepts_apart_and_all_but_two_of_their_twos_are_apart() -> None:
    found = [re.fullmatch(r"Write a story about (.*?) and (.*)\.", prompt) for prompt in concept_pairs()]
    pairs = [(match[1], match[2]) for match in found if match]
    assert len(pairs) == 25
    vectors = StaticEmbedder().embed([concept for pair in pairs for concept in pair])
    assert all(1 - first @ second >= APART for first, second in zip(vectors[::2], vectors[1::2], strict=True))
    sums = vectors[::2] + vectors[1::2]
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    assert sum(1 - one @ other < PAIRS_APART for one, other in combinations(sums, 2)) == 2


def test_by_default_concepts_that_belong_together_are_no_pair() -> None:
    chooser = PairChooser(StaticEmbedder())
    together = ["a castle; a fortress", "a king; a queen", "a ship; a submarine", "a train; a railway station"]
    chooser.take([*together, "a castle; a spaceship"], 9)
    assert chooser.dropped == {NEAR: 4}
    assert [pair.first for pair in chooser.taken] == ["a castle"]
