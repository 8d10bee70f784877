"""The recipe that puts people's votes into a log."""

import json
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from tests.processes import Commands
from tests.reports.made_logs import made_log, scored

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "scorers" / "people_votes.py"
pytestmark = pytest.mark.skipif(not RECIPE.is_file(), reason="recipes stand in a clone, not in a wheel")

BALLOTS = [
    {"story": "owl_mockllm/writer#1", "rater": "ann", "votes": {"01": True, "02": False}},
    {"story": "owl_mockllm/writer#1", "rater": "bea", "votes": {"01": True, "02": True}},
    {"story": "fox_mockllm/writer#1", "rater": "ann", "votes": {"01": False, "02": None}},
    {"story": "fox_mock/other#1", "rater": "ann", "votes": {"01": True}},
]


def test_the_share_of_people_who_pass_a_story_stands_beside_the_critics_score(tmp_path: Path) -> None:
    stories = [{"ttcw": scored({"ttcw_01": 1.0})} for _ in range(3)]
    file = made_log(tmp_path / "logs", stories, model="mockllm/writer", places=[("owl", 1), ("fox", 1), ("elk", 1)])
    votes = tmp_path / "votes.jsonl"
    votes.write_text("".join(json.dumps(ballot) + "\n" for ballot in BALLOTS), encoding="utf-8")
    arguments = ["score", file, "--scorer", RECIPE, "-S", f"votes={votes}", "--action", "append", "--overwrite"]
    with Commands(tmp_path) as commands:
        for model, code in (("mock/nobody", 1), ("mockllm/writer", 0)):
            last = [*arguments, "-S", f"model={model}", "--display", "plain"]
            ended = commands.run(*last, program="inspect", folder=ROOT)
            said = " ".join(ended.stdout.split())
            assert ended.code == code, said + ended.stderr
            expected = f"has no story by {model!r}, expected ids as `genie agreement` has them"
            assert (expected in said) == bool(code)
            assert "Traceback" not in said + ended.stderr
    log = read_eval_log(file)
    values = {sample.id: (sample.scores or {}) for sample in log.samples or []}
    assert values["owl"]["people"].value == {"people_01": 1.0, "people_02": 0.5}
    assert values["owl"]["people"].explanation == "2 people: ann, bea."
    fox = values["fox"]["people"].value
    assert isinstance(fox, dict)
    assert (fox["people_01"], str(fox["people_02"])) == (0.0, "nan")
    assert list(values["elk"]) == ["ttcw"], "without a vote it is unscored"
    assert log.results
    means = {score.name: score.metrics["mean"].value for score in log.results.scores if score.scorer == "people"}
    assert means == {"people_01": 0.5, "people_02": 0.5}
