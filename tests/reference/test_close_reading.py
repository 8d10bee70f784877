"""Figures of the study of n-gram novelty and creativity, from its released ratings.

Source: Saakyan et al. 2025 (arXiv 2509.22641); ratings and tables of models of asaakyan/ngram-creativity (Apache-2.0),
the tables as released beside these ratings (`linear_models/latex`), which the paper's own, of a later cut, differ from.
"""

import csv
import gzip
import json
import re
import shlex
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
import released_data
from click.testing import CliRunner
from numpy.typing import NDArray
from tests.documented import ROOT, blocks

from genie_inspect.cli import main
from genie_inspect.statistics.mixed import MixedModel, mixed_logistic
from genie_inspect.studies.close_reading.meeting import Rating, meeting
from genie_inspect.studies.close_reading.readers import batch_kappa

PAGE = (ROOT / "docs" / "more_studies.md").read_text(encoding="utf-8")
COMMANDS = next(text for _, text in blocks(PAGE))
Row = dict[str, str]
SOURCES = ("olmo1", "olmo2")
MAIN_STUDY = 10  # its last batch; two frontier models came in an eleventh
OUTLIER = 4.0  # as published, of the standardised log perplexity


def of_main_study(ratings: Iterable[Row]) -> list[Row]:
    return [row for row in ratings if int(row["batch"]) <= MAIN_STUDY]


