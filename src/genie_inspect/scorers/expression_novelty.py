"""The scorer `expression_novelty`: how new a document's expressions are to a corpus."""

from itertools import chain, takewhile
from statistics import fmean
from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Scorer, scorer

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.engines.corpora import Corpus, CountedCorpus
    from genie_inspect.scorers.assessment import Compared
    from genie_inspect.scorers.outcome import Measurement

KEYS = ("log_perplexity_mean", "novel_expression_share")
NOVEL = 0.15  # NovelPct from which experts were shown an expression: some half of them
EITHER, KEPT = "either", "kept"
NOTHING = "no expression of two words or more"
WIDTH = 160  # characters of an expression in an explanation
RANGES = {"log_perplexity_mean": (0, None), "novel_expression_share": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="log_perplexity_mean",
    ranges=RANGES,
    meaning=(
        "0: the corpus predicts every word of its expressions. Higher is less likely to the corpus, which is neither "
        "better nor more sensible. Share: expressions with 15% or more novel n-grams."
    ),
)
def expression_novelty(
    population: str = "starter", corpus: str = "population", floor: float = 1.2e-10, case: str = "either"
) -> Scorer:
    """How unlikely a corpus makes a document's expressions: the words between two punctuation marks.

    Keys: `log_perplexity_mean`, the mean over expressions of the log of their infinity-gram perplexity, each word after
    the longest context that the corpus has, 0 or more; `novel_expression_share`, the share of expressions of which at
    least 15% of the n-grams are new, 0 to 1, n being the smallest for which any is. Both higher = newer to the corpus,
    which is neither better nor more sensible. The explanation lists the least likely expressions.

    Args:
        population: `starter` or the folder of a population with documents; its prompts say what is scored.
        corpus: `population` (its documents for the prompt), a folder of *.txt, *.md and *.jsonl,
            `infini-gram:<folder>` for an index by `genie build-index`, or `infini-gram:<service url>#<index>`, whose
            user and password, if it asks for any, go into `~/.netrc` and never into the address.
        floor: Replaces the probability of a word that never follows its context.
        case: `either`, an expression with a capital at its head is as new as the less new of it and its small-letter
            form; `kept`, unchanged.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, the corpus cannot be used or does not
            answer, infini-gram is asked for and not installed, or an option has another value.

    Source: Saakyan et al. 2025 (arXiv 2509.22641); deviations in measures.tokens and measures.infinity_gram.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.scorers.outcome import Corpora, Measurement, panel_scorer, reference
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "expression_novelty")
        corpora = Corpora(opened, corpus)
        if not isinstance(floor, int | float) or isinstance(floor, bool) or not 0 < floor <= 1:
            raise UnknownChoiceError("floor", floor, "above 0, to 1")
        if case not in (EITHER, KEPT):
            raise UnknownChoiceError("case", case, f"one of {EITHER}, {KEPT}")
        if corpora.fixed is not None:
            # a service that cannot say how many words it has must not show after a thousand generations
            corpora.fixed.counted("")
    depends_on = {"corpus": corpora.name, "floor": f"{floor:g}", "case": case, "population": opened.name}
    facts = {"signature": signature("expression_novelty", "2-A", **depends_on)}

    async def novelty(text: str, prompt: str, others: "Compared") -> Measurement:
        def look(corpus: "Corpus") -> Measurement:
            return measurement(text, corpus.counted(text), floor, case)

        return await corpora.looked_up(look, prompt, others.made_of)

    return panel_scorer(opened, KEYS, facts, novelty)


def measurement(text: str, counted: "CountedCorpus", floor: float, case: str) -> "Measurement":
    """Both values of a text, with a row an expression, and a table of the least likely ones."""
    from genie_inspect.measures.infinity_gram import RunsInCorpus, log_perplexity, novel_share
    from genie_inspect.measures.tokens import split_expressions
    from genie_inspect.scorers.explanation import LISTED, cell
    from genie_inspect.scorers.outcome import Measurement, nothing

    expressions = split_expressions(text)
    if not expressions:
        return nothing(NOTHING, "scored")
    texts = [expression.text for expression in expressions]
    # with capitals kept the second form is the first, and all is looked up at once either way
    smaller = [with_small_first(text) if case == EITHER else text for text in texts]
    forms = [(counted.words(text), counted.words(small)) for text, small in zip(texts, smaller, strict=True)]
    known = RunsInCorpus(list(chain.from_iterable(forms)), counted.counts)
    # by its less new form for perplexity and n-grams alike
    rows: list[dict[str, Any]] = [
        {
            **{"text": expression.text, "start": expression.start, "end": expression.end},
            "log_perplexity": min(log_perplexity(words, known, floor) for words in both),
            "novel_share": min(novel_share(words, known) for words in both),
        }
        for expression, both in zip(expressions, forms, strict=True)
    ]
    novel = sum(row["novel_share"] >= NOVEL for row in rows)
    value = {KEYS[0]: fmean(row["log_perplexity"] for row in rows), KEYS[1]: novel / len(rows)}
    # texts of any length stand last, so that the figures stand under each other in plain text, too
    lines = ["| log perplexity | novel n-grams | expression |", "|---------------:|--------------:|:-----------|"]
    for row in sorted(rows, key=lambda row: -row["log_perplexity"])[:LISTED]:
        lines.append(f"| {row['log_perplexity']:14.2f} | {row['novel_share']:13.0%} | {cell(row['text'][:WIDTH])} |")
    more = f"The {LISTED} least likely of {len(rows)}. " if len(rows) > LISTED else ""
    lines += ["", f"{more}{novel} of {len(rows)} expressions have {NOVEL:.0%} or more novel n-grams."]
    metadata = {"expressions": rows, "left_out_of_corpus": list(counted.left_out[:LISTED])}
    return Measurement(value, "\n".join(lines), metadata)


def with_small_first(text: str) -> str:
    """The text with a small first letter, where its first word may be small: not "I" nor "NASA"."""
    word = "".join(takewhile(str.isalpha, text))
    return text if word == "I" or word[1:] != word[1:].lower() else text[0].lower() + text[1:]
