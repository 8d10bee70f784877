"""Which reader and judge an option stands for."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from inspect_ai.model import Model, ModelName

from genie_inspect.asking.grader import grader
from genie_inspect.asking.prerequisites import unmet
from genie_inspect.engines.embedders.choices import Embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.answering import AnswerMemo
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.embedded import EmbeddedJudge, EmbeddedReader
from genie_inspect.judges.grader_reader import GraderReader
from genie_inspect.judges.list_judge import LIST
from genie_inspect.judges.logit_judge import LOGIT
from genie_inspect.judges.merging import RatingMemo
from genie_inspect.judges.modes import Mode
from genie_inspect.judges.pairwise_judge import PAIRWISE
from genie_inspect.judges.protocols import Judge, Reader
from genie_inspect.prompting.templates import load_template

EMBEDDED = "embedded"
RECORDED = "bundled"
MODES = {mode.name: mode for mode in (LIST, PAIRWISE, LOGIT)}
"""Judges that ask a grader, by name."""


def mode_of(judge: str) -> Mode:
    """The record of a judge that asks a grader.

    Raises:
        UnknownChoiceError: If no mode has the name.
    """
    if judge not in MODES:
        raise UnknownChoiceError("judge", judge, "one of " + ", ".join(MODES))
    return MODES[judge]


def check_judge(judge: str, templates: Path | str | None = None) -> None:
    """Refuse an unknown judge and unusable templates, before anything is asked.

    Raises:
        UnknownChoiceError: If the judge is none of list, pairwise, logit and embedded.
        TemplateError: If a template of the user's has other blanks than ours.
    """
    if judge not in (*MODES, EMBEDDED):
        raise UnknownChoiceError("judge", judge, "one of " + ", ".join((*MODES, EMBEDDED)))
    load_template("read", {"count", "data"}, templates)
    for mode in MODES.values():
        mode.instruction(templates)


def grader_for(judge: str) -> Model | None:
    """The model that a judge asks; None when it asks none.

    Args:
        judge: One of list, pairwise and embedded, or whatever else asks the grader, such as `ttcw`.

    Raises:
        PrerequisiteError: If the judge asks a model and no grader role is bound, or one that cannot do what it needs.
    """
    if judge == EMBEDDED:
        return None
    model = grader(judge, replaceable=judge in MODES)
    if judge in MODES and (check := MODES[judge].check):
        try:
            check(model)
        except UnknownChoiceError as error:
            raise unmet(error) from error
    return model


def cache_for(model: Model, cache: Cache | None) -> Cache | None:
    """The cache, but none for a replay: it is at once, and an upgrade may bring another record."""
    return None if ModelName(model).api == RECORDED else cache


def reader_and_judge(
    judge: str,
    model: Model | None,
    embedder: Embedder,
    words: Mapping[str, Sequence[str]],
    templates: Path | str | None = None,
    cache: Cache | None = None,
) -> tuple[Reader, Judge]:
    """The reader and the judge behind `judge=`.

    Args:
        judge: `list` (one call rates one answer against many), `pairwise` (the study's protocol), `logit` (one token a
            pair) or `embedded` (no model).
        model: Who is asked, from `grader_for`.
        embedder: For `embedded`.
        words: Generic words of each feature, for `embedded`.
        templates: A folder of the user's own templates, for the others.
        cache: Where answers and ratings are kept and looked up; None asks everything anew.

    Raises:
        UnknownChoiceError: If the model's provider cannot do what the judge needs.
    """
    if model is None:
        return EmbeddedReader(embedder, words), EmbeddedJudge(embedder)
    cache = cache_for(model, cache)
    reader = GraderReader(model, templates, AnswerMemo(cache))
    return reader, MODES[judge].judge(model, templates, RatingMemo(cache))
