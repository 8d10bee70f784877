"""Logs of metric studies with given scores, as Inspect writes them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inspect_ai.scorer import Score
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.reading import ScoredDocument
from genie_inspect.logs.scores import Scores
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.effects import Effect, StudyTexts, texts_of
from genie_inspect.reports.study import StudiedMeasure, Study
from genie_inspect.samples import InterventionFacts

FEATURES = ("agent", "plot", "setting")
GENIE = "measure:genie|judge:list(test)|population:small-1@0|version:1-A"
COSINE = "measure:cosine|version:1-A"
ABC = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Made:
    facts: InterventionFacts
    number: int  # of its original, from 0
    text: str
    copy: int = 0  # which of several that were made alike
    epoch: int = 1
    prompt: str = ""

    @property
    def id(self) -> str:
        return "-".join(filter(None, (self.facts.original, self.facts.kind, self.facts.feature, str(self.copy))))


Scoring = Callable[[Made], Mapping[str, Score]]
Value = Callable[[Made], float]


def made(
    originals: int = 8,
    features: Sequence[str] = FEATURES,
    paraphrases: int = 2,
    epochs: int = 1,
    per_prompt: int = 1,
) -> list[Made]:
    """So many originals, each with an edit of each feature and so many paraphrases, every text another one.

    All have two words. A prompt has one original unless told.
    """
    texts: list[Made] = []
    for number in range(originals):
        name = f"o{number}"
        texts.append(Made(InterventionFacts(ORIGINAL, name), number, f"Story {number}."))
        for feature in features:
            facts = InterventionFacts(EDIT, name, feature, "another", f"Story {number}.")
            texts.append(Made(facts, number, f"Story-with-another-{feature} {number}."))
        for copy in range(paraphrases):
            facts = InterventionFacts(PARAPHRASE, name, original_text=f"Story {number}.")
            texts.append(Made(facts, number, f"Tale {number}{ABC[copy]}.", copy))
    return [
        replace(text, epoch=epoch, prompt=f"Prompt {text.number // per_prompt}")
        for text in texts
        for epoch in range(1, epochs + 1)
    ]


def study_log(folder: Path, texts: Sequence[Made], scores: Scoring, **spec: Any) -> str:
    return made_log(
        folder,
        [scores(text) for text in texts],
        texts=[text.text for text in texts],
        prompts=[text.prompt for text in texts],
        places=[(text.id, text.epoch) for text in texts],
        metadatas=[text.facts.as_metadata() for text in texts],
        **spec,
    )


def one_number(value: Value, name: str = "reading", signature: str = "none") -> Scoring:
    """A scorer of anybody's that gives one number."""
    return lambda text: {name: Score(value=value(text), metadata={"signature": signature})}


def by_feature(value: Callable[[Made, str], float], features: Sequence[str] = FEATURES, **facts: Any) -> Scoring:

    def scores(text: Made) -> Mapping[str, Score]:
        values = {feature: value(text, feature) for feature in features}
        reason = "no_response" if all(map(math.isnan, values.values())) else None
        return {"genie": scored(values, GENIE, reason, **facts)}

    return scores


def together(*scorers: Scoring) -> Scoring:

    def scores(text: Made) -> Mapping[str, Score]:
        parts: Iterator[Mapping[str, Score]] = (scorer(text) for scorer in scorers)
        return {name: score for part in parts for name, score in part.items()}

    return scores


def wobble(number: int, by: float = 0.02) -> float:
    """A little that differs from original to original, with no trend."""
    return by * ((number * 7) % 5 - 2)


def is_edit(text: Made, feature: str) -> bool:
    return text.facts.kind == EDIT and text.facts.feature == feature


def sharp(text: Made, feature: str) -> float:
    """A score that only an edit of its own feature moves, and nothing else by more than a hair."""
    base = 0.05 + 0.05 * text.number
    hair = 0.001 * ((text.number * 3 + text.copy * 5 + len(text.text)) % 5 - 2)
    if text.facts.kind == ORIGINAL:
        return base
    return base + hair + (0.2 + wobble(text.number) if is_edit(text, feature) else 0.0)


def texts_in_memory(texts: Sequence[Made], values: Mapping[str, Value]) -> StudyTexts:
    """The texts of a study as they are read from a log, each with a number by each of some scorers."""
    documents = tuple(
        ScoredDocument(
            sample=text.id,
            epoch=text.epoch,
            prompt=text.prompt,
            text=text.text,
            words=len(text.text.split()),
            scores={name: Scores({name: value(text)}) for name, value in values.items()},
            intervention=text.facts,
        )
        for text in texts
    )
    return texts_of(documents)


def found(study: Study, scorer: str, intervention: str, key: str = "") -> Effect:
    """The effect of an intervention on a scorer's key; the scorer's own name unless given."""
    (effect,) = (
        effect
        for effect in study.effects
        if (effect.key.scorer, effect.key.name, effect.intervention) == (scorer, key or scorer, intervention)
    )
    return effect


def measure_of(study: Study, name: str) -> StudiedMeasure:
    (measure,) = (measure for measure in study.measures if measure.name == name)
    return measure
