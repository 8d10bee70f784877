"""Ratings by people together, and judges beside them."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.agreement.test_calibration import ASKED, TARGETS, ratings

from genie_inspect.agreement.calibration import ALL
from genie_inspect.agreement.people import COLUMNS, PeopleAgreement, held_against_people, write_blind_table
from genie_inspect.agreement.raters import Ratings, RatingsFile, drawn, recorded_ratings
from genie_inspect.files.folders import DATA
from genie_inspect.populations.population import open_population
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.ranking import kendall

NAN = math.nan
FEATURES = ("plot", "setting", "style")
ANN, BOB = ratings("ann", 1, 2, 3, 4, 1, 4), ratings("bob", 1, 3, 3, 4, NAN, 2)
JUDGE = ratings("judge", 1, 2, 3, 4, 1.4, NAN)


def held(people: Sequence[Ratings], judges: Sequence[Ratings]) -> dict[str, PeopleAgreement]:
    return {row.feature: row for row in held_against_people(TARGETS, people, judges, FEATURES)}


def test_people_are_put_into_one_alpha_and_the_judge_is_held_against_median_and_mean() -> None:
    row = held([ANN, BOB], [JUDGE])["plot"]
    assert row.pairs == 5  # the fifth was rated by one person, and by the judge
    assert row.people_alpha == krippendorff_alpha([[1.0, 2, 3, 4, 1], [1, 3, 3, 4, NAN]])
    # medians; the judge's 1.4 is a 1
    assert row.judge_alpha == krippendorff_alpha([[1, 2.5, 3, 4, 1], [1.0, 2, 3, 4, 1]])
    assert row.tau == kendall([1, 2.5, 3, 4, 1], [1, 2, 3, 4, 1.4])


def test_a_consensus_from_a_file_that_is_held_against_people_keeps_its_halves() -> None:
    consensus = recorded_ratings(
        "all", dict(zip((p for t in TARGETS for p in t.pairs), (1, 2.5, 3, 4), strict=False)), TARGETS
    )
    row = held([ANN, BOB], [consensus])["plot"]
    assert row.judge_alpha == 1  # the medians are 1, 2.5, 3, 4


def test_the_median_and_the_mean_of_three_people_differ() -> None:
    third = ratings("cat", 4, 3, 1, 4, 1, 4)
    row = held([ANN, BOB, third], [JUDGE])["plot"]
    assert row.judge_alpha == krippendorff_alpha([[1, 3, 3, 4, 1], [1, 2, 3, 4, 1]])
    assert row.tau == kendall([2, 8 / 3, 7 / 3, 4, 1], [1, 2, 3, 4, 1.4])


def test_what_the_judge_did_not_rate_counts_among_people_alone() -> None:
    found = held([ANN, BOB], [JUDGE])
    assert (found["style"].pairs, found[ALL].pairs) == (0, 5)
    assert math.isnan(found["style"].judge_alpha)
    assert found["style"].people_alpha == krippendorff_alpha([[4], [2]])
    assert list(found) == ["plot", "style", ALL]


def test_without_a_judge_there_are_people_alone() -> None:
    row = held([ANN, BOB], [])[ALL]
    assert (row.judge, row.pairs, math.isnan(row.judge_alpha), math.isnan(row.tau)) == ("", 6, True, True)
    assert row.people_alpha == krippendorff_alpha([ANN.values, BOB.values])


def test_pairs_go_out_without_ratings_in_an_order_that_the_seed_shuffles(tmp_path: Path) -> None:
    orders = set()
    for seed in range(6):
        assert write_blind_table(tmp_path / f"{seed}.csv", TARGETS, seed) == 6
        with (tmp_path / f"{seed}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert tuple(rows[0]) == COLUMNS
        assert {(row["rating"], row["note"]) for row in rows} == {("", "")}
        assert {row["question"] for row in rows} == {question.text for question in ASKED}
        orders.add(tuple((row["answer"], row["other"]) for row in rows))
    assert len(orders) > 3
    assert "- 4: interchangeable" in (tmp_path / "0.md").read_text()


@pytest.fixture(scope="module")
def both() -> tuple[RatingsFile, RatingsFile]:
    population = open_population("starter")
    first, second = (
        RatingsFile(DATA / "starter" / name, population) for name in ("second_ratings.jsonl", "ratings.jsonl")
    )
    return first, second


def test_the_starters_two_ratings_go_out_blind_and_come_back_as_two_raters(
    both: tuple[RatingsFile, RatingsFile], tmp_path: Path
) -> None:
    population = open_population("starter")
    features = [feature.name for feature in population.features]
    targets = drawn(both[0].targets, 120, seed=3)
    told = [next(iter(file.raters.values())) for file in both]
    known = [recorded_ratings(name, table, targets) for name, table in zip(("ann", "bob"), told, strict=True)]
    files = []
    for rater in known:
        path = tmp_path / f"{rater.name}.csv"
        assert write_blind_table(path, targets) == 120
        said = dict(zip((pair for target in targets for pair in target.pairs), rater.values, strict=True))
        files.append(RatingsFile(_filled(path, said), population))
    back = [recorded_ratings(name, table, targets) for file in files for name, table in file.raters.items()]
    assert [rater.name for rater in back] == ["ann", "bob"]
    assert back[0].values == pytest.approx(known[0].values, nan_ok=True)
    assert held_against_people(targets, back, [], features) == held_against_people(targets, known, [], features)


def _filled(path: Path, said: dict[tuple[str, frozenset[str]], float]) -> Path:
    from genie_inspect.agreement.raters import pair

    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        rating = said[pair(row["id"], row["answer"], row["other"])]
        row["rating"] = "" if math.isnan(rating) else f"{rating:g}"
        row["note"] = "seen"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    return path
