"""Which equivalence and which quality an option of the panel stands for."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from inspect_ai.model import Model

from genie_inspect.asking.grader import ROLE, bound_when_scored, judging_model
from genie_inspect.engines.embedders.choices import Embedder
from genie_inspect.engines.models.equivalence import (
    PUBLISHED_CLASSIFIER,
    ClassifierEquivalence,
    EmbeddedEquivalence,
    LocalEquivalence,
)
from genie_inspect.engines.models.rewards import PUBLISHED_REWARD, RewardModel
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.panel_judges.equivalence import SAME, ComputedEquivalence, Equivalence, GraderEquivalence
from genie_inspect.panel_judges.quality import QUALITY, GraderQuality, Quality, RewardQuality

GRADER, EMBEDDED, CLASSIFIER, REWARD = "grader", "embedded", "classifier", "reward"
EQUIVALENCES = "grader, embedded, classifier or classifier/<hub id or folder>"
QUALITIES = "grader, reward or reward/<hub id or folder>"
NO_GRADER = f"""\
{{option}} asks a model, and no grader is named: it must not be the model under evaluation by accident.
Two ways out:
  --model-role {ROLE}=<provider/model>   any model of your choice
  {{other}}"""
OTHER_EQUIVALENCE = (
    "equivalence=classifier (published, an extra) or embedded (a smoke test): -T novelty_partition, -S a scorer; in a "
    "panel -T panel=cheap"
)
OTHER_QUALITY = "quality=reward (published, an extra): -T for a task"


def equivalence_kind(equivalence: str) -> str:
    """Whether an equivalence is `grader`, `embedded` or some `classifier`.

    Raises:
        UnknownChoiceError: If it is none of these.
    """
    return _kind("equivalence", equivalence, (GRADER, EMBEDDED), CLASSIFIER, EQUIVALENCES)


def quality_kind(quality: str) -> str:
    """Whether a quality is `grader` or some `reward`.

    Raises:
        UnknownChoiceError: If it is neither.
    """
    return _kind("quality", quality, (GRADER,), REWARD, QUALITIES)


def _kind(option: str, choice: str, plain: tuple[str, ...], with_model: str, accepted: str) -> str:
    kind, slash, model = choice.partition("/")
    # "classifier/" names no model: a typing mistake, not the published one
    if choice in plain or (kind == with_model and bool(slash) == bool(model)):
        return kind
    raise UnknownChoiceError(option, choice, accepted)


def chosen_equivalence(
    equivalence: str, embedder: Embedder, threshold: float | None, templates: Path | str | None = None
) -> Callable[[], Equivalence]:
    """Gives the equivalence when a sample is scored: the grader's only then, for its role is bound so late.

    Raises:
        UnknownChoiceError: If the equivalence is unknown, embedded without a measured or given threshold, or a
            grader's with one.
        MissingExtraError: If the classifier's extra is not installed.
        EngineFailedError: If a classifier's folder lacks something.
        TemplateError: If a template of the user's has other blanks than ours.
    """
    if equivalence_kind(equivalence) == GRADER:
        if threshold is not None:
            raise UnknownChoiceError(
                "threshold", threshold, "none with equivalence=grader, which says same or different"
            )
        return bound_when_scored(equivalence_grader, partial(GraderEquivalence, template=SAME.template(templates)))
    computed = ComputedEquivalence(_engine(equivalence, embedder, threshold))
    return lambda: computed


def _engine(equivalence: str, embedder: Embedder, threshold: float | None) -> LocalEquivalence:
    if equivalence == EMBEDDED:
        return EmbeddedEquivalence(embedder, threshold)
    _, _, model = equivalence.partition("/")
    chosen = {} if threshold is None else {"threshold": threshold}
    return ClassifierEquivalence(model or PUBLISHED_CLASSIFIER, **chosen)


def chosen_quality(quality: str, templates: Path | str | None = None) -> Callable[[], Quality]:
    """Gives the quality when a sample is scored: the grader's only then, for its role is bound so late.

    Raises:
        UnknownChoiceError: If the quality is unknown.
        MissingExtraError: If the reward model's extra is not installed.
        EngineFailedError: If a reward model's folder lacks something.
        TemplateError: If a template of the user's has other blanks than ours.
    """
    if quality_kind(quality) == GRADER:
        return bound_when_scored(quality_grader, partial(GraderQuality, template=QUALITY.template(templates)))
    _, _, model = quality.partition("/")
    computed = RewardQuality(RewardModel(model or PUBLISHED_REWARD))
    return lambda: computed


def equivalence_grader() -> Model:
    """The grader for `equivalence=grader`.

    Raises:
        PrerequisiteError: If the role is not bound, naming the ways out.
    """
    return judging_model(
        (ROLE,), "equivalence=grader", NO_GRADER.format(option="equivalence=grader", other=OTHER_EQUIVALENCE)
    )


def quality_grader() -> Model:
    """The grader for `quality=grader`.

    Raises:
        PrerequisiteError: If the role is not bound, naming the ways out.
    """
    return judging_model((ROLE,), "quality=grader", NO_GRADER.format(option="quality=grader", other=OTHER_QUALITY))
