"""What a good reader comes to: the recorded reader, given paraphrases in place of the stories."""

import json
from pathlib import Path
from typing import Any

import anyio

from genie_inspect.agreement.raters import Rater, judge_ratings
from genie_inspect.agreement.readers import LEAST_REACH, AnswerPair, rated_targets, reader_fitness
from genie_inspect.engines.embedders import embedder
from genie_inspect.files.folders import DATA
from genie_inspect.graders.vectors_judge import VectorsJudge, shipped_fit
from genie_inspect.populations.population import open_population

PAGE = Path(__file__).parents[2] / "docs" / "judging.md"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_page_says_how_far_it_comes_and_the_rule_lies_below_it() -> None:
    population = open_population("starter")
    folder = DATA / "starter"
    texts = rows(folder / "interventions" / "interventions.jsonl")
    prompt_of = {text["id"]: text["prompt"] for text in texts if text["kind"] == "original"}
    readings = {
        (row["document"], row["question"]): row["text"]
        for file in (folder / "readings.jsonl", folder / "interventions" / "readings.jsonl")
        for row in rows(file)
    }
    pairs = []
    for text in texts:
        if text["kind"] != "paraphrase":
            continue
        original = text["original"]
        recorded = population.answers(population.readers[0], prompt_of[original])
        for question in population.questions(prompt_of[original]):
            others = tuple(answer for (_, asked), answer in recorded.items() if asked == question.id and answer)
            answers = readings[original, question.id], readings[text["id"], question.id]
            pairs.append(AnswerPair(text["id"], question, *answers, others))
    features = [feature.name for feature in population.features]
    judge = VectorsJudge(embedder("static"), shipped_fit(), features)
    ratings = anyio.run(judge_ratings, Rater("vectors", judge), rated_targets(pairs))
    fitness = {row.feature: row for row in reader_fitness("recorded", pairs, ratings, features)}
    whole, style = fitness["all features"], fitness["style"]
    assert whole.asked == 32 * 14
    assert whole.reach > LEAST_REACH
    said = (
        f"{whole.reach:.0%} of the way when it reads paraphrases in place of the stories "
        f"({whole.own_nearer.value:.0%} of at most {whole.highest:.0%}), in style {style.reach:.0%}"
    )
    assert said in " ".join(PAGE.read_text(encoding="utf-8").split())
