"""Whether a text says the same as another, by vectors or by a classifier; no chat model is asked."""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

from genie_inspect.engines.embedders.choices import Embedder, blindness
from genie_inspect.engines.failures import engine_failures
from genie_inspect.engines.models.folders import check_model, check_unchanged, device, folder_facts, model_identity
from genie_inspect.engines.models.revisions import at_revision, with_commit
from genie_inspect.errors import EngineFailedError, UnknownChoiceError
from genie_inspect.measures.partition import short_texts_same
from genie_inspect.options import check_between, check_share

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
    def name(self) -> str:
        """How it stands in signatures."""
        ...

    def same(self, founders: Sequence[str], text: str) -> Sequence[bool | None]:
        """For each founder in order whether the text says the same; may end after the first yes; None: cannot tell.

        Raises:
            EngineFailedError: If a model cannot be loaded or breaks off, or a server cannot be reached.
        """
        ...


class EmbeddedEquivalence:
    """Two texts are the same when the cosine of their embeddings reaches a threshold.

    The static embedder's threshold, 0.79, is the one whose `distinct` is nearest to that of the published classifier on
    the released NoveltyBench run (Gemini 1.5 Pro, 50 prompts, 10 replies each). On prompts that it was not chosen on it
    gives the classifier's verdict in 80% of 591 comparisons (Cohen's kappa 0.55), and 2.30 classes a prompt against
    2.22 with a mean error of 0.80 and a correlation of 0.68. Those replies are short; stories to one prompt lie nearer
    together than that, and most come out as one class: a smoke test, no measurement.

    Args:
        embedder: Whose vectors are compared.
        threshold: Least cosine that counts as the same; None for the one measured for the embedder.

    Raises:
        UnknownChoiceError: If no threshold was measured for the embedder and none is given, or it is no cosine.
    """

    def __init__(self, embedder: Embedder, threshold: float | None = None) -> None:
        if threshold is None and embedder.name not in EMBEDDED_THRESHOLDS:
            measured = ", ".join(EMBEDDED_THRESHOLDS)
            raise UnknownChoiceError(
                "threshold", None, f"a cosine for embedder {embedder.name}: one was measured for {measured} only"
            )
        if threshold is not None:
            check_between("threshold", threshold, -1, 1, "a cosine")
        self.embedder = embedder
        self.threshold = EMBEDDED_THRESHOLDS[embedder.name] if threshold is None else threshold

    @property
    def name(self) -> str:
        """`embedded(<embedder's identity>,threshold=0.5)`."""
        return f"embedded({self.embedder.identity},threshold={self.threshold:g})"

    def same(self, founders: Sequence[str], text: str) -> list[bool | None]:
        """For each founder in order whether the text says the same; None for one that the embedder cannot see.

        Raises:
            EngineFailedError: If it cannot see the text.
        """
        if not founders:
            return []
        if blind := blindness(self.embedder, text):
            raise EngineFailedError(blind)
        vectors = self.embedder.embed([text, *founders])
        return [
            None if blindness(self.embedder, founder) else bool(cosine >= self.threshold)
            for founder, cosine in zip(founders, vectors[1:] @ vectors[0], strict=True)
        ]


class ClassifierEquivalence:
    """A sequence-pair classifier's verdict, as NoveltyBench asks it.

    Each text is cut at 128 tokens; the pair is the same when the probability of "same" (label 1 of two; the only label
    of a model with one, through a sigmoid) exceeds the threshold. Two texts of at most five words each are compared by
    their words.

    Args:
        model: Hub id or folder of any such model with weights in safetensors; runs no code from it.
        threshold: Probability above which two texts are the same.

    Raises:
        MissingExtraError: If torch or transformers is not installed.
        EngineFailedError: If a folder lacks configuration, weights or tokenizer.
        UnknownChoiceError: If the threshold is no probability.

    Source: NoveltyBench (Zhang et al. 2025, arXiv 2504.05228). Its released run has texts of five words and less in one
    class that share no word, as if those had been classified too.
    """

    def __init__(self, model: str = PUBLISHED_CLASSIFIER, threshold: float = CLASSIFIER_THRESHOLD) -> None:
        check_share("threshold", threshold)
        check_model(model, f"equivalence=classifier/{model}", "classifier")
        self.model = with_commit(model)
        self.threshold = threshold
        self._facts = folder_facts(model)
        self._running = threading.Lock()

    @property
    def name(self) -> str:
        """`classifier(<hub id, or folder and digest>,threshold=0.102)`."""
        return f"classifier({model_identity(self.model, self._facts)},threshold={self.threshold:g})"

    def same(self, founders: Sequence[str], text: str) -> list[bool]:
        """For each founder in order whether the text says the same, up to the batch with the first yes."""
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
        """Probability of "same" for each pair, in one batch."""
        if not pairs:
            return []
        import torch

        tokenizer, model = self._loaded
        with self._running, torch.inference_mode(), engine_failures(f"classifier {self.model}"):
            encoded = [self._encoded(tokenizer, pair) for pair in pairs]
            batch = tokenizer.pad(encoded, return_tensors="pt").to(model.device)
            logits = model(**batch).logits.float()
        chances = torch.sigmoid(logits[:, 0]) if logits.shape[1] == 1 else logits.softmax(-1)[:, 1]
        return [float(chance) for chance in chances]

    @staticmethod
    def _encoded(tokenizer: Any, pair: tuple[str, str]) -> dict[str, list[int]]:
        """[CLS] first [SEP] second [SEP], each text cut on its own."""
        first, second = (
            tokenizer.encode(text, add_special_tokens=False, truncation=True, max_length=CLASSIFIER_TOKENS)
            for text in pair
        )
        ids = [tokenizer.cls_token_id, *first, tokenizer.sep_token_id, *second, tokenizer.sep_token_id]
        encoded = {"input_ids": ids, "attention_mask": [1] * len(ids)}
        if "token_type_ids" in tokenizer.model_input_names:
            encoded["token_type_ids"] = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        return encoded

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        source = PUBLISHED_TOKENIZER if self.model.partition("@")[0] == PUBLISHED_CLASSIFIER else self.model
        with engine_failures(f"loading the classifier {self.model}"):
            words, pinned_words = at_revision(with_commit(source))
            tokenizer = AutoTokenizer.from_pretrained(words, trust_remote_code=False, **pinned_words)
            name, pinned = at_revision(self.model)
            model = AutoModelForSequenceClassification.from_pretrained(
                name, trust_remote_code=False, use_safetensors=True, **pinned
            )
        check_unchanged(self.model, self._facts)
        if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None or model.config.num_labels > 2:
            raise EngineFailedError(
                f"classifier {self.model} has {model.config.num_labels} labels and the special tokens "
                f"{tokenizer.special_tokens_map}, expected one or two labels and tokens that begin and part a pair"
            )
        return tokenizer, model.to(device()).eval()
