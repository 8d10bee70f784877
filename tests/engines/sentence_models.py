"""A stand-in for the package sentence-transformers, which brings torch: a model is a folder, and reads 12 tokens."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

READS = 12
WIDTH = 16


def word_vector(word: str, weights: str) -> NDArray[np.float64]:
    seed = int(hashlib.sha256(f"{weights} {word}".encode()).hexdigest()[:8], 16)
    drawn: NDArray[np.float64] = np.random.default_rng(seed).normal(size=WIDTH)
    return drawn


class _Tokenizer:
    def encode(self, text: str, *, truncation: bool, verbose: bool) -> list[str]:
        return ["<s>", *text.split(), "</s>"]


class SentenceTransformer:
    """The mean of a text's words, of which it reads what fits beside two tokens of its own; the rest is dropped."""

    def __init__(self, folder: str) -> None:
        self.weights = (Path(folder) / "model.safetensors").read_text()
        self.max_seq_length: float | None = READS
        self.tokenizer = _Tokenizer()
        self.prompts: dict[str, str] = {}
        self.default_prompt_name: str | None = None

    def encode(self, texts: Sequence[str], *, show_progress_bar: bool) -> NDArray[np.float32]:
        before = self.prompts.get(self.default_prompt_name or "", "")
        limit = None if self.max_seq_length is None else int(self.max_seq_length) - 2
        rows = [[word_vector(word, self.weights) for word in (before + text).split()[:limit]] for text in texts]
        return np.array([np.mean(row, axis=0) for row in rows], dtype=np.float32)


def install(monkeypatch: pytest.MonkeyPatch, model: type = SentenceTransformer) -> None:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = model  # type: ignore[attr-defined]  # a module made here
    module.__spec__ = sys.__spec__  # what find_spec looks for
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def model_folder(folder: Path, weights: str = "1") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text(weights)
    return folder
