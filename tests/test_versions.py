"""What each measure computes, held beside its version: who changes a number here raises the number in the version."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.dataset import Sample
from inspect_ai.solver import generate
from tests.critics import blocks
from tests.every_scorer import MAKERS, NO_MEASURE, scorer_of
from tests.scripted import OWL, QUESTIONS, Script, saying, scored, small_population

from genie_inspect.prompting.replies import labels
from genie_inspect.signature import TASKS, Signature, comparable, digest, signature
from genie_inspect.solvers.generations import generations

RAISE = "the values of {} are no longer those of version {}: raise N of its N-X, and put the new values under it here"
STORY = "The grey owl flew over the barns of the village until the clock struck and the snow began to fall."
POPULATION = (
    "The grey owl flew over the barns and slept until the morning came.",
    "A white owl sat in the snow and the snow began to fall on it.",
    "An old owl lived on a clock; nobody heard it when the clock struck.",
)


# beside the defaults
OPTIONS: Mapping[str, dict[str, Any]] = {
    "partition": {"equivalence": "embedding"}, "close_reading": {"sensical": True}, "ttcw": {"cutoff": 1}
}  # fmt: skip
SAME = ("1-A", "2-A")  # what changed is texts in other languages, and answers such as "none"
# by measure, and by the version in which these were its values: what a version once had, it keeps
GOLDEN: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "genie": {version: {"plot": 0.278, "style": 0.111} for version in SAME},
    "cosine": {version: {"cosine_mean": 0.258, "cosine_nearest": 0.164} for version in SAME},
    "compression": {"1-A": {"compression_novelty": -0.441}, "2-A": {"compression_novelty": -0.247}},
    "creativity_index": {
        version: {
            **{"creativity_index_mean": 0.804, "creativity_index_sum": 6.429},
            **{"creativity_index_5": 0.381, "creativity_index_6": 0.381, "creativity_index_7": 0.667},
            **{f"creativity_index_{length}": 1.0 for length in range(8, 13)},
        }
        for version in SAME
    },
    "expression_novelty": {version: {"log_perplexity_mean": 5.097, "novel_expression_share": 0.0} for version in SAME},
    "partition": {version: {"partition_novel": 0.0, "partition_share": 0.667} for version in SAME},
    "litbench": {"1-A": {"litbench_win_rate": 1.0, "litbench_order_bias": 0.0}},
    "close_reading": {
        version: {"novel_per_100_words": 5.0, "awkward_per_100_words": 10.0, "senseless_per_100_words": 5.0}
        for version in SAME
    },
    "coherence": {"1-A": {"coherence_rating": 4}},
    "novelty_bench": {version: {"distinct": 2.0, "utility": 3.111} for version in SAME},
    "ttcw": {
        "1-A": {
            **{"ttcw_total": 6.0, "ttcw_fluency": 0.2, "ttcw_flexibility": 0.333},
            **{"ttcw_originality": 1.0, "ttcw_elaboration": 0.333},
            **{f"ttcw_{test:02}": float(test in (3, 7, 9, 10, 11, 13)) for test in range(1, 15)},
        }
    },
}


def answered(request: str) -> str:
    """Whatever a request asks for, by the lengths of the texts in it."""
    data = {name: value for block in blocks(request) for name, value in block.items()}
    if "questions" in data:
        return json.dumps({number: f"{asked} {data['document'][:9]}" for number, asked in data["questions"].items()})
    if "others" in data:
        return json.dumps({number: 1 + len(other) % 4 for number, other in data["others"].items()})
    if "other_replies" in data:
        verdicts = {n: "same" if len(other) % 2 else "different" for n, other in data["other_replies"].items()}
        return json.dumps(verdicts)
    if "text" in data:
        words = data["text"].split()
        places = (0, 9) if data["aspect"] == "awkward" else (4,)
        return json.dumps([{"expression": " ".join(words[place : place + 2]), "reason": "So."} for place in places])
    if "aspect" in data:
        return f"A: plain. B: bold.\n\n{labels(5)[(len(data['aspect']) + len(data['story_a'])) % 5]}"
    if "story_a" in data:
        return "[[A]]" if len(data["story_a"]) > len(data["story_b"]) else "[[B]]"
    return f"It holds together.\nRating: {1 + len(data.get('reply', STORY)) % 5}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("versions")
    return small_population(root / "population", {OWL: POPULATION}, {OWL: QUESTIONS[OWL]}).folder


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - NO_MEASURE))
def test_a_measures_values_are_those_of_its_version(name: str, folder: Path, tmp_path: Path) -> None:
    solver = generations(2) if name == "novelty_bench" else generate()
    sample = Sample(input=OWL, target=POPULATION[0], metadata={"prompt": OWL})
    made = scorer_of(name, str(folder), **OPTIONS.get(name, {}))
    options: dict[str, Any] = {"prompts": [sample], "solver": solver}
    score = scored(made, saying(STORY, POPULATION[1]), Script(answered), tmp_path, **options)
    version = Signature((score.metadata or {})["signature"]).facts["version"]
    assert version in GOLDEN[name], f"{version} of {name} has no values here: put them under it"
    assert score.value == pytest.approx(GOLDEN[name][version], abs=1e-6), RAISE.format(name, version)


def test_every_measure_and_task_has_a_version_of_number_and_letter() -> None:
    assert set(GOLDEN) == MAKERS.keys() - NO_MEASURE
    for version in (*(version for values in GOLDEN.values() for version in values), *TASKS.values()):
        number, letter = version.split("-")
        assert number.isdigit()
        assert letter.isupper()


def test_the_letter_of_a_version_parts_no_scores_and_the_number_does() -> None:
    one, other, higher = (
        f"measure:genie|judge:list(a-version:1-A)|version:{version}" for version in ("1-A", "1-B", "2-A")
    )
    assert comparable(one) == comparable(other) != comparable(higher)
    assert comparable("measure:genie|version:0.1.0") == "measure:genie|version:0.1.0", "of a log of before"


texts = st.lists(st.text(st.characters(exclude_categories=())), max_size=4)


@given(texts, texts)
def test_digests_are_equal_exactly_when_all_parts_are(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_a_digest_is_the_same_in_every_process_and_version() -> None:
    # printf '4:cafe' | sha256sum: the part's length in bytes, a colon, the part
    assert digest("cafe") == "14819e6073da"
    # printf '5:café' | sha256sum: bytes are counted and not characters
    assert digest("café") == "7b5e3f329a24"


@given(texts)
def test_whatever_stands_in_a_fact_two_signatures_are_equal_exactly_when_their_facts_are(values: list[str]) -> None:
    facts = {f"fact{number}": value for number, value in enumerate(values)}
    found = Signature(signature("genie", version="2-B", **facts)).facts
    assert list(found.items()) == list({"measure": "genie", **facts, "version": "2-B"}.items())
