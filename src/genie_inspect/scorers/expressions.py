"""How new the expressions of a text are to a corpus: the scorer `expression_novelty`."""

import math
from collections.abc import Sequence
from itertools import takewhile
from statistics import fmean
from typing import TYPE_CHECKING

from anyio import to_thread
from inspect_ai.util import concurrency

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.measures.expressions import Expression, split_expressions
from genie_inspect.scorers.assessment import Compared
from genie_inspect.scorers.corpora import AT_ONCE, Corpora
from genie_inspect.scorers.explanation import LISTED, cell
from genie_inspect.scorers.outcome import Measurement

if TYPE_CHECKING:
    from genie_inspect.engines.corpora import CountedCorpus
    from genie_inspect.measures.infinity_gram import RunNovelty

KEYS = ("log_perplexity_mean", "novel_expression_share")
ROWS = "expressions"
"""Where the score's metadata has a row an expression."""
NOVEL = 0.15  # NovelPct from which experts were shown an expression: some half of them
EITHER, KEPT = "either", "kept"
NOTHING = "no expression of two words or more"
WIDTH = 160  # characters of an expression in an explanation


class ExpressionNovelty:
    """Measures how new the expressions of texts are to a corpus."""

    def __init__(self, corpora: Corpora, floor: float, case: str) -> None:
        if not isinstance(floor, int | float) or isinstance(floor, bool) or not 0 < floor <= 1:
            raise UnknownChoiceError("floor", floor, "above 0, to 1")
        if case not in (EITHER, KEPT):
            raise UnknownChoiceError("case", case, f"one of {EITHER}, {KEPT}")
        self.corpora, self.floor, self.case = corpora, floor, case
        if corpora.fixed is not None:
            # a service that cannot say how many words it has must not show after a thousand generations
            corpora.fixed.counted("")

    @property
    def facts(self) -> dict[str, str]:
        """What the numbers depend on, for the signature."""
        return {"corpus": self.corpora.name, "floor": f"{self.floor:g}", "case": self.case}

    async def __call__(self, text: str, prompt: str, others: Compared) -> Measurement:
        """How new the expressions of a text are."""
        corpus = await self.corpora.of(prompt, others.made_of)
        async with concurrency("expression_novelty", AT_ONCE, visible=False):
            return await to_thread.run_sync(lambda: self._measured(text, corpus.counted(text)))

    def _measured(self, text: str, counted: "CountedCorpus") -> Measurement:
        expressions = split_expressions(text)
        if not expressions:
            return Measurement(dict.fromkeys(KEYS, math.nan), f"Not scored: {NOTHING}.", reason=NOTHING)
        novelties = self._novelties(expressions, counted)
        rows = [
            {
                "text": expression.text,
                "start": expression.start,
                "end": expression.end,
                "log_perplexity": novelty.log_perplexity,
                "novel_share": novelty.novel_share,
            }
            for expression, novelty in zip(expressions, novelties, strict=True)
        ]
        share = fmean(novelty.novel_share >= NOVEL for novelty in novelties)
        mean = fmean(novelty.log_perplexity for novelty in novelties)
        metadata = {ROWS: rows, "left_out_of_corpus": list(counted.left_out[:LISTED])}
        return Measurement(dict(zip(KEYS, (mean, share), strict=True)), explained(expressions, novelties), metadata)

    def _novelties(self, expressions: Sequence[Expression], counted: "CountedCorpus") -> "list[RunNovelty]":
        """Of each expression, by its less new form for perplexity and n-grams alike."""
        from genie_inspect.measures.infinity_gram import RunNovelty, novelties

        texts = [expression.text for expression in expressions]
        # with capitals kept the second form is the first, and all is looked up at once either way
        smaller = [with_small_first(text) if self.case == EITHER else text for text in texts]
        found = novelties([counted.words(text) for text in (*texts, *smaller)], counted.counts, self.floor)
        return [
            RunNovelty(min(one.log_perplexity, other.log_perplexity), min(one.novel_share, other.novel_share))
            for one, other in zip(found[: len(texts)], found[len(texts) :], strict=True)
        ]


def with_small_first(text: str) -> str:
    """The text with a small first letter, where its first word may be small: not "I" nor "NASA".

    >>> [with_small_first(text) for text in ("The owl", "A fox", "I'm", "NASA flew")]
    ['the owl', 'a fox', "I'm", 'NASA flew']
    """
    word = "".join(takewhile(str.isalpha, text))
    return text if word == "I" or word[1:] != word[1:].lower() else text[0].lower() + text[1:]


def explained(expressions: Sequence[Expression], novelties: "Sequence[RunNovelty]") -> str:
    """A Markdown table of the least likely expressions with the share of their n-grams that are new."""
    order = sorted(range(len(expressions)), key=lambda place: -novelties[place].log_perplexity)
    rows = ["| expression | log perplexity | novel n-grams |", "|:--|--:|--:|"]
    rows += [
        f"| {cell(expressions[place].text[:WIDTH])} | {novelties[place].log_perplexity:.2f} "
        f"| {novelties[place].novel_share:.0%} |"
        for place in order[:LISTED]
    ]
    more = f"The {LISTED} least likely of {len(order)}. " if len(order) > LISTED else ""
    novel = sum(novelty.novel_share >= NOVEL for novelty in novelties)
    return "\n".join([*rows, "", f"{more}{novel} of {len(order)} expressions have {NOVEL:.0%} or more novel n-grams."])
