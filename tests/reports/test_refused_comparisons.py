"""What cannot be compared is refused with what it lacks."""

import math
from pathlib import Path

import pytest
from inspect_ai.log import write_eval_log
from tests.reports.logs import log_of, plots
from tests.reports.made_logs import made_log

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.pairing import Options, Selection


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(min_coherence=3), "has no coherence, rate it with"),
        (Selection(length_matched=True), "does not say how long the population's documents are"),
    ],
)
def test_a_selection_by_what_the_logs_lack_is_refused(tmp_path: Path, selection: Selection, message: str) -> None:
    log_of(tmp_path, "plain", plots(0.1))
    log_of(tmp_path, "outlined", plots(0.2))
    with pytest.raises(LogError, match=message):
        compare([tmp_path], "plain", Options(selection=selection))


def test_one_log_is_refused(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1))
    with pytest.raises(LogError, match=r"one log, .*eval, expected a baseline and another to compare with it$"):
        compare([tmp_path], "plain")


def test_a_log_still_running_is_refused_by_name(tmp_path: Path) -> None:
    plain = log_of(tmp_path, "plain", plots(0.1))
    running = log_of(tmp_path, "outlined", plots(0.2))
    running.status = "started"
    write_eval_log(running)
    with pytest.raises(LogError, match=r"outlined.*is not finished: its status is 'started'"):
        compare([plain.location, running.location], "plain")


def test_an_unknown_baseline_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1))
    log_of(tmp_path, "outlined", plots(0.2))
    with pytest.raises(LogError, match=r"baseline is 'plian', expected one of: plain; outlined"):
        compare([tmp_path], "plian")


def test_a_baseline_that_names_every_log_is_refused(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1))
    log_of(tmp_path, "outlined", plots(0.2))
    with pytest.raises(LogError, match="names every log"):
        compare([tmp_path], "mockllm/model")


def test_a_baseline_that_could_be_two_logs_is_refused_with_both(tmp_path: Path) -> None:
    for _ in range(2):
        log_of(tmp_path, "plain", plots(0.1))
    log_of(tmp_path, "outlined", plots(0.2))
    with pytest.raises(LogError, match=r"the baseline of outlined.* is not clear, it could be"):
        compare([tmp_path], "plain")


def test_a_run_whose_model_has_no_baseline_is_refused_with_those_of_the_others(tmp_path: Path) -> None:
    for model in ("ann", "bob"):
        log_of(tmp_path, "plain", plots(0.1), model=model)
    log_of(tmp_path, "outlined", plots(0.2), model="cal")
    with pytest.raises(LogError, match=r"could be mockllm/ann; mockllm/bob: name one"):
        compare([tmp_path], "plain")


def test_logs_without_a_common_prompt_are_refused(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", {"owl": [{"plot": 0.1}]})
    log_of(tmp_path, "outlined", {"fox": [{"plot": 0.1}]})
    with pytest.raises(LogError, match=r"share no prompt: the first has 'Write about owl.', the second 'Write about"):
        compare([tmp_path], "plain")


def test_mixed_signatures_are_refused_and_shown(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1))
    log_of(tmp_path, "outlined", plots(0.2), signature="measure:genie|judge:another|version:0")
    with pytest.raises(LogError, match="do not compare, their signatures differ") as caught:
        compare([tmp_path], "plain")
    message = str(caught.value)
    assert "judge is" in message
    assert {"test", "another"} <= set(message.replace(" (", " ").split())
    assert "\n" not in message


def test_a_scorer_that_a_log_lacks_is_refused(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1))
    log_of(tmp_path, "outlined", plots(0.2))
    made_log(tmp_path, [{}], model="z")
    with pytest.raises(LogError, match="has no scores by 'genie', expected one of none"):
        compare([tmp_path], "plain", Options(scorers=("genie",)))
    with pytest.raises(LogError, match="has no scores by 'cosine', expected one of genie"):
        compare([tmp_path], "plain", Options(scorers=("cosine",)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(correction="sidak"), "correction is 'sidak', expected one of holm, bonferroni, none"),
        (Options(equivalence="z"), "equivalence is 'z', expected one of t, bootstrap"),
        (Options(margin=0.0), "margin is 0.0, expected a number above 0$"),
        (Options(margin=math.nan), "margin is nan"),
        (Options(margin=math.inf), "margin is inf"),
    ],
)
def test_an_option_out_of_range_is_refused(tmp_path: Path, options: Options, message: str) -> None:
    with pytest.raises(UnknownChoiceError, match=message):
        compare([tmp_path], "plain", options)
