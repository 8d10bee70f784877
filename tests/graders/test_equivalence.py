"""What the panel's options stand for, and what is refused before anything is asked."""

from pathlib import Path

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model
from inspect_ai.model._model import init_model_roles  # as an evaluation binds them, in no public way

from genie_inspect.engines.classifiers import PUBLISHED_CLASSIFIER, PUBLISHED_REWARD
from genie_inspect.engines.embedders import embedder
from genie_inspect.engines.models import with_commit
from genie_inspect.errors import MissingExtraError, TemplateError, UnknownChoiceError
from genie_inspect.graders.equivalence import chosen_equivalence, chosen_quality, equivalence_kind
from genie_inspect.graders.quality import RewardQuality
from genie_inspect.solvers.requirements import require_models


def test_the_grader_is_looked_for_when_a_sample_is_scored() -> None:
    for judge in (chosen_equivalence("grader", embedder(), None), chosen_quality("grader")):
        with pytest.raises(PrerequisiteError, match="no grader is named"):
            judge()


def test_the_embedded_equivalence_has_a_measured_threshold_for_the_static_embedder() -> None:
    chosen = chosen_equivalence("embedded", embedder(), None)()
    assert chosen.signature == f"embedded({embedder().identity},threshold=0.79)"
    own = chosen_equivalence("embedded", embedder(), 0.5)()
    assert own.signature == f"embedded({embedder().identity},threshold=0.5)"


def test_a_grader_says_same_or_different_and_takes_no_threshold() -> None:
    with pytest.raises(UnknownChoiceError, match=r"threshold is 0.5, expected none with equivalence=grader"):
        chosen_equivalence("grader", embedder(), 0.5)


def test_for_another_embedder_a_threshold_must_be_given() -> None:
    with pytest.raises(UnknownChoiceError, match=r"threshold is None, expected a cosine for embedder openai/small"):
        chosen_equivalence("embedded", embedder("openai/small"), None)


@pytest.mark.parametrize("unknown", ["bert", "", "classifier/", "embedded/x"])
def test_an_unknown_equivalence_is_refused_with_the_known_ones(unknown: str) -> None:
    with pytest.raises(UnknownChoiceError, match=f"^equivalence is {unknown!r}, expected grader, embedded, classifier"):
        chosen_equivalence(unknown, embedder(), None)


@pytest.mark.parametrize("unknown", ["skywork", "", "reward/"])
def test_an_unknown_quality_is_refused_with_the_known_ones(unknown: str) -> None:
    with pytest.raises(UnknownChoiceError, match=f"^quality is {unknown!r}, expected grader, reward"):
        chosen_quality(unknown)


def test_without_the_extra_a_model_is_refused_when_it_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.models.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="needs the extra classifier: pip install"):
        chosen_equivalence("classifier", embedder(), None)
    with pytest.raises(MissingExtraError, match="needs the extra reward: pip install"):
        chosen_quality("reward")


def test_a_template_with_other_blanks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "same_list.md").write_text("Compare $this.")
    with pytest.raises(TemplateError, match="same_list"):
        chosen_equivalence("grader", embedder(), None, tmp_path)
    (tmp_path / "rate_quality.md").write_text("Rate $this.")
    with pytest.raises(TemplateError, match="rate_quality"):
        chosen_quality("grader", tmp_path)


@pytest.mark.parametrize(("option", "model"), [("reward", PUBLISHED_REWARD), ("reward/some/model", "some/model")])
def test_a_reward_model_is_the_published_one_or_the_one_that_is_named(
    option: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genie_inspect.engines.models.find_spec", lambda name: object())
    chosen = chosen_quality(option)()
    assert isinstance(chosen, RewardQuality)
    assert chosen.model.model == with_commit(model)
    assert ("thresholds of another model" in chosen.signature) == (model != PUBLISHED_REWARD)


@pytest.mark.parametrize(
    ("equivalence", "kind"),
    [
        ("grader", "grader"),
        ("embedded", "embedded"),
        ("classifier", "classifier"),
        ("classifier/some/model", "classifier"),
    ],
)
def test_an_equivalence_is_of_one_of_three_kinds(equivalence: str, kind: str) -> None:
    assert equivalence_kind(equivalence) == kind


@pytest.mark.parametrize(
    "options", [{"equivalence": "classifier/"}, {"equivalence": "embedded/x"}, {"quality": "reward/"}]
)
def test_what_no_scorer_accepts_the_check_before_a_run_refuses_too(options: dict[str, str]) -> None:
    with pytest.raises(PrerequisiteError, match="expected grader"):
        require_models(**options)  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(("threshold", "shown"), [(None, "0.102"), (0.4, "0.4"), (0.0, "0")])
def test_a_classifier_takes_the_threshold_that_is_given_and_else_the_published_one(
    threshold: float | None, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genie_inspect.engines.models.find_spec", lambda name: object())
    chosen = chosen_equivalence("classifier/some/model", embedder(), threshold)()
    assert "some/model" in chosen.signature
    assert chosen.signature.endswith(f",threshold={shown})")


def test_the_classifier_without_a_name_is_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.models.find_spec", lambda name: object())
    assert PUBLISHED_CLASSIFIER in chosen_equivalence("classifier", embedder(), None)().signature


def test_a_recorded_grader_judges_nothing_else_and_is_refused_by_who_needs_another() -> None:
    init_model_roles({"grader": get_model("bundled/grader")})
    try:
        for judge, named in (
            (chosen_equivalence("grader", embedder(), None), "equivalence=grader"),
            (chosen_quality("grader"), "quality=grader"),
        ):
            with pytest.raises(PrerequisiteError, match=f"bundled/grader has its readings .* {named} needs a real"):
                judge()
    finally:
        init_model_roles({})


def test_who_lacks_a_grader_reads_which_option_asks_and_the_ways_out() -> None:
    for judge, option, other in (
        (chosen_equivalence("grader", embedder(), None), "equivalence=grader", "equivalence=classifier"),
        (chosen_quality("grader"), "quality=grader", "quality=reward"),
    ):
        with pytest.raises(PrerequisiteError) as caught:
            judge()
        assert str(caught.value.message).startswith(f"{option} asks a model")
        assert f"  {other} (published, an extra)" in str(caught.value.message)
