"""Measure the offline judge's anchors on the starter population and write them beside it.

    python tools/measure_offline_anchors.py

An anchor is the median cosine of the offline reader's answers over all pairs of a prompt's documents: how alike two
unrelated documents to one prompt look. It is measured for each question, and for each feature as the median over its
questions, which serves questions that the starter population does not have.
"""

import json
import statistics

import anyio
import numpy as np

from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.offline_judge import ANCHORS, OfflineReader, PronounAnswer, median_cosine
from genie_inspect.populations.population import open_population


async def measured() -> dict[str, float]:
    """Anchors by question text and by feature name."""
    population = open_population("starter")
    reader = OfflineReader(embedder("static"), {feature.name: feature.words for feature in population.features})
    anchors: dict[str, float] = {}
    by_feature: dict[str, list[float]] = {}
    for prompt in population.prompts:
        questions = population.questions(prompt)
        readings = [await reader.read(document.text, questions) for document in population.documents(prompt)]
        for index, question in enumerate(questions):
            answers = [reading.answers[index] for reading in readings]
            directions = [answer.vector for answer in answers if answer is not None and answer.vector is not None]
            if not any(isinstance(answer, PronounAnswer) for answer in answers):  # anchored at a right angle
                by_feature.setdefault(question.feature, []).append(median_cosine(np.stack(directions)))
                anchors[question.text] = by_feature[question.feature][-1]
    return anchors | {feature: statistics.median(values) for feature, values in by_feature.items()}


def main() -> None:
    """Write the anchors to the package's data."""
    anchors = {key: round(value, 4) for key, value in anyio.run(measured).items()}
    record = {"embedder": "static", "population": open_population("starter").name, "anchors": anchors}
    ANCHORS.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{ANCHORS}: {len(anchors)} anchors")


if __name__ == "__main__":
    main()
