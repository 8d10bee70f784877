"""The fit that ships is what its tool makes of the recorded ratings, and its figures stand where the judge is named."""

from pathlib import Path
from types import ModuleType

import pytest
from tests.tools import tool_named

from genie_inspect.files.folders import DATA
from genie_inspect.graders.vectors_judge import shipped_fit, shown

ROOT = Path(__file__).parents[1]
CARD = DATA / "starter" / "README.md"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return tool_named("measure_vectors_fit")


def test_the_fit_that_ships_is_what_the_tool_makes_of_the_ratings(tool: ModuleType) -> None:
    fit, shipped = tool.measured(), shipped_fit()
    for name, part in (shipped.features | {"": shipped.pooled}).items():
        anew = fit.features[name] if name else fit.pooled
        assert (anew.pairs, anew.answers) == (part.pairs, part.answers)
        # another processor rounds otherwise
        assert anew.kendall == pytest.approx(part.kendall, abs=0.01)


def test_the_data_card_has_the_table_of_the_fit_that_ships(tool: ModuleType) -> None:
    assert "\n".join(tool.table(shipped_fit())) in CARD.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/judging.md"])
def test_a_page_that_names_the_judge_has_its_figures(page: str) -> None:
    whole = shipped_fit().pooled
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"Spearman {shown(whole.spearman)}, tau {shown(whole.kendall)}" in text
    assert "a screen, no verdict" in text
