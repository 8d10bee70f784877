import json
from pathlib import Path

import pytest
from tests.scripted import OWL, output, saying
from tests.solvers.runs import run

from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.prompting.fence import unfenced
from genie_inspect.solvers.negative_sampling import negative_sampling


def test_the_last_document_counts_and_the_earlier_one_stays(tmp_path: Path) -> None:
    script = saying("An owl sleeps.", "A ship burns.")
    sample = run(negative_sampling(), script, tmp_path)[0]
    assert sample.output.completion == "A ship burns."
    assert sample.store["earlier"] == ["An owl sleeps."]
    assert script.requests[0] == OWL
    assert unfenced(script.requests[1]) == {"request": OWL, "earlier": ["An owl sleeps."]}


def test_each_round_sees_everything_written_before(tmp_path: Path) -> None:
    script = saying("one", "two", "three")
    sample = run(negative_sampling(rounds=2), script, tmp_path)[0]
    assert sample.output.completion == "three"
    assert sample.store["earlier"] == ["one", "two"]
    assert unfenced(script.requests[2]) == {"request": OWL, "earlier": ["one", "two"]}


def test_silence_in_the_second_round_scores_neither_document(tmp_path: Path) -> None:
    script = saying("An owl sleeps.", "")
    sample = run(negative_sampling(), script, tmp_path)[0]
    assert (sample.output.completion, sample.output.error) == ("", "negative_sampling: no text could be read")
    assert len(script.requests) == 3


def test_silence_in_the_first_round_is_asked_once_more_and_then_ends_it(tmp_path: Path) -> None:
    script = saying("")
    sample = run(negative_sampling(), script, tmp_path)[0]
    assert sample.output.error == "negative_sampling: no text could be read"
    assert script.requests == [OWL, OWL]


def test_silence_once_in_the_first_round_costs_nothing_but_the_question(tmp_path: Path) -> None:
    script = saying("", "An owl sleeps.", "A ship burns.")
    sample = run(negative_sampling(), script, tmp_path)[0]
    assert (sample.output.completion, sample.store["earlier"]) == ("A ship burns.", ["An owl sleeps."])
    assert unfenced(script.requests[2]) == {"request": OWL, "earlier": ["An owl sleeps."]}


def test_a_refused_first_document_is_shown_to_nobody(tmp_path: Path) -> None:
    script = saying("never")
    script.reply = lambda request: output("I cannot.", "content_filter")
    sample = run(negative_sampling(), script, tmp_path)[0]
    assert sample.output.stop_reason == "content_filter"
    assert len(script.requests) == 1


@pytest.mark.parametrize("rounds", [0, -1, 1.5, "two", True])
def test_rounds_out_of_range_are_refused(rounds: object) -> None:
    with pytest.raises(PrerequisiteError, match="rounds is"):
        negative_sampling(rounds=rounds)  # type: ignore[arg-type]  # wrong on purpose


def test_a_reply_that_copies_the_request_is_no_document(tmp_path: Path) -> None:
    """As Qwen2.5-Coder Instruct with 1.5 billion parameters gave it, twice in 40 stories."""
    came = json.loads((Path(__file__).parent / "copied_request.json").read_text(encoding="utf-8"))
    once = run(negative_sampling(), saying(came["first"], came["reply"], "A ship burns."), tmp_path)[0]
    assert once.output.completion == "A ship burns."
    twice = run(negative_sampling(), saying(came["first"], came["reply"]), tmp_path)[0]
    assert (twice.output.completion, twice.output.error) == ("", "negative_sampling: no text could be read")


def test_a_text_behind_the_copied_request_is_the_document(tmp_path: Path) -> None:
    script = saying("An owl sleeps.")
    script.reply = lambda request: output("An owl sleeps." if request == OWL else f"{request}\n\nA ship burns.")
    assert run(negative_sampling(), script, tmp_path)[0].output.completion == "A ship burns."
