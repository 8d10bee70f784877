import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, EvalSpec, read_eval_log, write_eval_log
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState
from inspect_ai.viewer import ScoreColorScale, TaskSamplesView, ViewerConfig
from tests.reports.made_logs import made_log
from tests.scripted import evaluated, saying

from genie_inspect import inspect_private
from genie_inspect.logs.measures import keys_to_test, viewed_range
from genie_inspect.logs.reading import ScoredLog, read_logs
from genie_inspect.signature import Signature
from genie_inspect.tasks.panel import KEYS, MEASURES

SHARE = {"headline": "share", "ranges": {"share": [0, 1], "runs_*": [0, None]}, "meaning": "Higher is more."}


@pytest.fixture
def header(tmp_path: Path) -> EvalLog:
    """A log whose view has plot and style from 0 to 1, and whose scorers say nothing of themselves."""
    return read_eval_log(made_log(tmp_path, [{}]), header_only=True)


def with_scorers(header: EvalLog, **said: object) -> EvalLog:
    scorers = [{"name": name, "metadata": words} for name, words in said.items()]
    header.eval = EvalSpec.model_validate(header.eval.model_dump() | {"scorers": scorers})
    return header


def by(header: EvalLog, scorer: str, signature: str) -> ScoredLog:
    return ScoredLog("made.eval", header, (), {scorer: (Signature(signature),)})


def chosen(header: EvalLog, signature: str, keys: Sequence[str], of: str = "it") -> tuple[str, ...]:
    """The keys that a comparison tests, of a scorer by that name."""
    return keys_to_test(by(header, of, signature).declared(of), keys)


def test_of_several_measures_in_one_score_each_ones_headline_is_tested_and_explained(header: EvalLog) -> None:
    keys = [key for measure in MEASURES for key in KEYS[measure]]
    signature = "|".join(["measure:novelty_panel", *(f"{name}:x" for name in MEASURES), "version:0"])
    assert chosen(header, signature, keys) == tuple(KEYS[name][0] for name in MEASURES)
    for name in MEASURES:
        alone = [by(header, "it", f"measure:{name}|version:0").known_range("it", key) for key in KEYS[name]]
        assert [by(header, "it", signature).known_range("it", key) for key in KEYS[name]] == alone
    lines = by(header, "novelty_panel", "measure:novelty_panel|cosine:x|creativity_index:x").meanings("novelty_panel")
    assert [line.split(".")[0] for line in lines] == ["Cosine", "Creativity index"]
    (line,) = by(header, "cosine", "measure:cosine|version:0").meanings("cosine")
    assert line.startswith("0: in meaning the same")


@pytest.mark.parametrize("signature", ["none", "measure:another|version:0", "measure:cosine|version:0"])
def test_of_a_measure_with_other_keys_all_are_tested_while_they_are_few(header: EvalLog, signature: str) -> None:
    assert chosen(header, signature, ["a", "b", "c"]) == ("a", "b", "c")
    assert chosen(header, signature, ["a", "b", "c", "d"]) == ("a",)
    assert chosen(header, signature, []) == ()
    # a headline in a score of another measure is a key like any other
    assert chosen(header, "none", ["a", "cosine_mean"]) == ("a", "cosine_mean")
    assert (
        by(header, "it", "measure:somebodys|version:0").meanings("it") == by(header, "it", "none").meanings("it") == []
    )


@pytest.mark.parametrize(
    ("signature", "key", "ends"),
    [
        ("none", "plot", (0, 1)),  # the view says so
        ("none", "cosine_mean", None),
        ("measure:genie|version:0", "whatever feature", (0, 1)),
        ("measure:creativity_index|version:0", "creativity_index_sum", (0, 8)),
        ("measure:novelty_panel|litbench:x|version:0", "litbench_order_bias", (-1, 1)),
        ("measure:ttcw|version:0", "ttcw_total", (0, math.inf)),
        ("measure:novelty_bench|k:10|version:0", "distinct", (1, 10)),
        ("measure:novelty_bench|version:0", "distinct", (1, math.inf)),
        ("measure:coherence|by:grader(m,template=x)|version:0", "coherence_rating", (1, 5)),
        ("measure:coherence|by:reward/x|version:0", "coherence_rating", None),
    ],
)
def test_a_range_is_what_the_view_says_else_what_the_measure_is(
    header: EvalLog, signature: str, key: str, ends: tuple[float, float] | None
) -> None:
    assert by(header, "it", signature).known_range("it", key) == ends


