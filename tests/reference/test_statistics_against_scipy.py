"""Figures against those of other programs."""

import gzip
import importlib.util
import io
import json
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats
from scipy.stats import mannwhitneyu

from genie_inspect.engines.embedders import embedder
from genie_inspect.measures.compression import compression_ratio
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.descriptive import prompt_interval
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.effect import PairedTest, paired_power
from genie_inspect.statistics.equivalence import tost

SIZES = [5, 12, 50]


def sides(pairs: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(pairs)
    before = generator.beta(2, 3, size=pairs)
    return before, before + generator.normal(0.04, 0.1, size=pairs)


@pytest.mark.parametrize("pairs", SIZES)
def test_tost_is_two_paired_t_tests(pairs: int) -> None:
    before, after = sides(pairs)
    found = tost(before, after, margin=0.05)
    assert found.p_lower == pytest.approx(stats.ttest_rel(after, before - 0.05, alternative="greater").pvalue)
    assert found.p_upper == pytest.approx(stats.ttest_rel(after, before + 0.05, alternative="less").pvalue)


@pytest.mark.parametrize("pairs", SIZES)
def test_one_delta_a_prompt_has_the_interval_of_a_paired_t_test(pairs: int) -> None:
    before, after = sides(pairs)
    theirs = stats.ttest_rel(after, before).confidence_interval(0.95)
    ours = prompt_interval((after - before).tolist(), range(pairs))
    assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high])


@pytest.mark.parametrize("test", [paired_bootstrap, paired_permutation])
def test_with_many_pairs_bootstrap_and_permutation_come_to_the_paired_t_test(test: Callable[..., PairedTest]) -> None:
    before, after = sides(400)
    after = after - 0.032  # what is left is borderline
    theirs = stats.ttest_rel(after, before)
    assert 0.01 < theirs.pvalue < 0.3
    ours = test(before, after)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.02)
    assert [ours.low, ours.high] == pytest.approx(list(theirs.confidence_interval(0.95)), abs=0.001)


@pytest.mark.parametrize("pairs", [5, 8, 12])
def test_the_permutation_test_has_scipys_exact_p_value(pairs: int) -> None:
    before, after = sides(pairs)
    theirs = stats.permutation_test((before, after), _mean_delta, permutation_type="samples", n_resamples=np.inf)
    assert paired_permutation(before, after).p_value == pytest.approx(theirs.pvalue)


def _mean_delta(before: np.ndarray, after: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(np.mean(after - before, axis=axis))


@pytest.mark.parametrize("pairs", SIZES)
@pytest.mark.parametrize("effect", [0.1, 0.5, 1])
def test_power_is_that_of_the_noncentral_t(pairs: int, effect: float) -> None:
    bound, shift = stats.t.ppf(0.975, pairs - 1), effect * pairs**0.5
    theirs = stats.nct.sf(bound, pairs - 1, shift) + stats.nct.cdf(-bound, pairs - 1, shift)
    assert paired_power(effect, sd=1, n=pairs) == pytest.approx(theirs, abs=1e-9)


PASSAGE = " ".join(
    "The lighthouse keeper counted the ships that did not come, wrote the number down, and lit the lamp again."
    if i % 3
    else f"On the {i}th night a small boat rowed past without a light, and nobody on it looked up."
    for i in range(14)
)  # 1.4 KB


@pytest.fixture(scope="module")
def published() -> ModuleType:
    """Its module `compression` alone: the package itself imports all that any of its measures needs."""
    package = importlib.util.find_spec("diversity")
    if package is None or package.origin is None:
        pytest.skip("diversity 0.3.1 is not installed")
    spec = importlib.util.spec_from_file_location("compression", Path(package.origin).with_name("compression.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_diversity_compresses_twice_and_so_reports_less_redundancy(published: ModuleType) -> None:
    theirs, ours = published.compression_ratio([PASSAGE], "gzip"), compression_ratio([PASSAGE])
    assert theirs < 0.97 * ours
    outer = io.BytesIO()
    with gzip.GzipFile("compressed.gz", "wb", fileobj=outer) as file:
        file.write(gzip.compress(PASSAGE.encode()))
    # its outer header holds the file's name too, some bytes more or less
    assert theirs == pytest.approx(len(PASSAGE) / len(outer.getvalue()), rel=0.01)


def test_where_it_compresses_once_the_numbers_are_the_same(published: ModuleType) -> None:
    assert published.compression_ratio([PASSAGE, PASSAGE], "xz") == round(
        compression_ratio([PASSAGE, PASSAGE], "xz"), 3
    )


def cosines(path: Path) -> Iterator[tuple[bool, float]]:
    """For each two generations of one prompt: whether they are of one class, and the cosine of their vectors."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        vectors = embedder().embed(row["generations"])
        for one, other in combinations(range(len(vectors)), 2):
            yield row["partition"][one] == row["partition"][other], float(vectors[one] @ vectors[other])


def test_the_static_embedder_tells_generations_of_one_class_from_those_of_others(
    shared_data: Callable[[str], Path],
) -> None:
    """How often two generations of one class are nearer than two of different classes.

    The area under the ROC curve of the cosine, over all pairs of generations of the same prompt, pooled over the
    first 50 curated prompts of NoveltyBench (Zhang et al. 2025, Gemini 1.5 Pro, 10 generations a prompt); the classes
    are those of the published classifier. Measured when it was distilled: 0.811, and 0.848 for the full teacher,
    all-MiniLM-L6-v2. Chance is 0.5.
    """
    pairs = list(cosines(shared_data("noveltybench_texts_first50.jsonl")))
    same, different = ([cosine for alike, cosine in pairs if alike is wanted] for wanted in (True, False))
    assert (len(same), len(different)) == (1596, 654)  # 50 prompts x 45 pairs
    wins = mannwhitneyu(same, different).statistic
    assert wins / (len(same) * len(different)) >= 0.80
