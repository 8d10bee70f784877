"""The printed figures, by hand from the tables."""

from genie_inspect.reports.sensitivity.published import EFFECTS, FEATURES, MATRIX, Published


def test_a_column_has_a_figure_for_each_feature_and_the_paraphrase_with_its_mark() -> None:
    assert EFFECTS["genie"]["perspective"] == Published(1.01, holds=True)
    assert EFFECTS["genie"]["paraphrase"] == Published(0.03, holds=True)
    assert EFFECTS["compression_novelty"]["perspective"] == Published(-0.19, holds=True)
    assert EFFECTS["partition_novel"]["style"] == Published(0.07, holds=False)
    assert EFFECTS["litbench_win_rate"]["paraphrase"] == Published(-0.94, holds=False)
    assert {tuple(column) for column in EFFECTS.values()} == {(*FEATURES, "paraphrase")}


def test_the_matrix_has_the_column_of_genie_on_its_diagonal_and_its_paraphrase_as_the_mean_of_a_row() -> None:
    assert [MATRIX[name][name] for name in FEATURES] == [EFFECTS["genie"][name].effect for name in FEATURES]
    told = MATRIX["paraphrase"].values()
    assert round(sum(told) / len(told), 2) == EFFECTS["genie"]["paraphrase"].effect
    assert MATRIX["plot"] == dict(zip(FEATURES, (0.55, 0.04, 0.71, 0.35, 0.21, 0.23), strict=True))
