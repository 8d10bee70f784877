from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from tests.engines.tiny_models import tiny_model

from genie_inspect.engines.identity import folder_digest, identified
from genie_inspect.errors import EngineFailedError, MissingExtraError
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.providers.joint_decoding import Batch, Call, Conformative, ConformativeAPI, sharpened

PROMPTS = ("The castle stood", "A spaceship", "Write a story about an owl. Once upon a time", "The dog walked over")


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        *((model, {}, r"expected conformative/<base>\+<instruct>") for model in ("gpt", "+instruct", "a+b+c")),
        ("a+b", {"weigth": 0.5}, "got weigth"),
        ("a+b", {"base_sees": "all"}, "base_sees is 'all', expected one of plain, chat"),
        ("a+b", {"base_weight": 2}, "base_weight is 2"),
        ("a+b", {"base_weight": -0.1}, "base_weight is -0.1"),
    ],
)
def test_what_cannot_be_decoded_is_refused_before_anything_is_loaded(
    model: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(PrerequisiteError, match=message):
        ConformativeAPI(model, **arguments)


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="needs the extra local: pip install"):
        Conformative("base", "instruct")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    pytest.importorskip("torch", reason="needs the extra `local`")
    pytest.importorskip("transformers", reason="needs the extra `local`")
    folder = tmp_path_factory.mktemp("models")
    return tiny_model(folder / "base", seed=1), tiny_model(folder / "instruct", seed=2)


@pytest.fixture(scope="module")
def models(names: tuple[str, str]) -> Conformative:
    return Conformative(*names)


def completed(models: Conformative, *calls: Call) -> list[tuple[str, int, str]]:
    """Text, tokens and end of calls that are decoded in one batch."""
    models.complete(calls)
    return [(call.text, len(call.tokens), call.ended) for call in calls]


def greedy(prompt: str, tokens: int = 24, **settings: Any) -> Call:
    return Call(prompt, prompt, max_tokens=tokens, temperature=0, **settings)


def alone(model: Any, tokens: list[int]) -> Any:
    """One model's next-token chances after these tokens, computed anew and without a cache."""
    import torch

    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1]
    return torch.softmax(logits, dim=-1)


def near(chances: Any, base: Any, instruct: Any, weight: float = 0.6) -> bool:
    import torch

    return bool(torch.allclose(chances, weight * base + (1 - weight) * instruct, rtol=0, atol=1e-5))


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.6, 1.0])
def test_at_every_step_the_chances_are_the_weighted_sum_of_both_models_computed_without_any_cache(
    names: tuple[str, str], weight: float
) -> None:
    import torch

    both = Conformative(*names, weight=weight)
    calls = [Call(prompt, "<s>user: " + prompt, max_tokens=20) for prompt in PROMPTS]
    seen = [[both.tokenizer.encode(side) for side in (call.base, call.instruct)] for call in calls]
    batch = Batch(both, calls)
    for step in range(12):
        with torch.inference_mode():
            chances = batch.chances()
        for row, (base, instruct) in enumerate(seen):
            assert near(chances[row], alone(both.base, base), alone(both.instruct, instruct), weight), (step, row)
        tokens = [int(found.argmax()) for found in chances]
        batch.append(tokens)
        for sides, token in zip(seen, tokens, strict=True):
            for side in sides:
                side.append(token)


@pytest.mark.parametrize(("weight", "which"), [(0.0, "instruct"), (1.0, "base")])
def test_at_the_ends_of_the_scale_the_text_is_the_single_models_own_greedy_text(
    names: tuple[str, str], weight: float, which: str
) -> None:
    both = Conformative(*names, weight=weight)
    for prompt in PROMPTS:
        encoded = both.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        found = getattr(both, which).generate(**encoded, max_new_tokens=24, do_sample=False, pad_token_id=1)
        expected = both.tokenizer.decode(found[0, encoded["input_ids"].shape[1] :], skip_special_tokens=True)
        assert completed(both, greedy(prompt))[0][0] == expected


@pytest.mark.parametrize("around", ["<s> $A", "<s> $A </s>"])
def test_the_base_model_sees_a_plain_text_begun_as_its_tokenizer_begins_texts_and_not_ended(
    names: tuple[str, str], tmp_path: Path, around: str
) -> None:
    import torch

    both = Conformative(tiny_model(tmp_path / "base", seed=1, around=around), names[1], weight=0.6)
    bare = both.tokenizer.encode("The castle stood", add_special_tokens=False)
    chat = "<s>user: The castle stood"
    with torch.inference_mode():
        chances = Batch(both, [Call("The castle stood", chat, max_tokens=1)]).chances()[0]
        seen_chat = Batch(both, [Call(chat, chat, max_tokens=1, is_base_plain=False)]).chances()[0]
        empty = Batch(both, [Call("", "", max_tokens=1)]).chances()[0]
    instruct = alone(both.instruct, both.tokenizer.encode(chat))
    assert near(chances, alone(both.base, [0, *bare]), instruct)  # <s> is token 0
    assert not near(chances, alone(both.base, bare), instruct)
    assert not near(chances, alone(both.base, [0, *bare, 1]), instruct)
    # a chat template has written its own beginning, and no second one is put before it
    assert near(seen_chat, alone(both.base, both.tokenizer.encode(chat)), instruct)
    assert near(empty, alone(both.base, [0]), alone(both.instruct, [0])), "an empty prompt begins with the first token"


