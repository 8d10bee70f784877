import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.solver import Solver, generate
from tests.critics import comparing
from tests.scripted import OWL, Script, output, saying
from tests.solvers.runs import run
from tests.tasks.runs import run as run_task

from genie_inspect.prompting.templates import load_template, unfenced
from genie_inspect.solvers.generations import drawn_plot, generations, plot_prompt
from genie_inspect.solvers.prompting_methods import negative_sampling, outline, trim, verbalized_sampling


def planning() -> Script:
    def reply(request: str) -> str:
        data = unfenced(request)
        return f"the {data['stage']} of it" if "stage" in data else "An owl leaves home."

    return Script(reply)


def test_each_part_of_the_plan_is_made_in_the_light_of_the_parts_before_it_and_then_the_text(tmp_path: Path) -> None:
    script = planning()
    sample = run(outline(), script, tmp_path, words=180)[0]
    plan = {stage: f"the {stage} of it" for stage in ("conflict", "characters", "setting", "plot")}
    assert sample.output.completion == "An owl leaves home."
    assert sample.store["plan"] == plan
    stages = list(plan)
    for index, stage in enumerate(stages):
        expected = {"request": OWL, "plan": {s: plan[s] for s in stages[:index]}, "stage": stage}
        assert script.data[index] == expected
    assert script.data[4] == {"request": OWL, "plan": plan}
    assert "about 180 words long" in script.requests[4]


@pytest.mark.parametrize("stages", ["ending, voice", ["ending", "voice"]])
def test_the_stages_can_be_named(tmp_path: Path, stages: str | Sequence[str]) -> None:
    assert list(run(outline(stages=stages), planning(), tmp_path)[0].store["plan"]) == ["ending", "voice"]


@pytest.mark.parametrize(
    ("solver", "said", "error", "asked"),
    [
        (outline(stages="conflict,characters"), ["a storm", "", " "], "outline: no characters could be read", 3),
        (outline(stages="conflict"), ["a storm", "<think>What to write?</think>"], "outline: no text could be read", 3),
        (negative_sampling(), ["An owl sleeps.", ""], "negative_sampling: no text could be read", 3),
        (negative_sampling(), [""], "negative_sampling: no text could be read", 2),
    ],
)
def test_silence_twice_leaves_the_sample_without_a_document(
    solver: Solver, said: list[str], error: str, asked: int, tmp_path: Path
) -> None:
    script = saying(*said)
    sample = run(solver, script, tmp_path)[0]
    assert (sample.output.completion, sample.output.error, len(script.requests)) == ("", error, asked)


def test_each_round_sees_everything_written_before_and_the_last_document_counts(tmp_path: Path) -> None:
    script = saying("one", "two", "three")
    sample = run(negative_sampling(rounds=2), script, tmp_path)[0]
    assert sample.output.completion == "three"
    assert sample.store["earlier"] == ["one", "two"]
    assert script.requests[0] == OWL
    earlier = [unfenced(request) for request in script.requests[1:]]
    assert earlier == [{"request": OWL, "earlier": ["one"]}, {"request": OWL, "earlier": ["one", "two"]}]


def test_a_refused_first_document_is_shown_to_nobody(tmp_path: Path) -> None:
    script = saying("never")
    script.reply = lambda request: output("I cannot.", "content_filter")
    sample = run(negative_sampling(), script, tmp_path)[0]
    assert sample.output.stop_reason == "content_filter"
    assert len(script.requests) == 1


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


@pytest.mark.parametrize(
    ("words", "asked"), [(32, "about 32 words"), (841, "about 840 words"), (1500, "about 1500 words"), (None, "")]
)
def test_the_length_is_asked_for_as_a_person_would_and_a_sample_without_what_it_needs_is_refused(
    words: int | None, asked: str, tmp_path: Path
) -> None:
    writer = saying("A new story.")
    metadata = {"title": "Bee", "plot": "A bee counts.", "words": words} if words else None
    sample = Sample(input="-", target="A bee.", metadata=metadata)
    task = Task(dataset=[sample], setup=plot_prompt(), solver=generate())
    critic, status = comparing(lambda a, b, aspect: 0), "success" if words else "error"
    log = run_task(task, tmp_path, writer, critic, status)
    if words:
        assert asked in writer.requests[0]
    else:
        assert "plot_prompt needs plot, title, words in a sample's metadata" in str(log.error and log.error.message)
        assert not writer.requests


async def test_a_plot_that_is_asked_for_again_does_not_come_from_the_providers_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    script = saying(" ", " ", "A bee counts.")
    model = get_model("mockllm/model", custom_outputs=script, memoize=False, config=GenerateConfig(cache=True))
    assert await drawn_plot(model, load_template("draw_plot", {"data"}), "A long story.") == "A bee counts."
    assert len(script.requests) == 3


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


@pytest.mark.parametrize("reply", ["Looks fine.", '{"cut": [3]}', '{"cut": ["all"]}', '{"cut": [1]}'])
def test_a_grader_that_babbles_twice_or_cuts_everything_leaves_no_document(tmp_path: Path, reply: str) -> None:
    sample = run(trim(), saying("An owl."), tmp_path, grader=saying(reply))[0]
    assert sample.output.completion == ""
    assert str(sample.output.error).startswith("trim: ")


def test_a_grader_that_fails_leaves_no_document_and_is_the_reason(tmp_path: Path) -> None:
    def unreachable(request: str) -> str:
        raise ConnectionError("no route")

    sample = run(trim(), saying("An owl."), tmp_path, grader=Script(unreachable))[0]
    assert (sample.output.completion, sample.output.error) == ("", "grader_failed")


def test_a_failed_strategy_keeps_its_own_reason(tmp_path: Path) -> None:
    sample = run([verbalized_sampling(), trim()], saying("babble"), tmp_path, grader=cutting())[0]
    assert sample.output.error == "verbalized_sampling: 0 of 5 responses could be read"


def test_without_a_grader_the_run_stops_before_anything_is_generated(tmp_path: Path) -> None:
    script = saying("An owl.")
    task = Task(dataset=MemoryDataset([Sample(input=OWL)]), solver=trim())
    log = run_task(task, tmp_path, script, status="error")
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
