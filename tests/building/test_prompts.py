"""Pairs asked for in rounds, until there are enough of them."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.building.scripts import recorded
from tests.scripted import Script, numbered, saying

from genie_inspect.building.prompts import (
    LEFT,
    NEAR,
    NEAR_PAIR,
    NO_PAIR,
    ROUNDS,
    TAKEN,
    TWICE,
    UNKNOWN,
    WORDING,
    PairChooser,
    check_pairs,
    concepts,
    write_pairs,
)
from genie_inspect.engines.embedders import StaticEmbedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.stand_ins import rehearsed
from genie_inspect.populations.prompts import SourceError, prompt_lines
from genie_inspect.prompting.templates import unfenced
from genie_inspect.tasks.synthetic_prompts import concept_pairs


async def written(count: int, script: Script, folder: Path, **changes: Any) -> dict[str, Any]:
    options = {"domain": "everyday life", "count": count, "apart": 0.0, "pairs_apart": 0.0, **changes}
    return await write_pairs(folder / "prompts.jsonl", recorded(script, folder / "work"), folder / "work", **options)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]


async def test_each_line_is_a_prompt_with_its_concepts_and_their_distance(tmp_path: Path) -> None:
    result = await written(1, saying('{"1": "a castle; a spaceship"}'), tmp_path)
    pair = {"first": "a castle", "second": "a spaceship", "distance": pytest.approx(0.98, abs=0.05)}
    assert rows(tmp_path) == [{"prompt": "Write a story about a castle and a spaceship.", **pair}]
    assert prompt_lines(tmp_path / "prompts.jsonl") == ["Write a story about a castle and a spaceship."]
    assert (result["prompts"], result["rounds"], result["proposed"]) == (1, 1, 1)
    assert result["least_distance"] == rows(tmp_path)[0]["distance"]


async def test_the_wording_is_the_users_and_concepts_in_it_stay_as_they_are(tmp_path: Path) -> None:
    wording = "A paper on {second}, by way of {first}."
    await written(1, saying('{"1": "a {second}; a \\\\1 cell"}'), tmp_path, wording=wording)
    assert [row["prompt"] for row in rows(tmp_path)] == ["A paper on a \\1 cell, by way of a {second}."]


async def test_the_same_seed_and_replies_make_the_same_file_and_another_seed_another_one(tmp_path: Path) -> None:
    lists = numbered({number: f"a thing {number}; a matter {number}" for number in range(1, 21)})
    files = {}
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        await written(5, saying(lists), tmp_path / name, seed=seed)
        files[name] = [row["first"] for row in rows(tmp_path / name)]
    assert files["one"] == files["same"] != files["other"]
    # the seed chooses: it does not take them as they come
    assert files["one"] != [f"a thing {number}" for number in range(1, 6)]
    # 25 pairs and as many to choose from: 3 requests of 20, which differ in their letters
    script = Script(lambda request: rehearsed(unfenced(request)))
    await written(25, script, tmp_path / "letters")
    assert len({tuple(data["letters"]) for data in script.data}) == 3


async def test_pairs_that_are_missing_are_asked_for_again_with_those_that_are_taken(tmp_path: Path) -> None:
    script = saying('{"1": "a castle; a spaceship", "2": "a castle; a dog", "3": "a pair"}', '{"1": "a tram; an egg"}')
    result = await written(2, script, tmp_path)
    taken = [f"{row['first']}; {row['second']}" for row in rows(tmp_path)]
    assert script.data[1]["taken"] == taken[:1]
    assert taken[0] in ("a castle; a spaceship", "a castle; a dog")
    assert taken[1] == "a tram; an egg"
    assert (result["rounds"], result["proposed"]) == (2, 4)
    assert result["dropped"] == {"no two concepts": 1, "a concept of another pair": 1}


async def test_a_later_round_asks_for_no_more_than_is_missing_and_as_many_to_choose_from(tmp_path: Path) -> None:
    pairs = [f"a thing {number}; a matter {number}" for number in range(27)]
    first = [numbered(dict(enumerate(pairs[start : start + 9], start=1))) for start in (0, 9, 18)]
    script = saying(*first, '{"1": "a dog; a tram"}', '{"1": "an egg; a king"}', '{"1": "a lock; a fen"}')
    result = await written(30, script, tmp_path)
    # 3 requests for the first 27, and one in each round for the other three
    assert (result["rounds"], len(script.requests)) == (4, 6)


async def test_too_few_pairs_end_after_six_rounds_with_the_reasons_and_leave_no_file(tmp_path: Path) -> None:
    script = saying('{"1": "a castle; a spaceship", "2": "a king; a queen"}')
    with pytest.raises(SourceError, match=r"^found 1 of 2 pairs in 6 of 6 rounds \(10 proposed before, 1 con") as e:
        await written(2, script, tmp_path, apart=0.8)
    assert "--count" in str(e.value)
    assert "--apart below 0.8" in str(e.value)
    assert len(script.requests) == ROUNDS
    assert not (tmp_path / "prompts.jsonl").exists()


@pytest.mark.parametrize("reply", ["", "I would rather not.", '{"1": null}'])
async def test_a_model_that_names_nothing_is_not_asked_round_after_round(tmp_path: Path, reply: str) -> None:
    script = saying(reply)
    with pytest.raises(SourceError, match=r"found 0 of 2 pairs in 1 of 6 rounds \(no reply held a list of pairs"):
        await written(2, script, tmp_path)
    assert len(script.requests) == 3


def test_an_order_that_cannot_be_met_is_refused() -> None:
    with pytest.raises(UnknownChoiceError, match="domain is ' ', expected a few words"):
        check_pairs(" ", WORDING)
    for wording in ("{first} {second} {first}", "{first}\n{second}"):
        with pytest.raises(UnknownChoiceError, match=r"expected one line with {first} and {second}, each once"):
            check_pairs("everyday life", wording)


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
    name = identity = "given"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([KNOWN[text] for text in texts]).reshape(len(texts), 8)


def chosen(*proposals: str, most: int = 9, apart: float = 0.5, pairs_apart: float = 0.0) -> PairChooser:
    chooser = PairChooser(Given(), apart, pairs_apart)
    chooser.take(proposals, most)
    return chooser


def test_a_pair_is_taken_with_the_distance_of_its_concepts_as_long_as_more_are_wanted() -> None:
    chooser = chosen("a castle; a spaceship", "a fort; a tram")
    assert chooser.taken == {("a castle", "a spaceship"): 1.0, ("a fort", "a tram"): 1.0}
    # 1 - 3/5
    assert chosen("a castle; a fort", apart=0.3).taken == {("a castle", "a fort"): 0.4}
    assert not chooser.dropped
    # proposals of later rounds add to the earlier
    chooser = chosen("a castle; a spaceship", most=2)
    chooser.take(["a dog; a tram", "an egg; a castle"], 2)
    assert (len(chooser.taken), chooser.dropped) == (2, {LEFT: 1})


@pytest.mark.parametrize(
    ("proposals", "least", "dropped"),
    [
        (["a castle; a fort"], {"apart": 0.4 - 1e-9}, {}),
        (["a castle; a fort"], {"apart": 0.41 - 1e-9}, {NEAR: 1}),
        (["a castle; a spaceship", "A spaceship; the castle."], {}, {TWICE: 1}),
        (["a castle; a fort", "a fort; a castle"], {}, {NEAR: 1, TWICE: 1}),
        (["a castle; a spaceship", "a dog; castle", "The Castle; an egg", "a dog; an egg"], {}, {TAKEN: 2}),
        # castle + spaceship against fort + tram: ((3+0)/5) / (sqrt 2 * sqrt 2) = 0.3, a distance of 0.7
        (["a castle; a spaceship", "a fort; a tram"], {"pairs_apart": 0.69}, {}),
        (["a castle; a spaceship", "a tram; a fort"], {"pairs_apart": 0.71}, {NEAR_PAIR: 1}),
        (["???a; a castle", "a castle; ???a"], {}, {UNKNOWN: 1, TWICE: 1}),
        # two that cancel out have no direction together
        (["a tram; a anti"], {}, {UNKNOWN: 1}),
    ],
)
def test_a_pair_that_is_not_sound_is_dropped_with_its_reason(
    proposals: list[str], least: dict[str, float], dropped: dict[str, int]
) -> None:
    assert chosen(*proposals, **least).dropped == dropped  # type: ignore[arg-type]


def test_a_line_holds_two_short_concepts_with_one_semicolon_between_them() -> None:
    for text in ("a castle; a spaceship", " a  castle ;a spaceship. "):
        assert concepts(text) == ("a castle", "a spaceship")
    assert concepts("a castle; " + "x" * 60)
    assert concepts("a castle; one two three four five six")
    seconds = ["", " ...", " a spaceship; a dog", "x" * 61, "one two three four five six seven", "a \x1b[31mspaceship"]
    for text in ("a castle", *(f"a castle;{second}" for second in seconds)):
        assert concepts(text) is None
        assert chosen(text).dropped == {NO_PAIR: 1}


def test_by_default_the_studys_concepts_are_apart_and_all_but_two_of_its_pairs_from_each_other() -> None:
    chooser = PairChooser(StaticEmbedder())
    found = [re.fullmatch(r"Write a story about (.*?) and (.*)\.", prompt) for prompt in concept_pairs()]
    chooser.take([f"{match[1]}; {match[2]}" for match in found if match], 99)
    assert (len(chooser.taken), chooser.dropped) == (23, {NEAR_PAIR: 2})
    # concepts that belong together are no pair
    chooser = PairChooser(StaticEmbedder())
    together = ["a castle; a fortress", "a king; a queen", "a ship; a submarine", "a train; a railway station"]
    chooser.take([*together, "a castle; a spaceship"], 9)
    assert chooser.dropped == {NEAR: 4}
    assert [*chooser.taken] == [("a castle", "a spaceship")]