def test_four_calls_in_a_batch_equal_four_alone_also_where_they_are_drawn_and_the_seed_decides_what_is(
    models: Conformative,
) -> None:
    def calls() -> list[Call]:
        return [Call(p, "<s>user: " + p, 8 + 6 * row, 0.7, 0.9, seed=row) for row, p in enumerate(PROMPTS)]

    together = completed(models, *calls())
    assert together == [completed(models, call)[0] for call in calls()]
    assert len({text for text, *_ in together}) == 4
    drawn = [completed(models, Call("The castle", "The castle", 20, seed=seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_stop_sequence_ends_the_text_before_it_and_an_allowance_where_it_is(models: Conformative) -> None:
    ((whole, *_),) = completed(models, greedy("The castle stood"))
    stop = whole[5:8]
    ((text, _, ended),) = completed(models, greedy("The castle stood", stops=(stop,)))
    assert (text, ended) == (whole[: whole.find(stop)], "stop")
    assert completed(models, greedy("A spaceship", tokens=3))[0][1:] == (3, "length")


def test_sharpening_heats_first_and_then_keeps_the_likeliest_up_to_top_p() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    # squares of 0.5, 0.3, 0.2: 0.25, 0.09, 0.04 of 0.38 -> 0.6579, 0.2368, 0.1053; the first two reach 0.8
    kept = sharpened(torch.tensor([0.2, 0.5, 0.3]), temperature=0.5, top_p=0.8)
    assert kept.tolist() == pytest.approx([0, 0.25 / 0.34, 0.09 / 0.34])
    assert sharpened(torch.tensor([0.9, 0.1]), temperature=1.0, top_p=0.01).tolist() == [1.0, 0.0]


def test_models_that_cannot_be_decoded_as_one_are_refused_by_name(names: tuple[str, str], tmp_path: Path) -> None:
    other = tiny_model(tmp_path / "other", seed=3, tokens=300)
    with pytest.raises(EngineFailedError, match=rf"{names[0]} and {other} have different vocabularies"):
        Conformative(names[0], other)
    with pytest.raises(EngineFailedError, match=f"{tmp_path} cannot be loaded"):
        Conformative(names[0], str(tmp_path))
    plain = tiny_model(tmp_path / "plain", seed=4, chat=False)
    with pytest.raises(EngineFailedError, match="no chat template"):
        Conformative(names[0], plain).chat([{"role": "user", "content": "Write."}])


def run(names: tuple[str, str], folder: Path, connections: int, **model_args: Any) -> EvalLog:
    model = get_model(f"conformative/{'+'.join(names)}", memoize=False, **model_args)
    task = Task(dataset=MemoryDataset([Sample(input=prompt) for prompt in PROMPTS]))
    log = evaluate(
        task, model=model, max_connections=connections, temperature=0.7, top_p=0.9, seed=7, max_tokens=16,
        display="none", log_dir=str(folder),
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    return log


def texts(log: EvalLog) -> list[str]:
    return [sample.output.completion for sample in log.samples or []]


def test_four_calls_at_once_get_the_texts_of_four_calls_alone_and_say_how_they_came_about(
    names: tuple[str, str], tmp_path: Path
) -> None:
    together, in_turn = run(names, tmp_path, 4), run(names, tmp_path, 1)
    assert texts(together) == texts(in_turn)
    assert all(texts(together))
    chat = run(names, tmp_path, 4, base_weight=0.25, base_sees="chat")
    base, instruct = (identified(Path(folder).name, folder_digest(folder)) for folder in names)
    for sample in chat.samples or []:
        signature = (sample.output.metadata or {})["signature"]
        assert f"base:{base}|instruct:{instruct}|base_weight:0.25|base_sees:chat" in signature
        assert sample.output.usage is not None
        assert sample.output.usage.output_tokens > 0
        assert sample.output.stop_reason == ("max_tokens" if sample.output.usage.output_tokens == 16 else "stop")


@pytest.mark.parametrize(("base_sees", "is_plain"), [("plain", True), ("chat", False)])
def test_only_a_plain_text_is_begun_by_the_base_models_tokenizer(
    names: tuple[str, str], base_sees: str, is_plain: bool
) -> None:
    call = ConformativeAPI("+".join(names), base_sees=base_sees)._call(
        [ChatMessageUser(content="Write.")], GenerateConfig()
    )
    assert call.is_base_plain is is_plain
    assert call.base == ("Write.\n\n" if is_plain else call.instruct)


async def test_a_setting_that_cannot_be_followed_is_refused_and_a_batch_that_fails_fails_its_calls(
    names: tuple[str, str],
) -> None:
    model = get_model(f"conformative/{'+'.join(names)}", memoize=False)
    with pytest.raises(PrerequisiteError, match="know no top_k"):
        await model.generate("Write.", config=GenerateConfig(top_k=5))
    model.api.models.base.lm_head = None  # type: ignore[attr-defined]  # a model that breaks in the middle
    with pytest.raises(TypeError, match="not callable"):
        await model.generate("Write.")
