"""What documents are measured by: the judge, its wording and its embedder, chosen and checked in one place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from inspect_ai.model import Model

from genie_inspect.engines.embedders.cache import CachedEmbedder
from genie_inspect.engines.embedders.choices import Embedder
from genie_inspect.engines.embedders.choices import embedder as chosen_embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.answering import AnswerMemo
from genie_inspect.judges.by_vectors.embedded import EmbeddedJudge, EmbeddedReader
from genie_inspect.judges.cache import Cache, cache_folder
from genie_inspect.judges.choices import EMBEDDED, MODES, cache_for, graders_for, mode_and_fit
from genie_inspect.judges.grader_reader import CONCISE, LENGTHS, AnswerLength, GraderReader
from genie_inspect.judges.merging import RatingMemo
from genie_inspect.judges.protocols import Judge, Reader
from genie_inspect.measures.genie import MIN_COVERAGE
from genie_inspect.options import check_share, check_switch, check_text
from genie_inspect.populations.schema import Feature
from genie_inspect.prompting.templates import Template


@dataclass(frozen=True, slots=True)
class Wording:
    """The templates of the reader and of every judge that asks a grader."""

    read: Template
    rate: Mapping[str, Template]
    """By the name of the instruction."""

    @classmethod
    def load(cls, folder: Path | str | None = None, length: AnswerLength = LENGTHS[CONCISE]) -> Self:
        """The bundled templates, and in place of some of them those in a folder of the user's own.

        Args:
            folder: The user's own; none where None.
            length: Of the reader's answers, which has a template of its own.

        Raises:
            TemplateError: If the folder is missing, or a template in it has other blanks than ours.
        """
        rate = {mode.instruction.name: mode.instruction.template(folder) for mode in MODES.values()}
        return cls(length.instruction.template(folder), rate)


@dataclass(frozen=True)
class Instrument:
    """The options that say how documents are compared; checked when it is made, before anything is asked.

    Raises:
        UnknownChoiceError: If an option is none of those that it accepts.
        TemplateError: If a template of the user's cannot be used.
        MissingExtraError: If the embedder's extra is not installed.
        FitError: If vectors are to judge, and their fit cannot be read or was measured with another embedder.
    """

    judge: str
    """`list` (one call rates one answer against many: 50, or as `list/10` says), `pairwise` (the study's protocol),
    `logit` (one token a pair), `vectors` (readings alone are asked for; `vectors/<file>` names a fit) or
    `embedded` (no model: a smoke test)."""
    embedder: str = "static"
    """For `vectors` and `embedded`."""
    templates: str | None = None
    """A folder of the user's own templates, for the others."""
    cache: bool = True
    """Whether answers and ratings that a model once gave are looked up and kept; false asks anew."""
    min_coverage: float = MIN_COVERAGE
    """Least share of a question's ratings due with which it is used, 0 to 1."""
    answer_length: str = CONCISE
    """How long the answers are that the reader gives: `concise`, `sentence` or `free`."""

    def __post_init__(self) -> None:
        check_text("embedder", self.embedder)
        check_switch("cache", self.cache)
        mode, fit = (None, "") if self.judge == EMBEDDED else mode_and_fit(self.judge, [EMBEDDED])
        check_share("min_coverage", self.min_coverage)
        # the reader without a model quotes the document's sentences, and has no other length
        lengths = [CONCISE] if self.is_smoke_test else list(LENGTHS)
        if self.answer_length not in lengths:
            beside = f" (judge={EMBEDDED} asks nobody for answers)" if self.is_smoke_test else ""
            raise UnknownChoiceError("answer_length", self.answer_length, f"one of {', '.join(lengths)}{beside}")
        # loaded now, so that a wrong template or embedder ends a run before anything is generated
        _ = self.wording, self.engine
        if mode and mode.by_vectors:
            mode.by_vectors(self.engine, fit, ())

    @cached_property
    def wording(self) -> Wording:
        """The templates, loaded once."""
        return Wording.load(self.templates, LENGTHS[self.answer_length])

    @cached_property
    def engine(self) -> Embedder:
        """The embedder that its option names."""
        return chosen_embedder(self.embedder)

    @cached_property
    def _cache(self) -> Cache | None:
        return Cache() if self.cache else None

    @property
    def is_smoke_test(self) -> bool:
        """Whether no model is asked."""
        return self.judge == EMBEDDED

    def graders(self) -> tuple[Model, ...]:
        """The models that the judge asks, one or a jury; none when it asks no model.

        Raises:
            PrerequisiteError: If the judge asks a model and no grader role is bound, or one that cannot judge.
        """
        return graders_for(self.judge)

    def cache_for(self, model: Model) -> Cache | None:
        """Where what the model says is looked up and kept; None asks it everything anew."""
        return cache_for(model, self._cache)

    def reader_and_judge(
        self, model: Model | None, features: Iterable[Feature] = (), *, anew: bool = False, cache: Cache | None = None
    ) -> tuple[Reader, Judge]:
        """Who reads documents, and who rates how alike two answers are.

        Args:
            model: Who is asked, one of `graders`; None where the judge asks no model.
            features: Those of the population, whose words the embedded reader looks for.
            anew: Whether every rating is asked for, also where one is on record; it is kept then.
            cache: One in place of the user's.

        Raises:
            UnknownChoiceError: If the model's provider cannot do what the judge needs.
        """
        if model is None:
            words = {feature.name: feature.words for feature in features}
            return EmbeddedReader(self.engine, words), EmbeddedJudge(self.engine)
        # only what a model was asked costs anything to ask again
        cache = cache_for(model, cache) if cache else self.cache_for(model)
        reader = GraderReader(model, self.wording.read, AnswerMemo(cache), length=LENGTHS[self.answer_length])
        mode, fit = mode_and_fit(self.judge)
        if mode.by_vectors:
            # the population's answers come back with every document
            engine = CachedEmbedder(self.engine, cache_folder())
            return reader, mode.by_vectors(engine, fit, [feature.name for feature in features])
        memo = RatingMemo(cache, anew=anew)
        return reader, mode.judge(model, self.wording.rate[mode.instruction.name], memo)
