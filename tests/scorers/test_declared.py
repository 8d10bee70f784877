"""What each scorer declares: what a caller may leave out, and what reports and Inspect's tables read of it."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest
from inspect_ai.util import registry_info
from tests.every_scorer import MAKERS, NO_MEASURE

DEFAULTS = """
close_reading(sensical=False, examples=None, templates=None)
coherence(by='grader', templates=None)
compression(population='starter', codec='gzip')
cosine(population='starter', embedder='static')
creativity_index(population='starter', corpus='population', matcher='exact', embedder='static')
document()
expression_novelty(population='starter', corpus='population', floor=1.2e-10, case='either')
genie(population='starter', judge='list', embedder='static', templates=None, cache=True,\
 min_coverage=0.5, answer_length='concise')
litbench(population='starter', opponents=None, templates=None, protocol='chat')
novelty_bench(equivalence='grader', quality='grader', threshold=None, embedder='static', patience=0.8, templates=None)
partition(population='starter', equivalence='grader', threshold=None, embedder='static', templates=None)
ttcw(rubric='ttcw', levels=5, cutoff=None, analyse=True, reference=True, templates=None, cache=True, prefix=None)
""".strip().splitlines()
UNIT = (0, 1)
DECLARED: Mapping[str, tuple[str, Mapping[str, tuple[Any, ...]]]] = {
    "close_reading": ("novel_per_100_words", {"*_per_100_words": (0, None)}),
    "coherence": ("coherence_rating", {"coherence_rating": (1, 5)}),
    "compression": ("compression_novelty", {}),
    "cosine": ("cosine_mean", {"cosine_*": (0, 2)}),
    "creativity_index": (
        "creativity_index_mean",
        {"creativity_index_mean": UNIT, "creativity_index_sum": (0, 8), "creativity_index_*": UNIT},
    ),
    "expression_novelty": (
        "log_perplexity_mean",
        {"log_perplexity_mean": (0, None), "novel_expression_share": UNIT},
    ),
    "genie": ("*", {"plot": UNIT, "*": UNIT}),
    "litbench": ("litbench_win_rate", {"litbench_win_rate": UNIT, "litbench_order_bias": (-1, 1)}),
    "novelty_bench": ("distinct", {"distinct": (1, "k"), "utility": (0, 10)}),
    "partition": ("partition_novel", {"partition_*": UNIT}),
    "ttcw": ("*_total", {"*_total": (0, None), "*": UNIT}),
}


def maker(name: str) -> Any:
    """The scorer; a task of ours may have the same name."""
    return getattr(import_module(f"genie_inspect.scorers.{name}"), name)


@pytest.mark.parametrize("declared", DEFAULTS)
def test_what_a_caller_leaves_out_is_what_the_docstring_says(declared: str) -> None:
    name = declared.partition("(")[0]
    parameters = inspect.signature(maker(name)).parameters
    assert declared == f"{name}({', '.join(f'{option}={given.default!r}' for option, given in parameters.items())})"


@pytest.mark.parametrize("name", DECLARED)
def test_headline_and_ranges_stand_where_reports_read_them(name: str) -> None:
    headline, ranges = DECLARED[name]
    found = registry_info(maker(name)).metadata
    assert (found["headline"], found.get("ranges", {})) == (headline, ranges)
    # in the order in which Inspect's tables show them; every key that is not named has its metrics last
    by_key = found["metrics"][0] if isinstance(found["metrics"], list) else found["metrics"]
    assert list(by_key) == list(dict.fromkeys([*ranges, "*"]) if name != "coherence" else ["*"])


def test_every_registered_scorer_that_measures_declares_its_headline() -> None:
    assert {declared.partition("(")[0] for declared in DEFAULTS} == MAKERS.keys() - {"personal"}
    assert DECLARED.keys() == MAKERS.keys() - set(NO_MEASURE)
