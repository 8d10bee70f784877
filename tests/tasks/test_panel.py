"""Several measures on one generation: by option, and as one score for an old log."""

import math
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import Score
from tests.processes import Commands
from tests.scripted import saying, scores, small_population
from tests.tasks.runs import run

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.tasks.panel import KEYS, PREFERENCE, chosen_panel, merged
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts

ROOT = Path(__file__).parents[2]
CHEAP = ("cosine", "compression", "creativity_index", "expression_novelty", "partition")


@pytest.mark.parametrize(
    ("panel", "names"),
    [
        ("none", ()),
        ("", ()),
        ("cheap", CHEAP),
        ("all", (*CHEAP, "litbench", "close_reading")),
        ("partition, cosine,cosine", ("partition", "cosine")),
        (["partition", "cosine"], ("partition", "cosine")),
        ("cheap,litbench", (*CHEAP, "litbench")),
    ],
)
def test_names_stand_for_measures(panel: str | list[str], names: tuple[str, ...]) -> None:
    assert chosen_panel(panel).names == names


@pytest.mark.parametrize(
    ("panel", "judge", "equivalence"),
    [
        ("all", "list", "grader"),
        ("all", "offline", "embedding"),
        ("cheap", "list", "embedding"),
        ("litbench,cheap", "list", "embedding"),
        ("cheap,partition", "list", "grader"),
        ("cheap,all", "list", "grader"),
        ("cosine", "list", ""),
    ],
)
def test_partition_asks_a_model_only_where_the_judge_does(panel: str, judge: str, equivalence: str) -> None:
    chosen = chosen_panel(panel, judge)
    assert (chosen.asks_equivalence, chosen.asks(PREFERENCE)) == (equivalence, "all" in panel or "litbench" in panel)


def test_a_measure_is_named_with_the_protocol_by_which_it_asks() -> None:
    assert chosen_panel("litbench").protocol == chosen_panel("all").protocol == "chat"
    for panel in ("cosine,litbench/generative", "litbench/generative,cosine,litbench"):
        chosen = chosen_panel(panel)
        assert set(chosen.names) == {"cosine", "litbench"}
        assert (chosen.protocol, chosen.asks(PREFERENCE)) == ("generative", True)


@pytest.mark.parametrize(
    "panel",
    [
        *("litbench/genrm", "litbench/", "cosine/chat", "litbench/chat,litbench/generative"),
        *("diversity", "cheap,diversity", "none,cosine", ["cosine", "x"]),
    ],
)
def test_an_unknown_name_and_a_protocol_that_is_one_too_many_are_refused_with_what_is_known(
    panel: str | list[str],
) -> None:
    shown = panel if isinstance(panel, str) else ",".join(panel)
    known = "expected none, or cheap .* or, once, litbench/chat, litbench/gen"
    with pytest.raises(UnknownChoiceError, match=f"panel is '{shown}', {known}"):
        chosen_panel(panel)


def test_no_key_is_its_measures_name_for_inspect_view_would_show_the_whole_score_in_its_cell() -> None:
    assert not {measure for measure, keys in KEYS.items() if measure in keys}


def test_a_measure_that_could_not_be_taken_leaves_nan_under_its_keys() -> None:
    good = Score(value={"cosine_mean": 0.2, "cosine_nearest": 0.1}, explanation="far", metadata={"signature": "a|b"})
    bad = Score.unscored(reason="grader_failed", explanation="Not scored: no route")
    one = merged({"cosine": good, "litbench": bad})
    assert isinstance(one.value, dict)
    assert list(one.value) == ["cosine_mean", "cosine_nearest", "litbench_win_rate", "litbench_order_bias"]
    assert math.isnan(float(one.value["litbench_win_rate"] or 0))
    assert one.reason is None
    assert one.metadata
    assert "|cosine:a,b|litbench:none|" in one.metadata["signature"]
    assert merged({"litbench": bad}).reason == "grader_failed"


def test_the_recipe_scores_an_old_log_with_one_score(tmp_path: Path) -> None:
    folder = str(small_population(tmp_path / "population").folder)
    writer = saying("A brown owl counted the trains.")
    log = run(synthetic_prompts(population=folder, judge="offline"), tmp_path, writer, epochs=1)
    command = [
        "score", log.location, "--scorer", ROOT / "scorers" / "novelty_panel.py", "-S", f"population={folder}",
        "--action", "append", "--output-file", tmp_path / "scored.eval", "--display", "plain",
    ]  # fmt: skip
    with Commands(tmp_path) as commands:
        ended = commands.run(*command, program="inspect")
    assert ended.code == 0, ended.stdout + ended.stderr
    for score in scores(read_eval_log(str(tmp_path / "scored.eval")), "novelty_panel"):
        assert isinstance(score.value, dict)
        assert list(score.value) == [key for name in CHEAP for key in KEYS[name]]
        assert not any(math.isnan(float(value or 0)) for value in score.value.values())


@pytest.mark.parametrize(
    ("name", "template"),
    [("partition", "same_list"), ("litbench", "prefer"), ("litbench/generative", "prefer_generative")],
)
def test_templates_of_the_users_reach_the_measures_that_ask_a_model(name: str, template: str, tmp_path: Path) -> None:
    (tmp_path / f"{template}.md").write_text("Compare $this.", encoding="utf-8")
    with pytest.raises(PrerequisiteError, match=f"{template}.md has the blanks"):
        chosen_panel(name, "list").scorers("starter", templates=str(tmp_path))
