import json
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from tests.scripted import OWL, Script, saying
from tests.solvers.runs import run

from genie_inspect.prompting.fence import unfenced
from genie_inspect.solvers.generations import generations
from genie_inspect.solvers.prompting_methods import trim, verbalized_sampling

RAW = "<think>An owl?</think>Sure, here is a story. An owl slept. It woke. Word count: 4"


def cutting(*words: str) -> Script:
    """A grader that names every sentence with one of these words."""

    def reply(request: str) -> str:
        sentences = unfenced(request)["sentences"]
        cut = [int(number) for number, text in sentences.items() if any(word in text for word in words)]
        return json.dumps({"cut": cut})

    return Script(reply)


def test_thoughts_and_talk_about_the_text_go_and_the_original_stays(tmp_path: Path) -> None:
    sample = run(trim(), saying(RAW), tmp_path, grader=cutting("Sure", "Word count"))[0]
    assert sample.output.completion == "An owl slept. It woke."
    assert sample.store["original"] == RAW


def test_the_grader_sees_numbered_sentences_and_its_words_never_reach_the_document(tmp_path: Path) -> None:
    grader = saying('They are talk. {"cut": [1], "text": "A better story."}')
    sample = run(trim(), saying("Sure! An owl slept."), tmp_path, grader=grader)[0]
    assert grader.data == [{"sentences": {"1": "Sure!", "2": "An owl slept."}}]
    # four tokens a number, and 50 to spare
    assert grader.configs[0].max_tokens == 2 * 4 + 50
    assert sample.output.completion == "An owl slept."


def test_without_the_grader_only_what_needs_none_is_cut(tmp_path: Path) -> None:
    looped = "<think>Go.</think>An owl slept. " + "Then it woke and slept. " * 20
    sample = run(trim(meta=False), saying(looped), tmp_path)[0]
    assert sample.output.completion == "An owl slept. Then it woke and slept."
    assert not sample.store.get("generations"), "a document that is trimmed is no set"


def test_behind_another_strategy_it_trims_what_that_one_wrote(tmp_path: Path) -> None:
    script = saying('{"responses": [{"text": "Sure! An owl slept.", "probability": 0.1}]}')
    sample = run([verbalized_sampling(k=1), trim()], script, tmp_path, grader=cutting("Sure"))[0]
    assert sample.output.completion == "An owl slept."
    assert len(script.requests) == 1


def test_a_grader_that_babbles_once_is_asked_again(tmp_path: Path) -> None:
    grader = saying("Nothing to cut, I think.", '{"cut": []}')
    assert run(trim(), saying("An owl."), tmp_path, grader=grader)[0].output.completion == "An owl."


@pytest.mark.parametrize("reply", ["Looks fine.", '{"cut": [3]}', '{"cut": ["all"]}', '{"cut": [1]}'])
def test_a_grader_that_babbles_twice_or_cuts_everything_leaves_no_document(tmp_path: Path, reply: str) -> None:
    sample = run(trim(), saying("An owl."), tmp_path, grader=saying(reply))[0]
    assert sample.output.completion == ""
    assert str(sample.output.error).startswith("trim: ")


def test_a_failed_strategy_keeps_its_own_reason(tmp_path: Path) -> None:
    sample = run([verbalized_sampling(), trim()], saying("babble"), tmp_path, grader=cutting())[0]
    assert sample.output.error == "verbalized_sampling: 0 of 5 responses could be read"


def test_without_a_grader_the_run_stops_before_anything_is_generated(tmp_path: Path) -> None:
    script = saying("An owl.")
    task = Task(dataset=MemoryDataset([Sample(input=OWL)]), solver=trim())
    log = evaluate(task, model=script.model(), log_dir=str(tmp_path), display="none")[0]
    assert log.status == "error"
    assert "trim asks a model which sentences" in str(log.error and log.error.message)
    assert script.requests == []


def test_a_set_of_which_one_reply_is_the_document_keeps_the_others(tmp_path: Path) -> None:
    sample = run([generations(k=3), trim(meta=False)], saying("<think>Hm.</think>An owl."), tmp_path)[0]
    assert sample.output.completion == "An owl."
    assert len(sample.store["generations"]) == 3


def test_each_of_several_choices_is_trimmed_and_with_them_what_measures_of_a_set_judge(tmp_path: Path) -> None:
    texts = [{"text": f"<think>Hm.</think>Sure! Owl {number}.", "probability": 0.1} for number in (1, 2)]
    script = saying(json.dumps({"responses": texts}))
    sample = run([verbalized_sampling(pick="all"), trim()], script, tmp_path, grader=cutting("Sure"))[0]
    assert [choice.message.text for choice in sample.output.choices] == ["Owl 1.", "Owl 2."]
    assert sample.store["generations"] == ["Owl 1.", "Owl 2."]
