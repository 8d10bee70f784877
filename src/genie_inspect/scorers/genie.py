"""The scorer `genie`: novelty by feature against a population."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache, partial

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.measures.genie import MIN_COVERAGE
from genie_inspect.scorers.stderr import per_key

ANSWERS_ALONE = "The population has only recorded answers, by {readers}: another grader would have answered otherwise."
UNKNOWN_PROMPT = "the population has no questions for this prompt"
# of stories the plot comes first, and so is the headline: a mean over features would hide what is measured here
RANGES = {"plot": (0, 1), "*": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="*",  # every feature is a question of its own
    ranges=RANGES,
    meaning=(
        "0: the population's documents give the same answers. 1: none of them answers anything like it. Higher is more "
        "unlike the population, which is not the same as better."
    ),
)
def genie(
    population: str = "starter",
    judge: str = "list",
    embedder: str = "static",
    templates: str | Sequence[str] | None = None,
    cache: bool = True,
    min_coverage: float = MIN_COVERAGE,
    answer_length: str = "concise",
    ratings: int | None = None,
) -> Scorer:
    """Novelty of a document along each feature of a population, 0 (as the others) to 1 (unlike all of them).

    Keys are the population's features (agent, perspective, plot, setting, social_atmosphere, style in the starter
    population); NaN where nothing could be measured.

    Args:
        population: `starter` or the folder of a population.
        judge: `list` (50 answers per call; `list/10`: 10), `sheet` (a call per document), `pairwise`, `logit` (all ask
            the grader role), `embedding` (the grader reads, vectors replace the ratings: use it to screen, not to
            report; `embedding/<file>` names a fit by `genie calibrate`) or `offline` (no model: a smoke test).
        embedder: For `embedding`, `offline`, `ratings`: static, openai/<model> or sentence-transformers/<id or folder>.
        templates: A folder of your own instruction templates, or a shipped rewording of the reading and rating
            instructions: `editor`, `full`, `reordered` or `terse`. Several with commas between them, such as
            `original,terse`, are a jury of wordings: each is asked, and the score is their mean.
        cache: Whether kept answers and ratings are used and new ones are kept; false asks again.
        min_coverage: Least share of a question's expected ratings with which it is used: 0 (one is enough) to 1.
        answer_length: How long the reader's answers are: `concise`, `sentence` or `free`. Longer answers make other
            levels, and scores of two lengths do not compare (`genie answer-lengths` compares them on
            purpose).
        ratings: How many of the population's answers an answer is rated against, 3 or more, such as 6; all unless
            given. For `list`, `sheet`, `logit`, `pairwise`. The answers are drawn from strata of similarity as the
            embedder predicts it, the nearest always among them; the metadata has the standard error.

    Raises:
        RefusedError: If the population cannot be opened or has only documents, or an option has a value that is not
            accepted.

    Source: Genie (arXiv 2606.12790). Deviations: the list judge rates many answers in one call (`judge=pairwise` is the
    study's own protocol), and a question of whose ratings more than half were lost is not used.
    """
    from genie_inspect.graders.grader import bound_when_scored, refusals
    from genie_inspect.graders.instrument import Instrument
    from genie_inspect.graders.protocols import caution
    from genie_inspect.populations.population import open_population
    from genie_inspect.populations.reference_scores import reference_scores_of
    from genie_inspect.samples import document_of, is_original, made_of, prompt_of
    from genie_inspect.scorers.assessment import standings
    from genie_inspect.scorers.assessor import assessor_of
    from genie_inspect.scorers.explanation import (
        REASONS,
        WIDTHS,
        cut,
        evidence,
        explained,
        jury_facts,
        jury_notes,
        length_facts,
        notes_on,
        sampling_facts,
    )
    from genie_inspect.scorers.outcome import Measurement, nothing, scored_or_reason

    with refusals():
        instrument = Instrument(judge, embedder, templates, cache, min_coverage, answer_length, ratings)
        opened = open_population(population)
        opened.require_questions("measure genie")
        reference_scores = reference_scores_of(opened.folder)  # a damaged one shows before anything is asked
        if instrument.is_smoke_test:
            opened.require_documents("judge=offline")
    features, readers = [feature.name for feature in opened.features], ", ".join(opened.readers)
    # what was read of the population stays in memory from one document to the next
    assessor_by = bound_when_scored(instrument.graders, partial(assessor_of, opened, instrument))
    rated_under = lru_cache(maxsize=1)(reference_scores.under)

    async def score(state: TaskState, target: Target) -> Score:
        assessor, prompt = assessor_by(), prompt_of(state)
        facts = {
            "signature": assessor.signature,
            "judge": assessor.judged_by,
            "reader": assessor.read_by,
            # the beginning, for people; reports take the prompt from the sample itself
            "prompt": cut(prompt, WIDTHS[0]),
            **({"population_read_by": readers} if opened.answers_alone else {}),
        }

        async def measured() -> Measurement:
            """What a grader or a jury finds in the document."""
            # unscored, not 0: a document to a prompt that the population does not know has no others to be like
            if not opened.questions(prompt):
                return nothing(UNKNOWN_PROMPT, "scored")
            assessment = await assessor.assess(document_of(state), prompt, made_of(state), anew=is_original(state))
            reason = None
            # a reason marks the whole score as unscored: with one feature measured there is none
            if all(map(math.isnan, assessment.novelty.values())):
                faults = assessment.poorest.faults
                worst = max(faults, key=lambda fault: faults[fault])
                reason = REASONS.get(worst, f"nothing to compare: {worst}")
            rated = rated_under(assessor.signature)
            documents = [document.id for document in opened.documents(prompt)]
            among = standings(assessment, documents, rated.ratings if rated else {})
            by_grader = jury_facts(assessment)
            notes = [ANSWERS_ALONE.format(readers=readers)] if opened.answers_alone else []
            notes += [*jury_notes(by_grader), *notes_on(assessment, caution(assessor.judged_by))]
            metadata = {**facts, **by_grader, "length": length_facts(assessment), **sampling_facts(assessment)}
            if among:
                metadata["standing"] = {
                    key: {name: round(value, 6) for name, value in asdict(own).items()} for key, own in among.items()
                }
            shown = explained(assessment, notes, among)
            return Measurement(assessment.novelty, shown, evidence(assessment, **metadata), reason)

        return await scored_or_reason(state, features, facts, measured)

    return score
