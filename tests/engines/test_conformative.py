from pathlib import Path
from typing import Any

import pytest
from tests.engines.tiny_models import tiny_model

torch = pytest.importorskip("torch", reason="needs the extra `local`")
pytest.importorskip("transformers", reason="needs the extra `local`")

from genie_inspect.engines.conformative import (  # noqa: E402  # torch may be missing
    Batch,
    Conformative,
    ConformativeError,
    Request,
    begun,
    sharpened,
)

PROMPTS = ("The castle stood", "A spaceship", "Write a story about an owl. Once upon a time", "The dog walked over")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return tiny_model(folder / "base", seed=1), tiny_model(folder / "instruct", seed=2)


@pytest.fixture(scope="module")
def models(names: tuple[str, str]) -> Conformative:
    return Conformative(*names)


def greedy(prompt: str, tokens: int = 24) -> Request:
    return Request(prompt, prompt, max_tokens=tokens, temperature=0)


def alone(model: Any, tokens: list[int]) -> Any:
    """One model's next-token chances after these tokens, computed anew and without a cache."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1]
    return torch.softmax(logits, dim=-1)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.6, 1.0])
def test_at_every_step_the_chances_are_the_weighted_sum_of_both_models_computed_without_any_cache(
    names: tuple[str, str], weight: float
) -> None:
    both = Conformative(*names, weight=weight)
    requests = [Request(prompt, "<s>user: " + prompt, max_tokens=20) for prompt in PROMPTS]
    seen = [[both.tokenizer.encode(side) for side in (request.base, request.instruct)] for request in requests]
    batch = Batch(both, requests)
    for step in range(20):
        with torch.inference_mode():
            chances = batch.chances()
        for row, (base, instruct) in enumerate(seen):
            expected = weight * alone(both.base, base) + (1 - weight) * alone(both.instruct, instruct)
            assert torch.allclose(chances[row], expected, rtol=0, atol=1e-5), (step, row)
        tokens = [int(found.argmax()) for found in chances]
        batch.append(tokens)
        for (base, instruct), token in zip(seen, tokens, strict=True):
            base.append(token)
            instruct.append(token)


@pytest.mark.parametrize(("weight", "which"), [(0.0, "instruct"), (1.0, "base")])
def test_at_the_ends_of_the_scale_the_text_is_the_single_models_own_greedy_text(
    names: tuple[str, str], weight: float, which: str
) -> None:
    both = Conformative(*names, weight=weight)
    model = getattr(both, which)
    for prompt in PROMPTS:
        encoded = both.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        with torch.inference_mode():
            found = model.generate(**encoded, max_new_tokens=24, do_sample=False, pad_token_id=1)
        expected = both.tokenizer.decode(found[0, encoded["input_ids"].shape[1] :], skip_special_tokens=True)
        assert both.complete([greedy(prompt)])[0].text == expected


@pytest.mark.parametrize("around", ["<s> $A", "<s> $A </s>"])
def test_the_base_model_sees_a_plain_text_begun_as_its_tokenizer_begins_texts_and_not_ended(
    names: tuple[str, str], tmp_path: Path, around: str
) -> None:
    base = tiny_model(tmp_path / "base", seed=1, around=around)
    both = Conformative(base, names[1], weight=0.6)
    bare = both.tokenizer.encode("The castle stood", add_special_tokens=False)
    chat = "<s>user: The castle stood"
    with torch.inference_mode():
        chances = Batch(both, [Request("The castle stood", chat, max_tokens=1)]).chances()[0]
        seen_chat = Batch(both, [Request(chat, chat, max_tokens=1, is_base_plain=False)]).chances()[0]
    instruct = alone(both.instruct, both.tokenizer.encode(chat))
    begun_tokens = [0, *bare]  # <s> is token 0
    assert torch.allclose(chances, 0.6 * alone(both.base, begun_tokens) + 0.4 * instruct, rtol=0, atol=1e-5)
    for other in (bare, [*begun_tokens, 1]):
        assert not torch.allclose(chances, 0.6 * alone(both.base, other) + 0.4 * instruct, rtol=0, atol=1e-3)
    # a chat template has written its own beginning, and no second one is put before it
    expected = 0.6 * alone(both.base, both.tokenizer.encode(chat)) + 0.4 * instruct
    assert torch.allclose(seen_chat, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("around", "text", "expected"),
    [
        ("$A", "An owl", lambda bare: bare),
        ("<s> $A", "An owl", lambda bare: [0, *bare]),
        ("<s> $A </s>", "An owl", lambda bare: [0, *bare]),
        ("$A </s>", "An owl", lambda bare: bare),
        ("<s> $A </s>", "An owl</s>", lambda bare: [0, *bare]),  # an end that the text itself holds stays
        ("<s> $A", "<s>An owl", lambda bare: [0, *bare]),
    ],
)
def test_a_text_is_begun_and_not_ended(tmp_path: Path, around: str, text: str, expected: Any) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model(tmp_path, seed=1, around=around))
    bare = tokenizer.encode(text, add_special_tokens=False)
    assert begun(tokenizer, text) == expected(bare)


def test_an_empty_prompt_begins_with_the_first_token(names: tuple[str, str], tmp_path: Path) -> None:
    base = tiny_model(tmp_path / "base", seed=1, around="<s> $A </s>")
    both = Conformative(base, names[1], weight=1.0)
    with torch.inference_mode():
        assert torch.allclose(Batch(both, [Request("", "", 1)]).chances()[0], alone(both.base, [0]), atol=1e-5)


def test_the_caches_change_no_text(models: Conformative) -> None:
    for prompt in PROMPTS:
        tokens = models.tokenizer.encode(prompt)
        start = len(tokens)
        for _ in range(24):
            chances = 0.6 * alone(models.base, tokens) + 0.4 * alone(models.instruct, tokens)
            tokens.append(int(chances.argmax()))
            if tokens[-1] in models.ends:
                break
        expected = models.tokenizer.decode(tokens[start:], skip_special_tokens=True)
        assert models.complete([greedy(prompt)])[0].text == expected


def test_four_requests_at_once_equal_four_alone_also_where_they_are_drawn(models: Conformative) -> None:
    requests = [
        Request(prompt, "<s>user: " + prompt, max_tokens=8 + 6 * row, temperature=0.7, top_p=0.9, seed=row)
        for row, prompt in enumerate(PROMPTS)
    ]
    together = models.complete(requests)
    assert together == [models.complete([request])[0] for request in requests]
    assert len({continuation.text for continuation in together}) == 4


def test_the_seed_decides_what_is_drawn(models: Conformative) -> None:
    drawn = [models.complete([Request("The castle", "The castle", 20, seed=seed)])[0].text for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_stop_sequence_ends_the_text_before_it(models: Conformative) -> None:
    whole = models.complete([greedy("The castle stood")])[0]
    stop = whole.text[5:8]
    ended = models.complete([Request("The castle stood", "The castle stood", 24, temperature=0, stops=(stop,))])[0]
    assert ended.text == whole.text[: whole.text.find(stop)]
    assert not ended.is_cut_off


def test_what_its_allowance_ended_is_cut_off(models: Conformative) -> None:
    short = models.complete([greedy("A spaceship", tokens=3)])[0]
    assert (short.tokens, short.is_cut_off) == (3, True)


def test_sharpening_heats_first_and_then_keeps_the_likeliest_up_to_top_p() -> None:
    # squares of 0.5, 0.3, 0.2: 0.25, 0.09, 0.04 of 0.38 -> 0.6579, 0.2368, 0.1053; the first two reach 0.8
    kept = sharpened(torch.tensor([0.2, 0.5, 0.3]), temperature=0.5, top_p=0.8)
    assert kept.tolist() == pytest.approx([0, 0.25 / 0.34, 0.09 / 0.34])


def test_the_likeliest_token_is_always_kept() -> None:
    assert sharpened(torch.tensor([0.9, 0.1]), temperature=1.0, top_p=0.01).tolist() == [1.0, 0.0]


def test_models_of_two_vocabularies_are_refused_by_name(names: tuple[str, str], tmp_path: Path) -> None:
    other = tiny_model(tmp_path / "other", seed=3, tokens=300)
    with pytest.raises(ConformativeError, match="different vocabularies") as caught:
        Conformative(names[0], other)
    assert names[0] in str(caught.value)
    assert other in str(caught.value)


def test_a_folder_without_a_model_is_refused_by_name(names: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConformativeError, match=str(tmp_path)):
        Conformative(names[0], str(tmp_path))


@pytest.mark.parametrize("weight", [-0.1, 1.1])
def test_a_weight_out_of_range_is_refused(names: tuple[str, str], weight: float) -> None:
    with pytest.raises(ValueError, match="base_weight is"):
        Conformative(*names, weight=weight)


def test_an_instruct_model_without_a_chat_template_is_refused(names: tuple[str, str], tmp_path: Path) -> None:
    plain = tiny_model(tmp_path / "plain", seed=4, chat=False)
    with pytest.raises(ConformativeError, match="no chat template"):
        Conformative(names[0], plain).chat([{"role": "user", "content": "Write."}])
