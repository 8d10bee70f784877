from inspect_ai.viewer import ScoreColorScale, TaskSamplesView, ViewerConfig

from genie_inspect.tasks.novelty import HIDDEN, WIDE, feature_view, score_view

DOCUMENT = ["score__document__words", "score__document__coverage", "score__document__unscored"]


def table(view: ViewerConfig) -> TaskSamplesView:
    assert isinstance(view.task_samples_view, TaskSamplesView)
    return view.task_samples_view


def test_each_feature_has_a_column_in_words_and_a_colour_that_says_size_alone() -> None:
    shown = table(feature_view("genie", ["plot", "social_atmosphere"]))
    visible = [column.id for column in shown.columns or [] if column.visible]
    assert visible[-5:] == ["score__genie__plot", "score__genie__social_atmosphere", *DOCUMENT]
    assert shown.score_labels == {
        **{"plot": "plot", "social_atmosphere": "social atmosphere"},
        **{"words": "words", "coverage": "coverage", "unscored": "unscored"},
    }
    assert shown.score_color_scales == {
        key: ScoreColorScale(palette="neutral") for key in ("plot", "social_atmosphere")
    }


def test_of_a_measure_of_the_panel_the_first_key_shows_and_the_others_wait() -> None:
    shown = table(feature_view("genie", ["plot"], {"cosine": ("cosine", "cosine_nearest")}))
    columns = {column.id: column.visible for column in shown.columns or []}
    assert columns["score__cosine__cosine"]
    assert not columns["score__cosine__cosine_nearest"]
    assert shown.score_color_scales is not None
    assert shown.score_color_scales["cosine"] == ScoreColorScale(palette="neutral")


def test_what_models_said_is_shown_as_text_and_scores_stand_in_their_own_order() -> None:
    view = feature_view("genie", ["plot"])
    assert view.trust_content is False
    assert view.sample_score_view is not None
    assert view.sample_score_view.sort is None


def test_what_says_nothing_of_novelty_is_hidden() -> None:
    columns = {column.id: column.visible for column in table(score_view("Documents", {}, {})).columns or []}
    assert not any(columns[hidden] for hidden in HIDDEN)


def test_many_columns_are_narrow_and_heads_lose_what_they_share() -> None:
    keys = [f"ttcw_{number}" for number in range(WIDE + 1)]
    shown = table(score_view("Tests passed", {"ttcw": keys}, {}, prefix="ttcw_"))
    assert shown.compact_scores
    assert (shown.score_labels or {})["ttcw_3"] == "3"
