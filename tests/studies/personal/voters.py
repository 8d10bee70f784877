"""Votes and scores for tests of judges of one's own."""

import json
from collections.abc import Mapping
from pathlib import Path

from inspect_ai.scorer import Score
from tests.reports.made_logs import made_log, scored

from genie_inspect.studies.personal.power import World, simulated

TESTS = ("01", "02")
SIGNATURE = "measure:ttcw|judge:critic(mock/a)|version:1-A"
WRITER = "mockllm/writer"
LENIENT = World(stories=24, tests=2, raters=3, raters_a_story=3, leniency=1.5, taste=0.5, scores=(1.0,))


def verdict(passes: Mapping[str, float | None], signature: str = SIGNATURE) -> Score:
    """A score as ttcw gives it: by test 1, 0 or None."""
    rows = [{"id": test, "pass": None if own is None else bool(own), "score": own} for test, own in passes.items()]
    total = sum(own or 0 for own in passes.values())
    return scored({"ttcw_total": float(total)}, signature, judge="critic(mock/a)", tests=rows)


def written(folder: Path, world: World = LENIENT, seed: int = 0) -> tuple[Path, Path]:
    """A file of votes and a log of verdicts on the same stories, by a world; three stories are of one plot.

    Raters are r0, r1 and so on; the id of story 7 is `7_mockllm/writer`, its plot `p2`.
    """
    ballots = simulated(world, seed).ballots
    votes = folder / "votes.jsonl"
    passes: dict[int, dict[str, float | None]] = {}
    lines = []
    for row in range(len(ballots)):
        story, test = int(ballots.stories.codes[row]), TESTS[ballots.tests.codes[row]]
        passes.setdefault(story, {})[test] = float(ballots.scores[row, 0] > 0)
        line = {
            "story": f"{story}_{WRITER}",
            "plot": ballots.plots.names[ballots.plots.codes[row]],
            "rater": ballots.raters.names[ballots.raters.codes[row]],
            "test": test,
            "verdict": bool(ballots.levels[row]),
        }
        lines.append(json.dumps(line) + "\n")
    votes.write_text("".join(lines), encoding="utf-8")
    samples = [{"ttcw": verdict(passes[story])} for story in sorted(passes)]
    log = made_log(folder / "logs", samples, model=WRITER, places=[(str(story), 1) for story in sorted(passes)])
    return votes, Path(log)
