"""A reward model: a tiny one with random weights, made here."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genie_inspect.engines.classifiers import CLASSIFIER_TOKENS, ClassifierEquivalence, EmbeddedEquivalence, RewardModel
from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import EngineFailedError, MissingExtraError, UnknownChoiceError

needs_transformers = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None, reason="torch and transformers are not installed"
)
TEMPLATE = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}"


def saved(folder: Path, *, template: str | None = TEMPLATE) -> Path:
    """A Llama of one small layer with one output."""
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
def test_a_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match="has no chat template"):
        RewardModel(str(saved(tmp_path, template=None))).rewards("tell me", ["good"])


@needs_transformers
def test_a_reward_model_that_breaks_off_or_changes_is_one_error_that_names_it(tmp_path: Path) -> None:
    model, other = RewardModel(str(saved(tmp_path / "a"))), RewardModel(str(saved(tmp_path / "b")))
    model._loaded[1].score = None  # a model that breaks in the middle
    with pytest.raises(EngineFailedError, match=rf"reward model {tmp_path / 'a'} failed: TypeError"):
        model.rewards("tell me", ["good"])
    saved(tmp_path / "b", template=f"{TEMPLATE} ")
    with pytest.raises(EngineFailedError, match="has changed since the run's scores were named after it"):
        other.rewards("tell me", ["good"])


def test_without_the_extra_the_reward_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="needs the extra reward: pip install"):
        RewardModel()


WORDS = ["the", "owl", "fox", "sat", "ran", "on", "clock", "snow", "over", "a", "and", ".", ",", "old", "white", "red"]


def equivalence_saved(folder: Path, *, labels: int = 2, tokenizer: bool = True) -> Path:
    """A BERT of two small layers over a vocabulary of words, in safetensors."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder.mkdir(exist_ok=True)
    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    if tokenizer:
        BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    else:
        (folder / "vocab.txt").unlink()
    shape = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        num_labels=labels, initializer_range=0.8,
    )  # fmt: skip
    BertForSequenceClassification(shape).save_pretrained(folder)
    return folder


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
    assert EmbeddedEquivalence(embedder()).same([], texts[0]) == []


def test_the_measured_threshold_is_named() -> None:
    assert EmbeddedEquivalence(embedder()).name == f"embedded({embedder().identity},threshold=0.79)"


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
def test_the_probability_is_that_of_the_second_label_on_each_side_cut_on_its_own(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = equivalence_saved(tmp_path / "tiny")
    first, second = "owl " * 300, "the fox ran"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [
        tokenizer.cls_token_id,
        *[tokenizer.convert_tokens_to_ids("owl")] * CLASSIFIER_TOKENS,
        tokenizer.sep_token_id,
    ]
    ids += [*tokenizer.convert_tokens_to_ids(["the", "fox", "ran"]), tokenizer.sep_token_id]
    types = [0] * (CLASSIFIER_TOKENS + 2) + [1] * 4
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits
    (found,) = ClassifierEquivalence(str(folder)).probabilities([(first, second)])
    assert found == pytest.approx(float(logits.softmax(-1)[0, 1]), abs=1e-5)


@needs_transformers
def test_the_threshold_decides_and_short_texts_are_compared_by_words(tmp_path: Path) -> None:
    folder = str(equivalence_saved(tmp_path / "tiny"))
    text, founders = "the owl sat on a clock", ["the old fox ran over the snow", "a white owl sat on the snow"]
    chances = ClassifierEquivalence(folder).probabilities([(founder, text) for founder in founders])
    middle = sum(chances) / 2
    assert ClassifierEquivalence(folder, middle).same(founders, text) == [chance > middle for chance in chances]
    assert ClassifierEquivalence(folder, 1.0).same(["The owl", "fox"], "the owl") == [True, False]


@needs_transformers
def test_a_classifier_that_breaks_off_is_one_error_that_names_it(tmp_path: Path) -> None:
    same = ClassifierEquivalence(str(equivalence_saved(tmp_path / "tiny")))
    same._loaded[1].classifier = None  # a model that breaks in the middle
    with pytest.raises(EngineFailedError, match=rf"classifier {tmp_path / 'tiny'} failed: TypeError"):
        same.probabilities([("the owl", "red fox")])


@needs_transformers
def test_weights_that_are_cut_short_are_one_error_that_names_the_classifier(tmp_path: Path) -> None:
    weights = equivalence_saved(tmp_path / "tiny") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(EngineFailedError, match=r"loading the classifier .*tiny failed: \w+"):
        ClassifierEquivalence(str(tmp_path / "tiny")).probabilities([("the owl", "red fox")])


@needs_transformers
def test_a_classifier_that_changes_before_it_is_loaded_is_refused(tmp_path: Path) -> None:
    same = ClassifierEquivalence(str(equivalence_saved(tmp_path / "tiny")))
    equivalence_saved(tmp_path / "tiny", labels=1)
    with pytest.raises(EngineFailedError, match="has changed since the run's scores were named after it"):
        same.probabilities([("the owl", "red fox")])


@needs_transformers
def test_a_model_with_one_label_goes_through_a_sigmoid(tmp_path: Path) -> None:
    same = ClassifierEquivalence(str(equivalence_saved(tmp_path / "one", labels=1)))
    (chance,) = same.probabilities([("the owl ran on and on .", "red fox")])
    assert 0 < chance < 1


@needs_transformers
def test_a_model_that_does_not_judge_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match="3 labels"):
        ClassifierEquivalence(str(equivalence_saved(tmp_path / "three", labels=3))).probabilities([("a", "b")])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "holds no config.json"),
        (["config.json"], "holds no weights"),
        (["config.json", "pytorch_model.bin"], "pickles are not read"),
        (["config.json", "model.safetensors"], "holds no a tokenizer|holds no tokenizer"),
    ],
)
def test_a_folder_that_lacks_something_is_refused_when_the_task_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], message: str
) -> None:
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: object())
    for name in files:
        (tmp_path / name).write_text("{}")
    with pytest.raises(EngineFailedError, match=message):
        ClassifierEquivalence(str(tmp_path))


def test_a_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: object())
    with pytest.raises(EngineFailedError, match="does not exist"):
        ClassifierEquivalence(str(tmp_path / "nowhere"))


def test_without_the_extra_the_classifier_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="needs the extra classifier: pip install"):
        ClassifierEquivalence()
