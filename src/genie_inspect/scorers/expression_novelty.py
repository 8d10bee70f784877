"""The scorer `expression_novelty`: how new a document's expressions are to a corpus."""

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

RANGES = {"log_perplexity_mean": (0, None), "novel_expression_share": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="log_perplexity_mean",
    ranges=RANGES,
    meaning=(
        "0: the corpus foretells every word of its expressions. Higher is less likely to the corpus, which is neither "
        "better nor more sensible. Share: expressions with 15% or more novel n-grams."
    ),
)
def expression_novelty(
    population: str = "starter", corpus: str = "population", floor: float = 1.2e-10, case: str = "either"
) -> Scorer:
    """How unlikely a corpus makes a document's expressions, what stands between two punctuation marks.

    Keys: `log_perplexity_mean`, the mean over expressions of the log of their infinity-gram perplexity, each word after
    the longest context that the corpus has, 0 or more; `novel_expression_share`, the share of expressions of which at
    least 15% of the n-grams are new, 0 to 1, n being the smallest for which any is. Both higher = newer to the corpus,
    which is neither better nor more sensible. The explanation lists the least likely expressions.

    Args:
        population: `starter` or the folder of a population with documents; its prompts say what is scored.
        corpus: `population` (its documents for the prompt), a folder of *.txt, *.md and *.jsonl,
            `infini-gram:<folder>` for an index by `genie index`, or `infini-gram:<service url>#<index>`, whose user
            and password, if it asks for any, stand in `~/.netrc` and never in the address.
        floor: Stands for the probability of a word that never follows its context.
        case: `either`, an expression with a capital at its head is as new as the less new of it and its small-letter
            form; `kept`, as it stands.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, the corpus cannot be used or does not
            answer, infini-gram is asked for and not installed, or an option is none of these.

    Source: Saakyan et al. 2025 (arXiv 2509.22641); deviations in measures.expressions and measures.infinity_gram.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.scorers.corpora import Corpora, opened_corpus
    from genie_inspect.scorers.expressions import KEYS, ExpressionNovelty
    from genie_inspect.scorers.outcome import reference, scored
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "expression_novelty")
        measure = ExpressionNovelty(Corpora(opened, opened_corpus(corpus)), floor, case)
    facts = {"signature": signature("expression_novelty", "2-A", **measure.facts, population=opened.name)}

    async def score(state: TaskState, target: Target) -> Score:
        return await scored(state, opened, KEYS, facts, measure)

    return score
