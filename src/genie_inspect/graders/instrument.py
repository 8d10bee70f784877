"""What documents are measured by: the judge, its wording and its embedder, chosen and checked in one place."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from inspect_ai.model import Model, ModelName

from genie_inspect.engines.embedders import CachedEmbedder, Embedder
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.errors import UnknownChoiceError, check_count, check_share, check_switch, check_text
from genie_inspect.graders.cache import Cache, Memo, cache_folder
from genie_inspect.graders.embedding_judge import VECTORS
from genie_inspect.graders.grader import RECORDED, graders, unmet
from genie_inspect.graders.list_judge import LIST
from genie_inspect.graders.logit_judge import LOGIT
from genie_inspect.graders.merging import Mode
from genie_inspect.graders.offline_judge import OfflineJudge, OfflineReader
from genie_inspect.graders.pairwise_judge import PAIRWISE
from genie_inspect.graders.protocols import Judge, Reader
from genie_inspect.graders.reader import CONCISE, LENGTHS, GraderReader
from genie_inspect.graders.sheet_judge import SHEETS
from genie_inspect.measures.genie import MIN_COVERAGE
from genie_inspect.populations.schema import Feature
from genie_inspect.prompting.templates import Template, Templates, wordings

OFFLINE = "offline"
LEAST_RATINGS = 3
MODES = {mode.name: mode for mode in (LIST, SHEETS, PAIRWISE, LOGIT, VECTORS)}
"""Judges that ask a grader, by name."""


def mode_and_fit(judge: str, others: Sequence[str] = ()) -> tuple[Mode, str]:
    """The record of a judge that asks a grader, of `list/10` for ten answers per call; and the file of its fit."""
    name, slash, rest = str(judge).partition("/")  # any value may stand for an option
    mode = MODES.get(name)
    if mode is None or (slash and mode.asks_pairs and mode.chunk == 1) or (slash and not rest):
        raise UnknownChoiceError("judge", judge, "one of " + ", ".join((*MODES, *others)))
    if not slash or not mode.asks_pairs:
        return mode, rest
    if not re.fullmatch(r"[1-9][0-9]{0,3}", rest) or rest == "1":
        expected = f"how many answers {mode.name} is shown per call, such as {mode.name}/10"
        raise UnknownChoiceError("judge", judge, expected)
    return replace(mode, name=judge, judge=partial(mode.judge, chunk=int(rest)), chunk=int(rest)), ""


def mode_of(judge: str) -> Mode:
    return mode_and_fit(judge)[0]


def graders_for(judge: str, *, panel_alone: bool = False) -> tuple[Model, ...]:
    """The models that a judge asks, one or a jury; none when it asks no model."""
    if judge == OFFLINE:
        return ()
    is_mode = judge.partition("/")[0] in MODES
    models = graders(judge, replaceable=is_mode, panel_alone=panel_alone)
    if is_mode and (check := mode_of(judge).check):
        try:
            for model in models:
                check(model)
        except UnknownChoiceError as error:
            raise unmet(error) from error
    # a grader that sits twice in a jury would agree with itself, and count double
    known: set[str] = set()
    for model in models if len(models) > 1 else ():
        # as signatures and cache keys know it: settings that the instrument overrides make no other grader
        if (reader := GraderReader(model).signature) in known:
            raise unmet(f"grader {model} is named twice in the role, expected each grader of a jury once")
        known.add(reader)
    return models


def cache_for(model: Model, cache: Cache | None) -> Cache | None:
    """The cache, but none for a replay: it is at once, and an upgrade may bring another record."""
    return None if ModelName(model).api == RECORDED else cache


@dataclass(frozen=True)
class Instrument:
    """The options that say how documents are compared; checked when it is made, before anything is asked."""

    judge: str
    """`list` (one call rates one answer against many: 50, or as `list/10` says), `sheet` (one call rates all answers of
    a document; `sheet/60`: 60 others per call), `pairwise` (the study's protocol), `logit` (one token a pair),
    `embedding` (readings alone are asked for; `embedding/<file>` names a fit) or `offline` (no model: a smoke test)."""
    embedder: str = "static"
    """For `embedding` and `offline`, and for `ratings`."""
    templates: Templates = None
    """A folder of the user's own templates, for the others, or the name of a rewording; several are a jury of
    wordings."""
    cache: bool = True
    """Whether answers and ratings that a model once gave are looked up and kept; false asks anew."""
    min_coverage: float = MIN_COVERAGE
    """Least share of a question's ratings due with which it is used, 0 to 1."""
    answer_length: str = CONCISE
    """How long the answers are that the reader gives: `concise`, `sentence` or `free`."""
    ratings: int | None = None
    """How many of the population's answers an answer is rated against, drawn by `embedder`; all unless given."""

    def __post_init__(self) -> None:
        check_text("embedder", self.embedder)
        check_switch("cache", self.cache)
        mode, fit = (None, "") if self.judge == OFFLINE else mode_and_fit(self.judge, [OFFLINE])
        check_share("min_coverage", self.min_coverage)
        if self.ratings is not None:
            check_count("ratings", self.ratings, LEAST_RATINGS, "one of the nearest answer, and two for an error")
            if not (mode and mode.asks_pairs):
                asking = ", ".join(name for name, each in MODES.items() if each.asks_pairs)
                raise UnknownChoiceError("ratings", self.ratings, f"none with judge={self.judge}: it is for {asking}")
        # the reader without a model quotes the document's sentences, and has no other length
        lengths = [CONCISE] if self.is_smoke_test else list(LENGTHS)
        if self.answer_length not in lengths:
            beside = f" (judge={OFFLINE} calls no model)" if self.is_smoke_test else ""
            raise UnknownChoiceError("answer_length", self.answer_length, f"one of {', '.join(lengths)}{beside}")
        # loaded now, so that a wrong template or embedder ends a run before anything is generated
        if len(self.wordings) > 1:
            self._check_jury()
        else:
            _ = self.reading_template, self.mode_templates
        _ = self.engine
        if mode and not mode.asks_pairs:
            mode.judge(self.engine, fit)

    @cached_property
    def wordings(self) -> tuple["Instrument", ...]:
        """One instrument per wording; itself alone where one is named."""
        names = wordings(self.templates)
        return (self,) if len(names) == 1 else tuple(replace(self, templates=name) for name in names)

    def _check_jury(self) -> None:
        """Refuse a wording that asks as another one does: it would count twice."""
        if self.is_smoke_test:
            raise UnknownChoiceError("templates", self.templates, f"one wording: judge={OFFLINE} asks no model")
        named: dict[tuple[str, str], Templates] = {}
        for each in self.wordings:
            asked = each.reading_template.digest, each.mode_templates[mode_of(self.judge).instruction.name].digest
            if asked in named:
                alike = f"wordings that differ: with judge={self.judge} and answer_length={self.answer_length}"
                alike += f" {named[asked]} and {each.templates} ask the same"
                raise UnknownChoiceError("templates", self.templates, alike)
            named[asked] = each.templates

    @cached_property
    def reading_template(self) -> Template:
        return LENGTHS[self.answer_length].instruction.template(self._folder)

    @cached_property
    def mode_templates(self) -> dict[str, Template]:
        """By the name of a mode's instruction; of every mode, so that a wrong template is found whatever the judge."""
        return {mode.instruction.name: mode.instruction.template(self._folder) for mode in MODES.values()}

    @property
    def _folder(self) -> str | None:
        one, *others = wordings(self.templates)
        if others:
            raise UnknownChoiceError("templates", self.templates, "one wording here, not several")
        return one

    @cached_property
    def engine(self) -> Embedder:
        return chosen_embedder(self.embedder)

    @cached_property
    def _cache(self) -> Cache | None:
        return Cache() if self.cache else None

    @property
    def is_smoke_test(self) -> bool:
        return self.judge == OFFLINE

    @property
    def can_sample(self) -> bool:
        """Whether fewer ratings could be asked for than are."""
        return self.ratings is None and not self.is_smoke_test and mode_of(self.judge).asks_pairs

    def graders(self) -> tuple[Model, ...]:
        return graders_for(self.judge)

    def cache_for(self, model: Model) -> Cache | None:
        return cache_for(model, self._cache)

    def reader_and_judge(
        self, model: Model | None, features: Iterable[Feature] = (), *, anew: bool = False, cache: Cache | None = None
    ) -> tuple[Reader, Judge]:
        if model is None:
            words = {feature.name: feature.words for feature in features}
            return OfflineReader(self.engine, words), OfflineJudge(self.engine)
        # only what a model was asked costs anything to ask again
        cache = cache_for(model, cache) if cache else self.cache_for(model)
        reader = GraderReader(model, self.reading_template, Memo(cache), length=LENGTHS[self.answer_length])
        mode, fit = mode_and_fit(self.judge)
        if not mode.asks_pairs:
            # the population's answers come back with every document
            engine = CachedEmbedder(self.engine, cache_folder())
            return reader, mode.judge(engine, fit, [feature.name for feature in features])
        alone = {"alone": self.mode_templates[mode.alone.instruction.name]} if mode.alone else {}
        template = self.mode_templates[mode.instruction.name]
        return reader, mode.judge(model, template, Memo(cache, anew=anew), **alone)
