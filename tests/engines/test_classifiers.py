"""Reward models and classifiers: tiny ones with random weights, made here."""

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engines.tiny_models import tiny_model

from genie_inspect.engines.classifiers import (
    CLASSIFIER_TOKENS,
    ClassifierEquivalence,
    CoherenceRewards,
    EmbeddedEquivalence,
    RewardModel,
)
from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import EngineFailedError, MissingExtraError, UnknownChoiceError

needs_transformers = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None, reason="torch and transformers are not installed"
)
TEMPLATE = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}"


def saved(folder: Path, *, template: str | None = TEMPLATE) -> Path:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(0)
    words = ["<unk>", "user", "assistant", "[", "]", "owl", "fox", "tell", "me", "good", "bad"]
    inner = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>")
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    shape = LlamaConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_labels=1, pad_token_id=None,
    )  # fmt: skip
    LlamaForSequenceClassification(shape).save_pretrained(folder)
    return folder


WORDS = ["the", "owl", "fox", "sat", "ran", "on", "clock", "snow", "over", "a", "and", ".", ",", "old", "white", "red"]


def equivalence_saved(folder: Path, *, labels: int = 2) -> Path:
    """A BERT of two small layers over a vocabulary of words, in safetensors."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder.mkdir(exist_ok=True)
    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    shape = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        num_labels=labels, initializer_range=0.8,
    )  # fmt: skip
    BertForSequenceClassification(shape).save_pretrained(folder)
    return folder


def armorm_saved(folder: Path) -> Path:
    """A tiny model of ArmoRM's making: a Llama, a linear layer of 19 rewards, and code of its own in the config."""
    import torch
    from safetensors.torch import load_file, save_file

    tiny_model(folder, seed=5)
    weights = load_file(folder / "model.safetensors")
    weights = {name: tensor for name, tensor in weights.items() if not name.startswith("lm_head")}
    weights["regression_layer.weight"] = torch.randn(19, 32)
    weights["gating.layers.0.weight"] = torch.randn(4, 32)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "architectures": ["LlamaForRewardModelWithGating"],
        "auto_map": {"AutoModelForSequenceClassification": "modeling_custom.LlamaForRewardModelWithGating"},
        "num_objectives": 19,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


PROMPT, STORY = "Write about an owl.", "The castle stood above the river."
KINDS: dict[str, tuple[Callable[[Path], Path], Callable[[str], Any], str, Callable[[Any], object]]] = {
    "reward model": (saved, RewardModel, "score", lambda model: model.rewards("tell me", ["good"])),
    "classifier": (
        equivalence_saved, ClassifierEquivalence, "classifier", lambda model: model.probabilities([("an owl", "a fox")])
    ),
    "reward model by coherence": (armorm_saved, CoherenceRewards, "score", lambda m: m.coherence(PROMPT, STORY)),
}  # fmt: skip


@needs_transformers
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_breaks_off_changes_or_is_cut_short_is_one_error_that_names_it(kind: str, tmp_path: Path) -> None:
    make, engine, head, ask = KINDS[kind]
    folder = make(tmp_path / "a")
    broken, changed, cut = (engine(str(folder)) for _ in range(3))
    setattr(broken._loaded[1], head, None)  # a model that breaks in the middle
    with pytest.raises(EngineFailedError, match=rf"{kind.partition(' by')[0]} {folder} failed: TypeError"):
        ask(broken)
    (folder / "config.json").write_text((folder / "config.json").read_text() + " ")
    with pytest.raises(EngineFailedError, match="has changed since the run's scores were named after it"):
        ask(changed)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(EngineFailedError, match=rf"loading the {kind.partition(' by')[0]} {folder} failed: \w+"):
        ask(cut)


@needs_transformers
def test_a_reward_is_the_output_for_the_conversation_through_the_chat_template(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = saved(tmp_path)
    found = RewardModel(str(folder)).rewards("tell me owl", ["good owl", "bad fox fox"])
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=1).eval()
    for reply, reward in zip(["good owl", "bad fox fox"], found, strict=True):
        encoded = AutoTokenizer.from_pretrained(folder)(f"[user] tell me owl [assistant] {reply} ", return_tensors="pt")
        with torch.inference_mode():
            expected = float(model(input_ids=encoded["input_ids"]).logits[0, 0])
        assert reward == pytest.approx(expected, abs=1e-5)
    assert found[0] != found[1]


