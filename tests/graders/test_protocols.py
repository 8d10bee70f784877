from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.protocols import SMOKE_TEST, caution
from genie_inspect.graders.vectors_judge import vectors_judge


def test_a_judge_that_reads_needs_no_caution() -> None:
    assert caution("list(openai/gpt-4o@1,chunk=50,template=2)") == caution("") == ""


def test_the_embedded_judge_is_a_smoke_test() -> None:
    assert caution("embedded(static@1,anchors=starter)") == SMOKE_TEST


def test_the_vectors_judge_is_a_screen_with_the_figures_of_its_fit() -> None:
    said = caution("vectors(static@1,fit=2,spearman=0.61,kendall=not defined)")
    assert said.startswith("Vectors judge: a screen, no verdict.")
    assert said.endswith("Spearman 0.61, Kendall's tau-b not defined.")


def test_features_without_a_fit_are_named() -> None:
    judge = vectors_judge(embedder(), features=["plot", "pace", "mood"])
    assert caution(judge.signature).endswith("judged by the one over all features: mood, pace.")


def test_an_embedders_name_says_nothing_of_the_figures() -> None:
    said = caution("vectors(sentence-transformers/spearman=1,kendall=1@1,fit=2,spearman=0.61,kendall=0.50)")
    assert said.endswith("Spearman 0.61, Kendall's tau-b 0.50.")


def test_figures_that_a_signature_does_not_have_are_not_measured_and_a_name_that_is_like_another_is_its_own() -> None:
    assert caution("vectors(static@1)").endswith("Spearman not measured, Kendall's tau-b not measured.")
    assert caution("list(embedded/model@1)") == caution("vectors2(static@1)") == ""
