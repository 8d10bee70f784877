from inspect_ai.model import ModelOutput, get_model

from genie_inspect.building.prompts.pairs import concepts
from genie_inspect.building.stand_ins.rehearsal import TOKENS_A_REPLY_ITEM, Rehearsal
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.replies import numbered_answers


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
