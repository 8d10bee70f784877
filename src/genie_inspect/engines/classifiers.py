"""Local models that judge texts: reward models, coherence, and which generations are equivalent."""

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Protocol

from genie_inspect.engines.embedders import Embedder, blindness
from genie_inspect.engines.identity import (
    check_model,
    check_unchanged,
    device,
    folder_facts,
    from_pretrained,
    model_identity,
    with_commit,
)
from genie_inspect.engines.requests import engine_failures
from genie_inspect.errors import EngineFailedError, UnknownChoiceError, check_between, check_share
from genie_inspect.measures.partition import short_texts_same

# the model whose rewards the published levels are cut from (Zhang et al. 2025)
PUBLISHED_REWARD = "Skywork/Skywork-Reward-Gemma-2-27B-v0.2"


class _Classifier:
    """A sequence classifier of transformers by hub id or folder, checked when it is made, loaded when it is asked."""

    kind = "reward model"

    def __init__(self, model: str, capability: str, extra: str = "reward", facts: str = "") -> None:
        check_model(model, f"{capability}/{model}", extra)
        self.model = with_commit(model)
        self._facts = folder_facts(model)
        self.name = f"{extra}({model_identity(self.model, self._facts)}{facts})"
        self._running = threading.Lock()

    def _load(self, words: str | None = None, **options: Any) -> tuple[Any, Any]:
        """The tokenizer, its own or that of `words`, and the classifier, with a report if one is asked for."""
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        with engine_failures(f"loading the {self.kind} {self.model}"):
            tokenizer = from_pretrained(AutoTokenizer, words or self.model)
            loaded = from_pretrained(AutoModelForSequenceClassification, self.model, use_safetensors=True, **options)
        check_unchanged(self.model, self._facts)
        return tokenizer, loaded


class RewardModel(_Classifier):
    """A sequence classifier with one output that reads a prompt and a reply through its chat template."""

    def __init__(self, model: str = PUBLISHED_REWARD) -> None:
        super().__init__(model, "quality=reward")

    def rewards(self, prompt: str, replies: Sequence[str]) -> list[float]:
        """One raw reward a reply, higher = better; replies are read one by one."""
        import torch

        tokenizer, model = self._loaded
        rewards = []
        for reply in replies:
            # other documents' turns come in between
            with self._running, torch.inference_mode(), engine_failures(f"reward model {self.model}"):
                encoded = tokenizer.apply_chat_template(
                    conversation(prompt, reply), tokenize=True, truncation=True, return_tensors="pt", return_dict=True
                ).to(model.device)
                rewards.append(float(model(**encoded).logits[0, 0]))
        return rewards

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        # accelerate spreads a model over the devices that there are; without it, one must hold it
        placed: dict[str, Any] = {"device_map": "auto"} if find_spec("accelerate") else {}
        tokenizer, model = self._load(num_labels=1, dtype="auto", **placed)
        if tokenizer.chat_template is None:
            raise EngineFailedError(f"reward model {self.model} has no chat template, expected one")
        return tokenizer, (model if placed else model.to(device())).eval()


def conversation(prompt: str, reply: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]


REWARDS = 19
HEAD = 2  # HelpSteer's coherence among ArmoRM's 19 rewards
# from the head's unit to HelpSteer's 0 to 4, as the model's authors published it
SCALE, SHIFT = 5.0, -0.5


class CoherenceRewards(_Classifier):
    """ArmoRM, or a model of its making: a causal model with a linear layer `regression_layer`, a row a reward.

    Its own code is not run (no trust_remote_code): the rewards are those of transformers' sequence classifier over the
    same weights, read at the last token.
    """

    def __init__(self, model: str) -> None:
        super().__init__(model, "by=reward")

    def coherence(self, prompt: str, document: str) -> float:
        import torch

        with self._running:
            tokenizer, model = self._loaded
            with torch.inference_mode(), engine_failures(f"reward model {self.model}"):
                text = tokenizer.apply_chat_template(conversation(prompt, document), tokenize=False)
                # the chat template has written the special tokens; a second beginning would change the reward
                encoded = tokenizer(text, return_tensors="pt", add_special_tokens=False).to(model.device)
                rewards = model(**encoded).logits[0]
        return float(rewards[HEAD]) * SCALE + SHIFT

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoConfig

        with engine_failures(f"loading the reward model {self.model}"):
            config = from_pretrained(AutoConfig, self.model)
        config.num_labels = getattr(config, "num_objectives", REWARDS)
        # ArmoRM's linear layer under the name that transformers' classifier has for its own
        renamed = {"^regression_layer": "score"}
        tokenizer, (model, report) = self._load(
            config=config, key_mapping=renamed, dtype="auto", output_loading_info=True
        )
        # transformers fills a missing layer with random numbers and only logs a warning
        if missing := sorted(report["missing_keys"]):
            raise EngineFailedError(f"{self.model} is not an ArmoRM model: it has no {', '.join(missing[:3])}")
        if not tokenizer.chat_template:
            raise EngineFailedError(f"{self.model} has no chat template, expected one")
        return tokenizer, model.to(device()).eval()