@needs_transformers
def test_coherence_is_the_third_reward_of_the_last_token_on_its_own_scale(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, LlamaConfig, LlamaModel

    armorm = armorm_saved(tmp_path / "armorm")
    found = CoherenceRewards(str(armorm)).coherence(PROMPT, STORY)
    weights = load_file(armorm / "model.safetensors")
    plain = LlamaModel(LlamaConfig.from_pretrained(armorm)).eval()
    plain.load_state_dict({n.removeprefix("model."): t for n, t in weights.items() if n.startswith("model.")})
    tokenizer = AutoTokenizer.from_pretrained(armorm)
    conversation = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": STORY}]
    text = tokenizer.apply_chat_template(conversation, tokenize=False)
    with torch.inference_mode():
        hidden = plain(**tokenizer(text, return_tensors="pt", add_special_tokens=False)).last_hidden_state[0, -1]
    assert found == pytest.approx(float(weights["regression_layer.weight"][2] @ hidden) * 5 - 0.5, abs=1e-4)


@needs_transformers
def test_models_of_another_making_are_refused_by_name(tmp_path: Path) -> None:
    plain = tiny_model(tmp_path / "plain", seed=6)
    with pytest.raises(EngineFailedError, match=r"is not an ArmoRM model: it has no score.weight"):
        CoherenceRewards(plain).coherence(PROMPT, STORY)
    with pytest.raises(EngineFailedError, match="has no chat template"):
        RewardModel(str(saved(tmp_path / "a", template=None))).rewards("tell me", ["good"])
    with pytest.raises(EngineFailedError, match="3 labels"):
        ClassifierEquivalence(str(equivalence_saved(tmp_path / "b", labels=3))).probabilities([("a", "b")])


@pytest.mark.parametrize(
    ("engine", "extra"), [(RewardModel, "reward"), (ClassifierEquivalence, "classifier"), (CoherenceRewards, "reward")]
)
@pytest.mark.parametrize(
    ("files", "message"),
    [
        (None, "does not exist"),
        ([], "has no config.json"),
        (["config.json"], "has no weights"),
        (["config.json", "pytorch_model.bin"], "pickles are not read"),
        (["config.json", "model.safetensors"], "has no a tokenizer|has no tokenizer"),
    ],
)
def test_a_folder_that_lacks_something_is_refused_when_the_task_is_made_and_without_the_extra_every_one(
    engine: Callable[[str], object], extra: str, files: list[str] | None, message: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in files or ():
        (tmp_path / name).write_text("{}")
    folder = str(tmp_path if files is not None else tmp_path / "nowhere")
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: object())
    with pytest.raises(EngineFailedError, match=message):
        engine(folder)
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=f"needs the extra {extra}: pip install"):
        engine(folder)


def test_texts_are_the_same_from_the_threshold_on() -> None:
    texts = ["The owl sat on the old clock.", "An owl was sitting on the clock.", "Stocks fell on Monday."]
    vectors = embedder().embed(texts)
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert far < near
    for threshold, expected in [
        (near + 1e-9, [False, False]),
        (near - 1e-9, [True, False]),
        (far - 1e-9, [True, True]),
    ]:
        assert EmbeddedEquivalence(embedder(), threshold).same(texts[1:], texts[0]) == expected
    measured = EmbeddedEquivalence(embedder())
    assert measured.same([], texts[0]) == []
    assert measured.name == f"embedding({embedder().identity},threshold=0.79)"


@pytest.mark.parametrize("threshold", [7.0, -1.1, float("nan"), "low"])
def test_a_threshold_that_no_cosine_and_no_probability_has_is_refused(threshold: Any) -> None:
    with pytest.raises(UnknownChoiceError, match=rf"threshold is {threshold!r}, expected -1 to 1, a cosine"):
        EmbeddedEquivalence(embedder(), threshold)
    with pytest.raises(UnknownChoiceError, match=rf"threshold is {threshold!r}, expected 0 to 1"):
        ClassifierEquivalence("nowhere/nothing", threshold)


@needs_transformers
def test_a_batch_says_of_each_pair_what_the_pair_alone_is_said_to_be(tmp_path: Path) -> None:
    same = ClassifierEquivalence(str(equivalence_saved(tmp_path / "tiny")))
    pairs = [("the owl sat on a clock and ran", "red fox"), ("a", "the old owl ran over the snow ."), ("fox", "fox")]
    together, alone = same.probabilities(pairs), [same.probabilities([pair])[0] for pair in pairs]
    assert np.allclose(together, alone, atol=1e-5)
    assert len({round(chance, 3) for chance in alone}) == 3  # the model tells them apart


@needs_transformers
@pytest.mark.parametrize("labels", [1, 2])
def test_the_probability_is_that_of_the_second_label_or_the_only_one_on_each_side_cut_on_its_own(
    labels: int, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = equivalence_saved(tmp_path / "tiny", labels=labels)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    first, second = ["owl"] * CLASSIFIER_TOKENS, ["the", "fox", "ran"]
    ids = tokenizer.convert_tokens_to_ids(["[CLS]", *first, "[SEP]", *second, "[SEP]"])
    types = [0] * (CLASSIFIER_TOKENS + 2) + [1] * 4
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits[0]
    expected = float(logits.softmax(-1)[1] if labels == 2 else logits.sigmoid()[0])
    assert ClassifierEquivalence(str(folder)).probabilities([("owl " * 300, "the fox ran")]) == [
        pytest.approx(expected, abs=1e-5)
    ]


@needs_transformers
def test_the_threshold_decides_and_short_texts_are_compared_by_words(tmp_path: Path) -> None:
    folder = str(equivalence_saved(tmp_path / "tiny"))
    text, founders = "the owl sat on a clock", ["the old fox ran over the snow", "a white owl sat on the snow"]
    chances = ClassifierEquivalence(folder).probabilities([(founder, text) for founder in founders])
    middle = sum(chances) / 2
    assert ClassifierEquivalence(folder, middle).same(founders, text) == [chance > middle for chance in chances]
    assert ClassifierEquivalence(folder, 1.0).same(["The owl", "fox"], "the owl") == [True, False]
