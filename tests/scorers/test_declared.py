"""What each scorer declares: what a caller may leave out, and what reports and Inspect's tables read of it."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest
from inspect_ai.util import registry_info

from genie_inspect.graders.grader import PrerequisiteError, RefusedError

STARTER = {"population": "starter"}
TEMPLATES = {"templates": None}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "close_reading": {"sensical": False, "examples": None} | TEMPLATES,
    "coherence": {"by": "grader"} | TEMPLATES,
    "compression": STARTER | {"codec": "gzip"},
    "cosine": STARTER | {"embedder": "static"},
    "creativity_index": STARTER | {"corpus": "population", "matcher": "exact", "embedder": "static"},
    "document": {},
    "expression_novelty": STARTER | {"corpus": "population", "floor": 1.2e-10, "case": "either"},
    "genie": STARTER
    | {"judge": "list", "embedder": "static"}
    | TEMPLATES
    | {"cache": True, "min_coverage": 0.5, "answer_length": "concise"},
    "litbench": STARTER | {"opponents": None} | TEMPLATES | {"protocol": "chat"},
    "novelty_bench": {
        **{"equivalence": "grader", "quality": "grader", "threshold": None, "embedder": "static", "patience": 0.8},
        **TEMPLATES,
    },
    "partition": STARTER | {"equivalence": "grader", "threshold": None, "embedder": "static"} | TEMPLATES,
    "ttcw": {
        **{"rubric": "ttcw", "levels": 5, "cutoff": None, "analyse": True, "reference": True},
        **TEMPLATES,
        "cache": True,
        "prefix": None,
    },
}
UNIT = (0, 1)
DECLARED: Mapping[str, tuple[str, Mapping[str, tuple[Any, ...]], str]] = {
    "close_reading": (
        "novel_per_100_words",
        {"*_per_100_words": (0, None)},
        "Expressions that a reader marks, in a hundred words of the text: as novel, and as awkward where they stand. "
        "Higher is more of them; how many are too few or too many the numbers do not say.",
    ),
    "coherence": (
        "coherence_rating",
        {"coherence_rating": (1, 5)},
        "How coherent the text is. Higher is more coherent, which is not novelty.",
    ),
    "compression": (
        "compression_novelty",
        {},
        "0: it adds as much to the population as one of the population's own documents does. Above 0: it adds more. "
        "Higher is more that is new.",
    ),
    "cosine": (
        "cosine_mean",
        {"cosine_*": (0, 2)},
        "0: in meaning the same as the population's documents. Up to 2; higher is farther from them.",
    ),
    "creativity_index": (
        "creativity_index_mean",
        {"creativity_index_mean": UNIT, "creativity_index_sum": (0, 8), "creativity_index_*": UNIT},
        "0: all of it stands word for word in the corpus. 1: no run of its words does. Higher is less copied.",
    ),
    "expression_novelty": (
        "log_perplexity_mean",
        {"log_perplexity_mean": (0, None), "novel_expression_share": UNIT},
        "0: the corpus foretells every word of its expressions. Higher is less likely to the corpus, which is neither "
        "better nor more sensible. Share: expressions with 15% or more novel n-grams.",
    ),
    "genie": (
        "*",
        {"plot": UNIT, "*": UNIT},
        "0: the population's documents give the same answers. 1: none of them answers anything like it. Higher is more "
        "unlike the population, which is not the same as better.",
    ),
    "litbench": (
        "litbench_win_rate",
        {"litbench_win_rate": UNIT, "litbench_order_bias": (-1, 1)},
        "0: never preferred to the population's documents. 1: always. Higher is liked more often: no novelty by "
        "itself.",
    ),
    "novelty_bench": (
        "distinct",
        {"distinct": (1, "k"), "utility": (0, 10)},
        "How many kinds of reply one prompt gets, and their worth to a reader. Higher is more kinds, or more worth.",
    ),
    "partition": (
        "partition_novel",
        {"partition_*": UNIT},
        "0: the same kind of document as all of the population's. 1: a kind of its own. Higher is rarer.",
    ),
    "ttcw": (
        "*_total",
        {"*_total": (0, None), "*": UNIT},
        "Tests of creative writing that it passes beside a fine human story; 0: none. Higher is better.",
    ),
}


def maker(name: str) -> Any:
    """The scorer; a task of ours may have the same name."""
    return getattr(import_module(f"genie_inspect.scorers.{name}"), name)


@pytest.mark.parametrize("name", DEFAULTS)
def test_what_a_caller_leaves_out_is_what_the_docstring_says(name: str) -> None:
    parameters = inspect.signature(maker(name)).parameters
    assert {option: given.default for option, given in parameters.items()} == DEFAULTS[name]


@pytest.mark.parametrize("name", DECLARED)
def test_headline_ranges_and_meaning_stand_where_reports_read_them(name: str) -> None:
    headline, ranges, meaning = DECLARED[name]
    found = registry_info(maker(name)).metadata
    assert (found["headline"], found.get("ranges", {}), found["meaning"]) == (headline, ranges, meaning)
    # in the order in which Inspect's tables show them; every key that is not named has its metrics last
    by_key = found["metrics"][0] if isinstance(found["metrics"], list) else found["metrics"]
    assert list(by_key) == list(dict.fromkeys([*ranges, "*"]) if name != "coherence" else ["*"])
    for metrics in by_key.values():
        assert [registry_info(metric).name.split("/")[-1] for metric in metrics] == ["mean", "stderr", "ci"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        *[
            (name, {"templates": "missing"}, "'missing' does not exist")
            for name, defaults in DEFAULTS.items()
            if "templates" in defaults
        ],
        ("novelty_bench", {"templates": "missing", "equivalence": "embedded"}, "'missing' does not exist"),
        *[(name, {"embedder": "word2vec"}, "embedder is 'word2vec'") for name in ("cosine", "creativity_index")],
        ("genie", {"embedder": "word2vec", "judge": "embedded"}, "embedder is 'word2vec'"),
        ("partition", {"embedder": "word2vec", "equivalence": "embedded"}, "embedder is 'word2vec'"),
        ("novelty_bench", {"embedder": "word2vec", "equivalence": "embedded"}, "embedder is 'word2vec'"),
        ("novelty_bench", {"patience": 2}, "patience is 2, expected 0 to 1"),
        ("close_reading", {"sensical": "yes"}, "sensical is 'yes', expected true or false"),
        ("close_reading", {"examples": "missing.jsonl"}, "missing.jsonl"),
        ("coherence", {"by": "people"}, "by is 'people', expected grader or reward/<hub id or folder>"),
        ("creativity_index", {"matcher": "fuzzy"}, "matcher is 'fuzzy', expected one of exact, near"),
        ("genie", {"min_coverage": 2}, "min_coverage is 2, expected 0 to 1"),
        ("ttcw", {"cutoff": -4}, "cutoff is -4, expected -3 to 4 with levels=5"),
        ("ttcw", {"cutoff": 5}, "cutoff is 5, expected -3 to 4 with levels=5"),
        (
            "ttcw",
            {"reference": False, "levels": 3},
            "levels is 3, expected nothing with reference=false: the critic says yes or no",
        ),
    ],
)
def test_an_option_that_cannot_be_used_is_refused_when_the_scorer_is_made(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((RefusedError, PrerequisiteError)) as caught:
        maker(name)(**options)
    assert message in str(caught.value)
