"""the offline reader and judge: no model at all, for any new text. A smoke test, not a measurement.

The reader's answer is a direction: a soft attention over the document's sentences. The judge stretches the cosine of
two such directions between an anchor (two unrelated documents to the same prompt) and identity. A small trial found
that this tells an edited feature from a paraphrase in most pairwise comparisons, and that novelty against a population
hardly moves for edits of setting and plot: no substitute for a reading model.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from anyio import to_thread

from genie_inspect.engines.embedders import Embedder, blindness
from genie_inspect.files.writing import DATA
from genie_inspect.graders.protocols import Answer, AskedQuestion, Rated, Reading
from genie_inspect.measures.genie import HIGHEST, LOWEST
from genie_inspect.prompting.texts import has_word
from genie_inspect.scripts import SENTENCE_ENDS, WIDE_ENDS, is_english

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

TEMPERATURE = 0.1
LAST_SENTENCES = 3
NO_PRONOUNS = "the rule of pronouns knows English alone"
SAME = 1e-9  # directions whose cosine is this near to 1 differ by rounding alone
ANCHORS = DATA / "offline_anchors.json"
_SENTENCE_END = re.compile(
    rf"(?<=[{SENTENCE_ENDS}])\s+|(?<=[{SENTENCE_ENDS}][\"'”’)])\s+|(?<=[{WIDE_ENDS}])(?![{WIDE_ENDS}”’」』])|\n+"
)
_QUOTED = re.compile(r"[“\"][^”\"\n]*([”\"]?)")  # what is never closed is read once and stays
_FIRST = frozenset("i me my mine myself we us our ours ourselves".split())  # noqa: SIM905  # as people read them
_THIRD = frozenset(
    "he him his himself she her hers herself they them their theirs themselves it its itself".split()  # noqa: SIM905
)
_ENDING = re.compile(
    r"\b(?:end|ends|ending|final|finally|resolved|resolution|outcome|last|become|becomes|conclude|conclusion)\b",
    re.IGNORECASE,
)


class PronounAnswer(Answer):
    """An answer in a plane of its own, from third person to first, where unlike documents stand at a right angle."""


class OfflineReader:
    def __init__(self, embedder: Embedder, words: Mapping[str, Sequence[str]]) -> None:
        self.embedder, self.words, self._lock = embedder, words, Lock()
        self._queries: dict[str, Vectors] = {}  # by their texts: all documents for a prompt are asked the same

    @property
    def signature(self) -> str:
        return f"offline({self.embedder.identity})"

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        """One direction per question, with the sentence that weighs most in it as its words."""
        return await to_thread.run_sync(self._read, document, questions)

    def _read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        found, nothing = sentences(document), (None,) * len(questions)
        if not found:
            return Reading(nothing)
        if blind := blindness(self.embedder, document):
            return Reading(nothing, dict.fromkeys(range(len(questions)), blind))
        vectors = self.embedder.embed(found)
        texts = [" ".join([question.text, *self.words.get(question.feature, ())]) for question in questions]
        with self._lock:
            if fresh := [text for text in texts if text not in self._queries]:
                self._queries |= zip(fresh, self.embedder.embed(fresh), strict=True)
        faults: dict[int, str] = {}
        answers: list[Answer | None] = []
        for place, (question, text) in enumerate(zip(questions, texts, strict=True)):
            known = {word.casefold() for word in self.words.get(question.feature, ())}
            # pronouns tell about a feature whose own words hold some of the first and of the third person
            if not (known & _FIRST and known & _THIRD):
                is_of_ending = _ENDING.search(question.text) is not None
                answers.append(attended(found, vectors, self._queries[text], ending=is_of_ending))
            elif is_english(document):
                answers.append(pronoun_answer(document))
            else:
                answers.append(None)
                faults[place] = NO_PRONOUNS
        return Reading(tuple(answers), faults)


class OfflineJudge:
    """Rates two directions by their cosine, from the anchor (rating 1) to identity (rating 4)."""

    def __init__(self, embedder: Embedder, anchors: Mapping[str, float] | None = None) -> None:
        # measured on the starter population, for the embedder that they were measured with
        recorded = json.loads(ANCHORS.read_text(encoding="utf-8"))
        own = recorded["anchors"] if recorded["embedder"] == embedder.name else {}
        self.embedder, self.anchors = embedder, own if anchors is None else anchors

    @property
    def signature(self) -> str:
        return f"offline({self.embedder.identity},anchors={'starter' if self.anchors else 'own'})"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """One rating an other answer, on a continuous scale from 1 to 4."""
        import numpy as np

        if not others:
            return Rated(())
        if answer.vector is None or any(other.vector is None for other in others):
            raise ValueError("the offline judge got an answer without a direction: it needs the offline reader")
        directions = np.stack([other.vector for other in others if other.vector is not None])
        anchor = self.anchors.get(question.text, self.anchors.get(question.feature))
        if isinstance(answer, PronounAnswer):
            anchor = 0.0
        elif anchor is None:
            anchor = median_cosine(directions)
        if math.isnan(anchor):
            return Rated((None,) * len(others), dict.fromkeys(range(len(others)), "no anchor: too few answers"))
        cosines = directions @ answer.vector
        # where all unrelated answers agree the anchor is 1 itself, and identity still rates 4
        stretched = np.clip((cosines - anchor) / max(1 - anchor, SAME), 0, 1)
        nearness = np.where(cosines > 1 - SAME, 1.0, stretched)
        return Rated(tuple(float(LOWEST + (HIGHEST - LOWEST) * value) for value in nearness))


def median_cosine(directions: "Vectors") -> float:
    """Median cosine over all pairs of unit rows, shape (N, D); NaN for fewer than two."""
    import numpy as np

    upper = np.triu_indices(len(directions), k=1)
    return float(np.median((directions @ directions.T)[upper])) if len(directions) > 1 else math.nan


def sentences(document: str) -> list[str]:
    """The document's sentences, without empty ones.

    >>> sentences("It rained. “Go!” she said.")
    ['It rained.', '“Go!”', 'she said.']
    """
    return [part.strip() for part in _SENTENCE_END.split(document) if has_word(part)]


def attended(found: Sequence[str], vectors: "Vectors", query: "Vectors", *, ending: bool) -> Answer | None:
    """The mean of the sentences, weighted by softmax of their cosine with the query over 0.1.

    None when the sentences hold nothing that the embedder knows: no direction is no answer, not an unusual one.
    """
    import numpy as np

    start = max(0, len(found) - LAST_SENTENCES) if ending else 0
    weights = np.exp(vectors[start:] @ query / TEMPERATURE)
    direction = weights @ vectors[start:]
    length = float(np.linalg.norm(direction))
    return Answer(found[start + int(weights.argmax())], direction / length) if length > 0 else None


def pronoun_answer(document: str) -> Answer | None:
    """Point of view by pronouns outside quoted speech: a direction from third person (0) to first (90 degrees)."""
    import numpy as np

    told = _QUOTED.sub(lambda quoted: " " if quoted[1] else quoted[0], document)
    words = Counter(re.findall(r"\w+", told.casefold()))
    first, third = (sum(words[pronoun] for pronoun in pronouns) for pronouns in (_FIRST, _THIRD))
    if not first + third:
        return None
    share = first / (first + third)
    angle = share * math.pi / 2
    return PronounAnswer(f"{share:.0%} of its pronouns are first person", np.array([math.cos(angle), math.sin(angle)]))