@pytest.fixture
def ratings(shared_data: Callable[[str], Path]) -> list[Row]:
    """The main study's, without highlights."""
    with gzip.open(shared_data("close_reading_ratings.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        return of_main_study(csv.DictReader(file))


@pytest.fixture
def with_highlights(shared_data: Callable[[str], Path]) -> list[Row]:
    """Both studies', with what the experts marked themselves."""
    packed = shared_data("close_reading_ratings_and_highlights.csv.gz")
    with gzip.open(packed, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_true(row: Row, aspect: str) -> bool:
    return row[aspect] != "" and float(row[aspect]) == 1


def is_creative(row: Row) -> bool:
    return all(is_true(row, aspect) for aspect in ("novel", "meaningful", "pragmatic"))


def units(ratings: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    by_expression: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in ratings:
        by_expression[row["gen_passage_id"], row["ppl"]].append(row)
    return by_expression


def standardised(ratings: list[Row]) -> NDArray[np.float64]:
    logs = np.log([float(row["ppl"]) for row in ratings])
    z: NDArray[np.float64] = (logs - logs.mean()) / logs.std(ddof=1)
    return z


def without_outliers(ratings: list[Row]) -> tuple[list[Row], NDArray[np.float64]]:
    z = standardised(ratings)
    kept = np.abs(z) < OUTLIER
    return [row for row, keep in zip(ratings, kept, strict=True) if keep], z[kept]


def fitted(
    ratings: list[Row], outcome: Callable[[Row], bool], fixed: dict[str, NDArray[np.float64]], groups: dict[str, str]
) -> MixedModel:
    columns = {name: [row[column] for row in ratings] for name, column in groups.items()}
    return mixed_logistic([outcome(row) for row in ratings], fixed, columns)


def indicator(ratings: list[Row], source: str) -> NDArray[np.float64]:
    return np.array([row["gen_source"] == source for row in ratings], dtype=float)


def test_ratings_and_expressions_are_as_many_as_published(ratings: list[Row], with_highlights: list[Row]) -> None:
    by_expression = units(ratings)
    sizes = [len(unit) for unit in by_expression.values()]
    assert (len(ratings), len(sizes), sizes.count(3), sizes.count(6)) == (7542, 2513, 2512, 1)
    assert len(ratings) // 3 == 2514
    assert sum(any(is_true(row, "novel") for row in unit) for unit in by_expression.values()) == 427
    for aspect, failed in (("pragmatic", 535), ("meaningful", 216)):
        assert sum(not all(is_true(row, aspect) for row in unit) for unit in by_expression.values()) == failed
    # a highlight has a verdict; what nobody marked has none
    judged = [row for row in of_main_study(with_highlights) if row["meaningful"]]
    assert len(judged) - len(ratings) == 226


@pytest.mark.parametrize(("aspect", "mean", "spread"), [("novel", 0.7794, 0.1078), ("pragmatic", 0.7191, 0.1236)])
def test_experts_agree_over_the_ten_batches_as_published(
    ratings: list[Row], aspect: str, mean: float, spread: float
) -> None:
    counted = [
        (unit[0]["batch"], sum(is_true(row, aspect) for row in unit), 3)
        for unit in units(ratings).values()
        # the one of six ratings is two expressions that cannot be told apart
        if len(unit) == 3
    ]
    found = batch_kappa(counted)
    assert (found.batches, round(found.mean, 4), round(found.spread, 4)) == (10, mean, spread)


def rated(row: Row, log_perplexity: float) -> Rating:
    return Rating(
        source=row["gen_source"],
        cluster=row["seed_passage_id"],
        expression=(row["gen_passage_id"], row["ppl"]),
        log_perplexity=log_perplexity,
        novel=is_creative(row),
        awkward=row["pragmatic"] != "" and not is_true(row, "pragmatic"),
    )


def test_nine_in_ten_of_the_most_novel_quarter_are_not_creative_by_rating_and_eight_by_expression(
    with_highlights: list[Row],
) -> None:
    kept, z = without_outliers(of_main_study(with_highlights))
    found = meeting([rated(*pair) for pair in zip(kept, z, strict=True)], baseline="human", resamples=200)
    by_rating, by_expression = (shares.shares["novel"] for shares in (found.by_rating, found.by_expression))
    assert round(1 - by_rating.value, 4) == 0.9089
    assert round(1 - by_expression.value, 3) == 0.786
    assert by_rating.low < by_rating.value < by_rating.high < by_expression.low < by_expression.high
    assert round(found.novel_below_mean, 4) == 0.2395
    assert round(found.novel_in_lowest_quarter, 4) == 0.0717
    # the raw odds of both models are below people's, as in the mixed model (.51 and .61 there)
    assert all(found.sources[source].odds["novel"].high < 1 for source in SOURCES)


def test_the_mixed_model_of_creativity_is_lme4s(with_highlights: list[Row]) -> None:
    # lme4: beta 0.67536 (0.04063), -2600.2, variances 0.0930, 0.5545, 0.3736; AIC 5210.46 as released
    kept, z = without_outliers(of_main_study(with_highlights))
    start = time.monotonic()
    groups = {"source": "gen_source", "annotator": "annotator_id", "passage": "seed_passage_id"}
    model = fitted(kept, is_creative, {"log_ppl": z}, groups)
    assert time.monotonic() - start < 60
    assert (model.rows, model.groups) == (16_031, {"source": 3, "annotator": 26, "passage": 50})
    assert model.coefficients["log_ppl"] == pytest.approx(0.675, abs=0.001)
    assert model.standard_errors["log_ppl"] == pytest.approx(0.041, abs=0.001)
    assert model.log_likelihood == pytest.approx(-2600.23, abs=0.005)
    assert model.aic == pytest.approx(5210.46, abs=0.01)
    assert model.variances == pytest.approx({"source": 0.0930, "annotator": 0.5545, "passage": 0.3736}, abs=0.002)


def test_the_mixed_model_of_creativity_by_writer_is_the_released_one(with_highlights: list[Row]) -> None:
    kept, _ = without_outliers(with_highlights)
    writers = {writer: indicator(kept, writer) for writer in ("claude", "gpt5", *SOURCES)}
    model = fitted(kept, is_creative, writers, {"passage": "seed_passage_id", "annotator": "annotator_id"})
    assert (model.rows, model.groups) == (18_322, {"passage": 50, "annotator": 26})
    expected = {"intercept": -3.08, "claude": -0.67, "gpt5": -0.69, "olmo1": -0.67, "olmo2": -0.50}
    assert model.coefficients == pytest.approx(expected, abs=0.005)
    # half of the released 95% intervals over 1.96
    errors = {"intercept": 0.173, "claude": 0.24, "gpt5": 0.245, "olmo1": 0.12, "olmo2": 0.117}
    assert model.standard_errors == pytest.approx(errors, abs=0.006)
    assert model.log_likelihood == pytest.approx(-3017.03, abs=0.005)
    assert model.variances == pytest.approx({"passage": 0.35, "annotator": 0.52}, abs=0.005)


def pragmatic_by_writer(sensical: list[Row]) -> MixedModel:
    z = standardised(sensical)
    writers = {writer: indicator(sensical, writer) for writer in SOURCES}
    fixed = {"log_ppl": z, **writers, **{f"log_ppl:{writer}": z * column for writer, column in writers.items()}}
    groups = {"passage": "seed_passage_id", "annotator": "annotator_id"}
    return fitted(sensical, lambda row: is_true(row, "pragmatic"), fixed, groups)


def test_the_mixed_model_of_pragmaticality_by_writer_is_the_released_one(
    ratings: list[Row], with_highlights: list[Row]
) -> None:
    model = pragmatic_by_writer([row for row in of_main_study(with_highlights) if is_true(row, "meaningful")])
    assert model.rows == 7516
    expected = {"intercept": 3.91, "olmo1": -1.48, "olmo2": 0.44}
    expected |= {"log_ppl": 0.02, "log_ppl:olmo1": -0.19, "log_ppl:olmo2": -0.50}
    assert model.coefficients == pytest.approx(expected, abs=0.01)
    assert model.log_likelihood == pytest.approx(-1373.54, abs=0.01)
    assert model.variances == pytest.approx({"passage": 0.31, "annotator": 1.99}, abs=0.005)
    # in the ratings alone the slopes are the paper's
    slopes = pragmatic_by_writer([row for row in ratings if is_true(row, "meaningful")]).coefficients
    human = slopes["log_ppl"]
    by_writer = [human, human + slopes["log_ppl:olmo1"], human + slopes["log_ppl:olmo2"]]
    assert [round(slope, 2) for slope in by_writer] == [0.01, -0.18, -0.48]


def test_the_eight_released_tables_come_out_as_the_page_has_them(
    shared_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = shared_data("close_reading_ratings_and_highlights.csv.gz")
    (tmp_path / "prehlt_and_hlt.csv").write_bytes(gzip.decompress(packed.read_bytes()))
    monkeypatch.chdir(tmp_path)
    released_data.close_reading_ratings("prehlt_and_hlt.csv")  # what the page tells a user to run
    shown = [row.strip("|").split("|") for row in re.findall(r"^\| [A-H] \|.*$", PAGE, re.MULTILINE)]
    commands = [line for line in COMMANDS.splitlines() if line.startswith("genie ")]
    for command, (_, _, ratings, released, here) in zip(commands, shown, strict=True):
        fit = json.loads(CliRunner().invoke(main, [*shlex.split(command)[1:], "--json"]).stdout)
        assert f"{fit['rows']:,}" == ratings.strip()
        *coefficients, likelihood = (float(number) for number in re.findall(r"-?\d*\.\d+", here))
        effects = [own["coefficient"] for name, own in fit["effects"].items() if name != "intercept"]
        assert coefficients == pytest.approx(effects, abs=0.0051)
        assert likelihood == round(fit["log_likelihood"], 2)
        printed = [float(number) for number in re.findall(r"-?\d*\.\d+", released)]
        assert printed == pytest.approx([*coefficients, likelihood], abs=0.0101)
