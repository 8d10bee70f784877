import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import FitError
from genie_inspect.graders.vectors_judge import SHIPPED, fit_for, read_fit, shipped_fit
from genie_inspect.populations.population import open_population

STARTER = open_population("starter")


def changed(folder: Path, **parts: Any) -> Path:
    """The fit that ships with other values, in a file of its own."""
    facts = json.loads(SHIPPED.read_text(encoding="utf-8")) | parts
    (folder / "fit.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder / "fit.json"


def pooled(**parts: Any) -> dict[str, Any]:
    return dict(json.loads(SHIPPED.read_text(encoding="utf-8"))["pooled"], **parts)


def test_the_fit_that_ships_is_of_the_starter_population_as_it_ships() -> None:
    fit = shipped_fit()
    assert fit.population == STARTER.name  # else run tools/measure_vectors_fit.py
    assert fit.embedder == embedder().identity
    assert set(fit.features) == {feature.name for feature in STARTER.features}
    assert fit.pooled.pairs == sum(part.pairs for part in fit.features.values())


def test_the_fit_that_ships_ranks_better_than_chance_and_is_no_reader() -> None:
    fit = shipped_fit().pooled
    assert fit.kendall is not None
    assert fit.spearman is not None
    assert 0.2 < fit.kendall < fit.spearman < 0.9


def test_the_nearer_the_vectors_the_higher_the_rating() -> None:
    for feature in (*shipped_fit().features, "unheard of"):
        ratings = [shipped_fit().rating(feature, cosine / 10) for cosine in range(-10, 11)]
        assert ratings == sorted(ratings)
        assert 1 <= ratings[0] < ratings[-1] <= 4


def test_a_fit_of_the_users_is_read_and_its_digest_tells_it_apart(tmp_path: Path) -> None:
    assert fit_for(embedder(), str(changed(tmp_path))) == shipped_fit()
    assert read_fit(changed(tmp_path, raters=["me"])).digest != shipped_fit().digest


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"pooled": pooled(knots=[])}, "field pooled.knots"),
        ({"pooled": pooled(knots=[[0.2, 1.0], [0.1, 2.0]])}, "expected cosines that rise"),
        ({"pooled": pooled(knots=[[0.1, 2.0], [0.2, 1.0]])}, "ratings that do not fall"),
        ({"pooled": pooled(knots=[[0.1, 5.0]])}, "less than or equal to 4"),
        ({"pooled": pooled(spearman=2)}, "field pooled.spearman"),
        ({"knots": []}, "field knots"),
        ({"embedder": "letters@1"}, "was measured with letters@1"),
    ],
)
def test_a_file_that_is_no_fit_for_the_embedder_is_one_line_that_names_it(
    parts: dict[str, Any], named: str, tmp_path: Path
) -> None:
    file = changed(tmp_path, **parts)
    with pytest.raises(FitError) as caught:
        fit_for(embedder(), str(file))
    assert named in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_fit_that_ships_says_that_it_is_not_for_another_embedder() -> None:
    class Letters:
        name, identity = "letters", "letters@1"

        def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
            raise NotImplementedError

    with pytest.raises(FitError, match=r"'letters' \(letters@1\) and the fit that ships was measured with static@"):
        fit_for(Letters())


def test_a_file_that_is_not_there_says_what_would_write_it(tmp_path: Path) -> None:
    with pytest.raises(FitError, match=r"nowhere\.json cannot be read: No such file .*--fit-vectors"):
        fit_for(embedder(), str(tmp_path / "nowhere.json"))


def test_a_fit_of_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fit.json").write_text("fit", encoding="utf-8")
    with pytest.raises(FitError, match=r"fit\.json: Invalid JSON"):
        read_fit(tmp_path / "fit.json")
