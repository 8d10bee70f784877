import sqlite3
import threading
from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from tests.building.scripts import recorded
from tests.scripted import Script, output, saying

from genie_inspect.building.prompts import concepts
from genie_inspect.errors import PopulationError
from genie_inspect.graders.stand_ins import TOKENS_A_REPLY_ITEM, RecordedModel, Rehearsal, ReplyRecord
from genie_inspect.prompting.replies import numbered_answers
from genie_inspect.prompting.templates import fenced


async def test_the_same_request_again_gets_the_next_reply_and_the_same_ones_in_the_next_run(tmp_path: Path) -> None:
    model = recorded(saying("one", "two", "three"), tmp_path)
    assert [(await model.generate("Say.")).completion for _ in range(2)] == ["one", "two"]
    other = saying("other")
    again = recorded(other, tmp_path)
    assert [(await again.generate("Say.")).completion for _ in range(3)] == ["one", "two", "other"]
    assert (again.tally.calls, again.tally.recorded, again.tally.requests, len(other.requests)) == (1, 2, 3, 1)


async def test_other_settings_are_another_request(tmp_path: Path) -> None:
    model = recorded(saying("cold", "warm"), tmp_path)
    said = [await model.generate("Say.", config=GenerateConfig(temperature=heat)) for heat in (0.0, 1.0)]
    said += [await recorded(saying("new"), tmp_path).generate("Say.", config=GenerateConfig(temperature=1.0))]
    assert [output.completion for output in said] == ["cold", "warm", "warm"]
    # every scripted reply says: 1 token in, 1 token out
    assert (model.tally.calls, model.tally.input_tokens, model.tally.output_tokens) == (2, 2, 2)
    assert str(model) == str(saying("a").model()), "the name stays the model's own in signatures"


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "replies.sqlite").write_text("this is no database, however long it may be" * 50)
    with pytest.raises(PopulationError, match=r"replies\.sqlite is not a readable record"):
        ReplyRecord(tmp_path / "replies.sqlite")


def test_a_record_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "replies.sqlite", check_same_thread=False, isolation_level=None)
    other.execute("begin immediate")  # as of whoever makes the table: SQLite refuses the other one at once
    threading.Timer(0.2, lambda: other.execute("rollback")).start()
    assert ReplyRecord(tmp_path / "replies.sqlite").reply("Is it?", 0) is None


@pytest.mark.parametrize("value", ["'no reply'", "x'ff'", "cast(x'ff' as text)", "3"])
async def test_a_reply_that_is_none_is_one_line_that_names_the_record(value: str, tmp_path: Path) -> None:
    await recorded(saying("yes"), tmp_path).generate("Is it?")
    with sqlite3.connect(tmp_path / "replies.sqlite") as record:
        record.execute(f"update replies set output = {value}")
    again = recorded(saying("no"), tmp_path)
    with pytest.raises(PopulationError, match=r"replies\.sqlite is not a readable record of replies") as caught:
        await again.generate("Is it?")
    assert "\n" not in str(caught.value)


def test_damage_in_the_middle_of_a_record_is_one_line_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    whole = ReplyRecord(path)
    for number in range(100):
        whole.keep(str(number), 0, output("yes" * 100))
    with sqlite3.connect(path) as record:
        record.execute("pragma wal_checkpoint(truncate)")
    content = path.read_bytes()
    path.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with pytest.raises(PopulationError, match=r"replies\.sqlite is not a readable record of replies .*\. Remove it"):
        ReplyRecord(path).reply("7", 0)


@pytest.mark.parametrize(("keep_cut", "asked"), [(True, 1), (False, 2)])
async def test_a_reply_that_was_cut_off_is_on_record_where_it_is_of_use(
    keep_cut: bool, asked: int, tmp_path: Path
) -> None:
    script = Script(lambda _: output("Half a", "max_tokens"))
    for _ in range(2):
        model = RecordedModel(script.model(), ReplyRecord(tmp_path / "replies.sqlite"), keep_cut=keep_cut)
        assert (await model.generate("Tell.")).completion == "Half a"
    assert len(script.requests) == asked


async def rehearsal(data: dict[str, object]) -> ModelOutput:
    return await Rehearsal(get_model("mockllm/model")).generate(fenced(data))


async def test_a_dry_run_counts_the_tokens_of_every_item_of_a_reply() -> None:
    read = await rehearsal({"document": "An owl.", "questions": {"1": "Who?", "2": "Where?", "3": "Why?"}})
    listed = await rehearsal({"prompt": "Write about an owl.", "aspect": "night", "count": 8})
    said = [output.usage.output_tokens for output in (read, listed) if output.usage]
    assert said == [3 * TOKENS_A_REPLY_ITEM, 8 * TOKENS_A_REPLY_ITEM]


async def test_the_pairs_of_a_rehearsal_are_two_words_each_and_others_for_another_request() -> None:
    replies = [
        numbered_answers(
            (await rehearsal({"domain": "sea", "count": 20, "letters": letters, "taken": []})).completion, 20
        )
        for letters in (["a"], ["b"])
    ]
    assert all(concepts(text) for reply in replies for text in reply.values())
    assert [len(reply) for reply in replies] == [20, 20]
    assert not set(replies[0].values()) & set(replies[1].values())
