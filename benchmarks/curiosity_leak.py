"""How much of a curiosity model's figures comes from reading the answer, on real verdicts with simulated texts.

    python benchmarks/curiosity_leak.py VOTES.json [--stories all] [--strength 0.05 ...] [--seed 0] [--base FOLDER]

VOTES.json holds released TTCW votes as `genie agreement --votes` reads them. Verdicts, experts and plots are those of
the file, on the five tests of the study. Stories and explanations are made up: an explanation opens with yes or no as
often as the published ones do (134 of 720, 133 of them the verdict), and each of its words leans with the verdict with
the chance that --strength says; the others are neutral, the story's or the expert's own. The stories say nothing of the
verdict.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from genie_inspect.agreement.votes import VotedStory, prompt_of, read_votes, writer_of
from genie_inspect.files.values import json_text
from genie_inspect.studies.personal.curiosity import NAMES, cell, compared, counts, heading, read_explained_votes
from genie_inspect.studies.personal.curiosity_models import LanguageCuriosity
from genie_inspect.studies.personal.curiosity_vectors import EXPLANATIONS, CuriosityModel, Explanation, VectorCuriosity

DATA = Path(__file__).parents[2] / "shared" / "data" / "ttcw_expert_votes.json"
OPENING, TRUE_OPENING = 134 / 720, 133 / 134
WORDS, STORY_WORDS = 25, 300
QUESTIONS = {
    "07": "Does the story turn in ways that are both surprising and fitting?",
    "08": "Does the story speak from several perspectives, unlikeable ones among them, and convincingly?",
    "09": "Is the story an original piece of writing, without cliches?",
    "10": "Does the story show originality in its form?",
    "11": "Will an average reader take a unique and original idea from the story?",
}


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


LEANING = {
    True: words("fresh surprising vivid earned moving inventive subtle striking rich layered daring convincing"),
    False: words("flat predictable cliche dull generic thin forced bland stale shallow tired obvious"),
}
NEUTRAL = words(
    "the story character scene ending voice idea form paragraph reader dialogue narrator theme moment passage opening "
    "detail image sentence plot tone this that with and of in which about where"
)
NOUNS = words(
    "river lamp train orchard letter harbour clock violin snow kitchen market desert bridge garden mirror island "
    "hospital piano winter staircase museum tunnel festival lighthouse farm library storm window bicycle forest"
)


def simulated(stories: Sequence[VotedStory], strength: float, seed: int) -> Iterator[dict[str, object]]:
    """A row a vote on the study's tests, with made-up texts."""
    generator = np.random.default_rng(seed)
    habits: dict[str, list[str]] = {}
    subjects: dict[str, list[str]] = {}
    for story in stories:
        plot = prompt_of(story.story)
        subject = subjects.setdefault(plot, list(generator.choice(NOUNS, 6, replace=False)))
        manner = list(generator.choice(NOUNS, 3, replace=False))
        text = " ".join(generator.choice([*subject, *manner, *NEUTRAL], STORY_WORDS))
        for rater, verdicts in story.votes.items():
            habit = habits.setdefault(rater, list(generator.choice(NEUTRAL, 3, replace=False)))
            for test, question in QUESTIONS.items():
                verdict = bool(verdicts[test])
                row = {"story": story.story, "text": text, "test": test, "question": question, "rater": rater}
                own = [*NEUTRAL, *subject, *habit * 5]
                yield {**row, "verdict": verdict, "explanation": _explanation(verdict, own, strength, generator)}


def _explanation(verdict: bool, own: Sequence[str], strength: float, generator: np.random.Generator) -> str:
    said = [str(generator.choice(LEANING[verdict] if generator.random() < strength else own)) for _ in range(WORDS)]
    if generator.random() < OPENING:
        is_true = generator.random() < TRUE_OPENING
        said.insert(0, "Yes," if verdict == is_true else "No,")
    return " ".join(said)


def main() -> None:
    """Print the columns of each strength as a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("votes", nargs="?", type=Path, default=DATA)
    parser.add_argument("--stories", choices=["machine", "all"], default="machine")
    parser.add_argument("--strength", type=float, nargs="+", default=[0.0, 0.05, 0.1])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--base", help="folder of a causal model; sentence vectors unless given")
    chosen = parser.parse_args()
    print("SIMULATED: stories and explanations are made up; verdicts, experts and plots are the released ones.\n")
    if not chosen.votes.is_file():
        print(f"skipped: {chosen.votes} is not there")
        return
    stories = [
        story for story in read_votes(chosen.votes) if chosen.stories == "all" or writer_of(story.story) != "NewYorker"
    ]
    for strength in chosen.strength:
        table(stories, strength, chosen.seed, chosen.base)


def table(stories: Sequence[VotedStory], strength: float, seed: int, base: str | None) -> None:
    """Print the columns of one strength."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.jsonl"
        path.write_text("".join(json_text(row) + "\n" for row in simulated(stories, strength, seed)), encoding="utf-8")
        votes = read_explained_votes(path)
    models: dict[Explanation, CuriosityModel] = {
        explanation: LanguageCuriosity(base, explanation) if base else VectorCuriosity(explanation)
        for explanation in EXPLANATIONS
    }
    comparison = compared(votes, models, "held-out", seed=seed)
    opening = sum((vote.explanation or "").startswith(("Yes", "No")) for vote in votes)
    print(f"## Strength {strength:g}: {opening} of {len(votes)} explanations open with yes or no\n")
    print(f"{comparison.reading} {counts(comparison)}\n")
    print(f"| | {' | '.join(map(heading, comparison.columns))} |\n|:--|{'--:|' * len(comparison.columns)}")
    for key, name in NAMES.items():
        print(f"| {name} | {' | '.join(cell(column, key) for column in comparison.columns)} |")
    print()


if __name__ == "__main__":
    main()