PUBLISHED_CLASSIFIER = "yimingzhang/deberta-v3-large-generation-similarity"
# the published weights come without a tokenizer; theirs is that of the model that they were trained from
PUBLISHED_TOKENIZER = "microsoft/deberta-v3-large"
CLASSIFIER_THRESHOLD = 0.102  # Zhang et al. 2025
CLASSIFIER_TOKENS = 128  # of each text
BATCH = 16
# measured by tools/measure_equivalence.py; see EmbeddedEquivalence
EMBEDDED_THRESHOLDS = {"static": 0.79}


class LocalEquivalence(Protocol):
    """An equivalence of texts that asks no chat model."""

    @property
    def name(self) -> str: ...

    def same(self, founders: Sequence[str], text: str) -> Sequence[bool | None]:
        """For each founder in order whether the text says the same; may end after the first yes; None: cannot tell."""


class EmbeddedEquivalence:
    """Two texts are the same when the cosine of their embeddings reaches a threshold: a smoke test, no measurement.

    The static embedder's, 0.79, gives the published classifier's verdict in 80% of 591 comparisons of short replies on
    which it was not chosen (Cohen's kappa 0.55). Stories to one prompt lie nearer together, most in one class.
    """

    def __init__(self, embedder: Embedder, threshold: float | None = None) -> None:
        if threshold is not None:
            check_between("threshold", threshold, -1, 1, "a cosine")
        elif embedder.name not in EMBEDDED_THRESHOLDS:
            measured = ", ".join(EMBEDDED_THRESHOLDS)
            raise UnknownChoiceError(
                "threshold", None, f"a cosine for embedder {embedder.name}: one was measured for {measured} only"
            )
        self.embedder = embedder
        self.threshold = EMBEDDED_THRESHOLDS[embedder.name] if threshold is None else threshold
        self.name = f"embedding({embedder.identity},threshold={self.threshold:g})"

    def same(self, founders: Sequence[str], text: str) -> list[bool | None]:
        if not founders:
            return []
        if blind := blindness(self.embedder, text):
            raise EngineFailedError(blind)
        vectors = self.embedder.embed([text, *founders])
        return [
            None if blindness(self.embedder, founder) else bool(cosine >= self.threshold)
            for founder, cosine in zip(founders, vectors[1:] @ vectors[0], strict=True)
        ]


class ClassifierEquivalence(_Classifier):
    """A sequence-pair classifier's verdict, as NoveltyBench asks it (Zhang et al. 2025, arXiv 2504.05228).

    Its released run has texts of five words and less in one class that share no word, as if they had been classified
    too; here texts of at most five words each are compared by their words.
    """

    kind = "classifier"

    def __init__(self, model: str = PUBLISHED_CLASSIFIER, threshold: float = CLASSIFIER_THRESHOLD) -> None:
        check_share("threshold", threshold)
        super().__init__(model, "equivalence=classifier", "classifier", f",threshold={threshold:g}")
        self.threshold = threshold

    def same(self, founders: Sequence[str], text: str) -> list[bool]:
        verdicts: list[bool] = []
        for start in range(0, len(founders), BATCH):
            # greedy partition needs the first class that matches only, so later batches can be spared
            batch = founders[start : start + BATCH]
            by_words = [short_texts_same(founder, text) for founder in batch]
            undecided = [founder for founder, verdict in zip(batch, by_words, strict=True) if verdict is None]
            probabilities = iter(self.probabilities([(founder, text) for founder in undecided]))
            verdicts += [next(probabilities) > self.threshold if verdict is None else verdict for verdict in by_words]
            if any(verdicts):
                break
        return verdicts

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        import torch

        tokenizer, model = self._loaded
        begin, part = [tokenizer.cls_token_id], [tokenizer.sep_token_id]
        # each text is cut on its own
        cut = {"add_special_tokens": False, "truncation": True, "max_length": CLASSIFIER_TOKENS}
        with self._running, torch.inference_mode(), engine_failures(f"classifier {self.model}"):
            encoded = []
            for pair in pairs:
                first, second = (tokenizer.encode(text, **cut) for text in pair)
                ids = [*begin, *first, *part, *second, *part]
                encoded.append({"input_ids": ids, "attention_mask": [1] * len(ids)})
                if "token_type_ids" in tokenizer.model_input_names:
                    encoded[-1]["token_type_ids"] = [0] * (len(first) + 2) + [1] * (len(second) + 1)
            logits = model(**tokenizer.pad(encoded, return_tensors="pt").to(model.device)).logits.float()
        chances = torch.sigmoid(logits[:, 0]) if logits.shape[1] == 1 else logits.softmax(-1)[:, 1]
        return [float(chance) for chance in chances]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        words = PUBLISHED_TOKENIZER if self.model.partition("@")[0] == PUBLISHED_CLASSIFIER else self.model
        tokenizer, model = self._load(with_commit(words))
        if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None or model.config.num_labels > 2:
            raise EngineFailedError(
                f"classifier {self.model} has {model.config.num_labels} labels and the special tokens "
                f"{tokenizer.special_tokens_map}, expected one or two labels and tokens that begin and part a pair"
            )
        return tokenizer, model.to(device()).eval()
