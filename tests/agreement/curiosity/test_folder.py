import hashlib
from pathlib import Path

import pytest
from tests.engines.curiosity.explained import HABIT, SAID, STORIES, votes

from genie_inspect.agreement.curiosity.comparison import CuriosityComparison, Plan, compared
from genie_inspect.agreement.curiosity.folder import CuriosityManifest, card, write_curiosity
from genie_inspect.engines.curiosity.explanations import EXPLANATIONS, READS_THE_ANSWER, Explanation
from genie_inspect.engines.curiosity.sentence_vectors import VectorCuriosity
from genie_inspect.errors import UnwritableError

VOTES = votes(12)
MODELS = {reading: VectorCuriosity(reading) for reading in EXPLANATIONS}


@pytest.fixture(scope="module")
def comparisons() -> dict[Explanation, CuriosityComparison]:
    return {reading: compared(VOTES, MODELS, reading, Plan(folds=3, resamples=5)) for reading in EXPLANATIONS}


@pytest.fixture
def folder(comparisons: dict[Explanation, CuriosityComparison], tmp_path: Path) -> Path:
    write_curiosity(tmp_path / "mine", VOTES, MODELS["held-out"], comparisons["held-out"])
    return tmp_path / "mine"


def test_the_folder_holds_weights_settings_and_counts(
    folder: Path, comparisons: dict[Explanation, CuriosityComparison]
) -> None:
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert files == ["card.md", "curiosity.json", "weights/coefficients.npz"]
    manifest = CuriosityManifest.model_validate_json((folder / "curiosity.json").read_bytes())
    assert repr(manifest.comparison) == repr(comparisons["held-out"])  # NaN is unlike itself
    assert manifest.votes_by_rater == {"ann": 12, "bob": 12}
    assert manifest.comparison.settings == {"rater_weight": 1, "ridge": 1, "penalty": 1}
    content = (folder / "weights/coefficients.npz").read_bytes()
    assert manifest.weights == {"weights/coefficients.npz": hashlib.sha256(content).hexdigest()}


def test_no_story_explanation_question_or_verdict_is_in_the_folder(folder: Path) -> None:
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode("latin-1")
    for text in (*STORIES, *SAID.values(), *HABIT.values(), "Is it original", "_model"):
        assert text not in content


def test_manifest_and_card_say_that_the_answer_is_read(folder: Path) -> None:
    for name in ("curiosity.json", "card.md"):
        assert READS_THE_ANSWER in (folder / name).read_text(encoding="utf-8")


def test_a_card_without_the_explanation_does_not_say_so(comparisons: dict[Explanation, CuriosityComparison]) -> None:
    lines = "\n".join(card(comparisons["none"]))
    assert "the answer" not in lines
    assert "| held out in 3 folds | without the explanation, whole plots | share of yes by test, whole plots |" in lines


def test_a_card_has_a_row_a_figure_and_a_column_a_reading(comparisons: dict[Explanation, CuriosityComparison]) -> None:
    rows = [line for line in card(comparisons["held-out"]) if line.startswith("|")]
    assert [row.split(" |")[0] for row in rows[2:]] == ["| Pearson", "| F1", "| log loss", "| AUC", "| Cohen's kappa"]
    assert {row.count("|") for row in rows} == {6}
    value = comparisons["held-out"].columns[0].figures["auc"]
    assert f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]" in rows[5]


def test_what_stands_at_the_output_is_left_alone(
    folder: Path, comparisons: dict[Explanation, CuriosityComparison]
) -> None:
    with pytest.raises(UnwritableError, match="mine"):
        write_curiosity(folder, VOTES, MODELS["none"], comparisons["none"])
