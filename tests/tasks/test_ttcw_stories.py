"""The task `ttcw_stories`, run as a user runs it."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from tests.critics import blocks
from tests.scripted import Script, saying
from tests.tasks.runs import run as run_task

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.graders.rubrics import SETUPS
from genie_inspect.prompting.templates import load_template
from genie_inspect.signature import Signature
from genie_inspect.studies.ttcw.verdicts import asked_setups
from genie_inspect.tasks.critiques import setups_line, written_stories
from genie_inspect.tasks.novelty_measures import CostLine

STORIES = Path(__file__).parent / "stories.jsonl"
"""Two on a fine one, and one on another."""
CALLS = {"both": 28, "baseline": 14, "reference_only": 28, "analysis_only": 14, "rate_first": 28}


@pytest.fixture(autouse=True)
def _logs_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(request: str) -> str:
    """A critic that prefers whoever is bold, says yes to what is bold, and puts the label where it is asked for."""
    stories = blocks(request)[0]
    first = stories.get("story") or stories["story_a"]
    if "story" in stories:
        label = "[[YES]]" if "stopped counting" in first else "[[NO]]"
    else:
        label = "[[A=B]]" if "stopped counting" in first + stories["story_b"] else _fine_wins(first)
    return f"{label}\nIt is." if "on the first line" in request else f"It is.\n{label}"


def _fine_wins(first: str) -> str:
    return "[[A>B]]" if "mother" in first or "nobody" in first else "[[B>A]]"


def cost_line(stories: str, setups: str, templates: str | None = None) -> CostLine:
    return setups_line(written_stories(stories, None, setups), setups, "ttcw", templates)


def run(critic: Script, **options: Any) -> EvalLog:
    return run_task("ttcw_stories", Path(), saying("nothing"), critic, task_args={"stories": str(STORIES), **options})


def test_stories_are_judged_beside_their_references_and_alone_in_one_run_under_the_ids_of_their_votes() -> None:
    critic = Script(said)
    log = run(critic)
    assert len(critic.requests) == 3 * (28 + 14)
    samples = log.samples or []
    assert {sample.id for sample in samples} == {"0_plain", "0_bold", "1_plain"}
    keys = [set(score.value) for score in (samples[0].scores or {}).values() if isinstance(score.value, dict)]
    assert not keys[0] & keys[1]
    totals = {
        str(sample.id): [
            score.as_dict()[key] for score, key in zip((sample.scores or {}).values(), TOTALS, strict=True)
        ]
        for sample in samples
    }
    # the fine story wins by one in either order: -2, which passes
    assert totals == {"0_plain": [14, 0], "0_bold": [14, 14], "1_plain": [14, 0]}
    scores = read_scores([Path("logs")])
    assert [set(stories) for stories in scores.values()] == [set(totals)] * 2
    assert [row["setup"] for row in asked_setups(scores)] == [SETUPS["both"].said, SETUPS["baseline"].said]


TOTALS = ("ttcw_total", "ttcw_baseline_total")


@pytest.fixture
def one_story(tmp_path: Path) -> str:
    """The last of the stories alone, for what is the same for each."""
    path = tmp_path / "one.jsonl"
    path.write_text(STORIES.read_text(encoding="utf-8").splitlines()[-1], encoding="utf-8")
    return str(path)


def test_all_ways_are_one_run_and_one_table_and_a_cutoff_of_five_levels_leaves_the_other_scales_their_own(
    one_story: str,
) -> None:
    def label(request: str) -> str:
        return "[[YES]]" if "[[YES]]" in request else "[[A=B]]"

    run(Script(label), stories=one_story, setups="all", cutoff=-3)
    rows = asked_setups(read_scores([Path("logs")]))
    assert [row["setup"] for row in rows] == [setup.said for setup in SETUPS.values()]
    assert {row["total"] for row in rows} == {14}
    assert [row["cutoff"] for row in rows] == ["-3", "", "-3", "", "-3", "-1", "-3"]


@pytest.mark.parametrize("setup", CALLS)
def test_a_way_alone_asks_what_the_line_before_the_run_says(setup: str, one_story: str) -> None:
    critic = Script(said)
    log = run(critic, stories=one_story, setups=setup)
    assert len(critic.requests) == CALLS[setup]
    line = cost_line(one_story, setups=setup)
    assert line.costs(line.samples, 1)[f"ttcw {setup}"].calls == CALLS[setup]
    (score,) = (log.samples or [])[0].scores.values()  # type: ignore[union-attr]
    facts = Signature((score.metadata or {})["signature"]).facts
    assert {name: facts[name] for name in SETUPS[setup].facts} == SETUPS[setup].facts


def test_without_references_the_baseline_can_be_asked_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "alone.jsonl"
    path.write_text('{"story": "0_a", "text": "She stopped counting."}\n', encoding="utf-8")
    run(Script(said), stories=str(path), setups="baseline")
    with pytest.raises(PrerequisiteError, match="has no reference for '0_a'"):
        run(Script(said), stories=str(path))


def test_instructions_of_ones_own_are_counted_in_the_line_before_the_run(tmp_path: Path) -> None:
    ours = load_template("critic_alone_label", {"scale", "data"}).text
    (tmp_path / "critic_alone_label.md").write_text(f"{ours}\n{'Read it twice. ' * 50}", encoding="utf-8")
    shipped, own = (cost_line(str(STORIES), setups="baseline", templates=folder) for folder in (None, str(tmp_path)))
    before, after = (line.costs(line.samples, 1)["ttcw baseline"] for line in (shipped, own))
    assert after.calls == before.calls
    assert after.tokens_in > before.tokens_in + 100 * before.calls


def test_reasons_behind_a_label_are_counted_as_an_analysis_before_it() -> None:
    line = cost_line(str(STORIES), setups="both,rate_first,reference_only")
    both, rate_first, label = line.costs(line.samples, 1).values()
    assert both.tokens_out == rate_first.tokens_out > label.tokens_out
