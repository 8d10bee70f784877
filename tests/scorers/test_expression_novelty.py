"""Expression novelty through real evaluations: its numbers, its rows, its options, and what it cannot measure."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from tests.scripted import OWL, evaluated, is_unscored, metadata, saying, scores, small_population, values

from genie_inspect.measures.infinity_gram import log_perplexity, novel_share
from genie_inspect.measures.tokens import tokens
from genie_inspect.populations.population import Population
from genie_inspect.scorers.expression_novelty import KEYS, NOTHING, expression_novelty

TOLD = (
    "The grey owl flew over the barns and slept until the morning came.",
    "A white owl sat in the snow, and the snow began to fall on it.",
    "An old owl lived on a clock; nobody heard it when the clock struck.",
)
STORY = "The grey owl flew over the barns. The “old owl” sat in the snow — and unbuttoned the sky. Hush!"


@pytest.fixture
def population(tmp_path: Path) -> Population:
    return small_population(tmp_path / "population", documents={OWL: TOLD})


def scored(population: Population, text: str, tmp_path: Path, **options: Any) -> Score:
    log = evaluated(expression_novelty(str(population.folder), **options), saying(text), None, tmp_path)
    (score,) = scores(log, "expression_novelty")
    return score


def rows(score: Score) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = metadata(score)["expressions"]
    return found


def test_every_expression_has_a_row_and_the_values_are_made_of_the_rows(population: Population, tmp_path: Path) -> None:
    score = scored(population, STORY, tmp_path)
    found = rows(score)
    assert [row["text"] for row in found] == [
        "The grey owl flew over the barns", 'The "old owl" sat in the snow', "and unbuttoned the sky"
    ]  # fmt: skip
    assert [STORY[row["start"] : row["end"]] for row in found] == [
        "The grey owl flew over the barns", "The “old owl” sat in the snow", "and unbuttoned the sky"
    ]  # fmt: skip
    corpus = [tokens(text) for text in TOLD]
    for row in found:
        forms = [tokens(text) for text in (row["text"], row["text"].replace("The", "the", 1))]
        assert row["log_perplexity"] == pytest.approx(min(log_perplexity(form, corpus) for form in forms))
        assert row["novel_share"] == pytest.approx(min(novel_share(form, corpus) for form in forms))
    mean = sum(row["log_perplexity"] for row in found) / 3
    # the first stands in the population as it is; of the others a quotation mark and "unbuttoned" do not
    assert [row["novel_share"] >= 0.15 for row in found] == [False, True, True]
    assert values(score) == {
        "log_perplexity_mean": pytest.approx(mean, abs=5e-3), "novel_expression_share": pytest.approx(2 / 3, abs=5e-4)
    }  # fmt: skip


def test_the_explanation_lists_expressions_by_perplexity_with_their_share_of_novel_ngrams(
    population: Population, tmp_path: Path
) -> None:
    score = scored(population, STORY, tmp_path)
    lines = [line for line in (score.explanation or "").splitlines() if line.startswith("| ")][1:]
    order = sorted(rows(score), key=lambda row: -row["log_perplexity"])
    assert [line.split(" | ")[0][2:].replace("\\", "") for line in lines] == [row["text"] for row in order]
    known = next(row for row in order if row["novel_share"] == 0)
    assert f"| {known['text']} | {known['log_perplexity']:.2f} | 0% |" in lines
    assert "2 of 3 expressions have 15% or more novel n-grams." in (score.explanation or "")
    long = scored(population, " ".join(f"the sky {number} sang." for number in range(30)), tmp_path)
    assert "The 20 least likely of 30. 30 of 30 expressions" in (long.explanation or "")


def test_a_capital_at_the_head_makes_nothing_new_unless_case_is_kept(population: Population, tmp_path: Path) -> None:
    text = "Snow began to fall on it."
    either, kept = scored(population, text, tmp_path), scored(population, text, tmp_path, case="kept")
    assert (values(either)["novel_expression_share"], values(kept)["novel_expression_share"]) == (0, 1)
    assert values(either)["log_perplexity_mean"] < values(kept)["log_perplexity_mean"]
    # neither "I" nor a word of capitals is made small
    for text in ("I SLEPT", "NASA slept"):
        (row,) = rows(scored(population, text, tmp_path))
        assert row["log_perplexity"] == pytest.approx(log_perplexity(text.split(), [tokens(told) for told in TOLD]))


def test_a_folder_of_texts_is_a_corpus(population: Population, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "sky.txt").write_text("Somebody came, and unbuttoned the sky.")
    score = scored(population, "They came and unbuttoned the sky.", tmp_path, corpus=str(tmp_path / "corpus"))
    assert rows(score)[0]["novel_share"] == 1 / 6
    assert "|corpus:folder(corpus)@" in metadata(score)["signature"]


@pytest.mark.parametrize("text", ["Hush!", "Yes, no; maybe.", "月。"])
def test_a_text_without_expressions_is_unscored_with_the_reason(
    population: Population, tmp_path: Path, text: str
) -> None:
    score = scored(population, text, tmp_path)
    assert score.reason == NOTHING == "no expression of two words or more"
    assert tuple(values(score)) == KEYS
    assert is_unscored(score)