def test_what_a_log_says_of_a_scorer_beats_what_is_installed_and_needs_no_signature(header: EvalLog) -> None:
    keys = ("trust", "share", "runs_5", "runs_6")
    log = with_scorers(header, share=SHARE, cosine=SHARE)
    for name, measure in (("share", "none"), ("renamed", "measure:share|version:1-A"), ("cosine", "measure:cosine")):
        assert chosen(log, measure, keys, name) == ("share",)
        assert by(log, name, measure).known_range(name, "share") == (0, 1)
        assert by(log, name, measure).known_range(name, "runs_5") == (0, math.inf)
        assert by(log, name, measure).known_range(name, "trust") is None
        assert by(log, name, measure).meanings(name) == ["Higher is more."]


@pytest.mark.parametrize(
    "said",
    [
        None,
        {},
        {"headline": 7, "ranges": [0, 1], "meaning": None},
        *({"ranges": {"share": ends}} for ends in (None, [0], [0, 1, 2], "01", [1, 0], [1, 1], [None, None])),
        *({"ranges": {"share": ends}} for ends in ([math.nan, 10**400], [{}, "k"])),
    ],
)
def test_what_makes_no_sense_is_as_if_it_were_not_said(header: EvalLog, said: Any) -> None:
    log = with_scorers(header, share=said)
    assert by(log, "share", "measure:share|k:many|version:0").known_range("share", "share") is None
    assert chosen(log, "none", ("a", "share"), "share") == ("a", "share")
    assert by(log, "share", "none").meanings("share") == []


def test_without_its_wire_a_log_of_before_is_shown_as_anybodys(
    header: EvalLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_private, "_wire", lambda module, name: None)
    signature = "measure:cosine|version:0"
    assert chosen(header, signature, KEYS["cosine"]) == tuple(KEYS["cosine"])
    assert by(header, "cosine", signature).known_range("cosine", "cosine_mean") is None
    assert chosen(with_scorers(header, cosine={"headline": "cosine_mean"}), signature, KEYS["cosine"], "cosine") == (
        "cosine_mean",
    )


@scorer(metrics={"*": [mean()]}, headline="b", ranges={"a": (0, 1)}, meaning="Higher is higher.")
def lettered() -> Scorer:

    async def letters(state: TaskState, target: Target) -> Score:
        return Score(value={"a": 0.5, "b": 2.0})

    return letters


@pytest.mark.parametrize("later", [False, True])
def test_the_decorator_of_anybodys_scorer_is_read_from_the_log_also_when_it_scored_later(
    later: bool, tmp_path: Path
) -> None:
    log = evaluated([] if later else lettered(), saying("An owl."), None, tmp_path)
    if later:
        write_eval_log(score(log, lettered(), action="append", display="none"), log.location)
    (read,) = read_logs([log.location])
    assert keys_to_test(read.declared("lettered"), ("a", "b")) == ("b",)
    assert read.known_range("lettered", "a") == (0, 1)
    assert read.meanings("lettered") == ["Higher is higher."]


def test_a_view_that_says_one_end_alone_says_nothing_of_the_range(header: EvalLog) -> None:
    for stated, ends in (({"min": 0, "max": 3}, (0, 3)), ({"min": 0}, None), ({"max": 3}, None)):
        scale = ScoreColorScale.model_validate({"palette": "neutral"} | stated)
        view = TaskSamplesView(name="made", score_color_scales={"plot": scale})
        header.eval.viewer = ViewerConfig(task_samples_view=view)
        assert (viewed_range(header, "plot"), viewed_range(header, "style")) == (ends, None)
