"""The scorer `genie`: novelty by feature against a population."""

import math
from functools import lru_cache

from inspect_ai.model import Model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.errors import GraderFailedError
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.choices import EMBEDDED, check_judge, grader_for, reader_and_judge
from genie_inspect.populations.catalogue import open_population
from genie_inspect.samples.document import unusable
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.scorers.assessment import Assessor
from genie_inspect.scorers.explanation import (
    WIDTHS,
    cell,
    cut,
    evidence,
    explained,
    length_facts,
    notes_on,
    why_nothing,
)
from genie_inspect.scorers.outcome import unscored
from genie_inspect.signature import signature


@scorer(metrics={"*": [mean(), stderr()]})
def genie(
    population: str = "starter",
    judge: str = "list",
    embedder: str = "static",
    templates: str | None = None,
    cache: bool = True,
) -> Scorer:
    """Novelty of a document along each feature of a population, 0 (as the others) to 1 (unlike all of them).

    Keys are the population's features (agent, perspective, plot, setting, social_atmosphere, style in the starter
    population); NaN where nothing could be measured.

    Args:
        population: `starter` or the folder of a population.
        judge: `list`, `pairwise`, `logit` (all ask the grader role) or `embedded` (no model: a smoke test).
        embedder: For `judge=embedded`: static, openai/<model> or sentence-transformers/<id or folder>.
        templates: A folder of your own instruction templates.
        cache: Whether answers and ratings that a model once gave are looked up and kept; false asks anew.

    Raises:
        PopulationError: If the population cannot be opened or has only documents.
        UnknownChoiceError: If judge or embedder is unknown.

    Source: Genie (arXiv 2606.12790). Deviation: the list judge rates many answers in one call; `judge=pairwise` is the
    study's own protocol.
    """
    check_judge(judge, templates)
    opened = open_population(population)
    opened.require_questions("measure genie")
    if judge == EMBEDDED:
        opened.require_documents("judge=embedded")
    features = [feature.name for feature in opened.features]
    words = {feature.name: feature.words for feature in opened.features}
    engine = chosen_embedder(embedder)

    notes = [ANSWERS_ALONE.format(readers=", ".join(opened.readers))] if opened.answers_alone else []

    @lru_cache(maxsize=1)
    def assessor(model: Model | None) -> Assessor:
        kept = Cache() if cache and model else None
        return Assessor(opened, *reader_and_judge(judge, model, engine, words, templates, kept))

    async def score(state: TaskState, target: Target) -> Score:
        assess, prompt, text = assessor(grader_for(judge)), prompt_of(state), state.output.completion
        facts = {
            "signature": signature(
                "genie", judge=assess.judge.signature, reader=assess.reader.signature, population=opened.name
            ),
            "judge": assess.judge.signature,
            "reader": assess.reader.signature,
            "prompt": cut(prompt, WIDTHS[0]),
        }
        if opened.answers_alone:
            facts["population_read_by"] = ", ".join(opened.readers)
        reason = unusable(state) or ("" if opened.questions(prompt) else UNKNOWN_PROMPT)
        if reason:
            return unscored(features, reason, f"Not scored: {reason}.", text, facts)
        try:
            found = await assess.assess(text, prompt)
        except GraderFailedError as error:
            return unscored(features, "grader_failed", f"Not scored: {cell(str(error))}", text, facts)
        novelty = found.novelty(features)
        return Score(
            value=dict(novelty),
            answer=text,
            explanation=explained(found, features, notes + notes_on(found, smoke_test=judge == EMBEDDED)),
            reason=why_nothing(found) if all(map(math.isnan, novelty.values())) else None,
            metadata=evidence(found, features, **facts, length=length_facts(found, features)),
        )

    return score


ANSWERS_ALONE = (
    "The population holds recorded answers alone, by {readers}: another reader would have answered otherwise."
)
UNKNOWN_PROMPT = "the population has no questions for this prompt"
