"""Models of one's own: folders, hub ids and their revisions."""

import logging
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from genie_inspect.engines.identity import folder_digest, identified
from genie_inspect.errors import EngineFailedError, GenieError, MissingExtraError

logger = logging.getLogger(__name__)
_COMMIT = re.compile(r"[0-9a-f]{40}")
# what the published measures and tasks are defined by; the commits are those at which inspect_evals 0.26.0 has them, of
# the prompts that of several released studies
PRESETS = {
    "euclaise/writingprompts": "35f0aa359452ba8147b34d925684fccee26679cc",
    "microsoft/deberta-v3-large": "64a8c8eab3e352a784c658aef62be1662607476f",
    "Skywork/Skywork-Reward-Gemma-2-27B-v0.2": "a92f2ec997c806de469ff287ef3b71982e886fc2",
    "yimingzhang/deberta-v3-large-generation-similarity": "4e11444c12adf9837e58ae1e598472c45b1d3bd9",
    "yimingzhang/novelty-bench": "255584e0f4538d1f2acb4c1d287b4d3bb30fe2f9",
}
"""Commits of hub ids that are taken where none is named."""


def with_commit(source: str) -> str:
    """The source, and where it is a hub id that this package knows, and names no commit, a commit behind it.

    >>> with_commit("yimingzhang/novelty-bench")
    'yimingzhang/novelty-bench@255584e0f4538d1f2acb4c1d287b4d3bb30fe2f9'
    >>> with_commit("owner/name")
    'owner/name'
    """
    return source if source not in PRESETS or Path(source).is_dir() else f"{source}@{PRESETS[source]}"


def at_revision(source: str) -> tuple[str, dict[str, str]]:
    """The name by which a library loads a model or dataset, and the commit for it where one is pinned.

    A hub id without a commit is loaded as it is now, with a warning: the same run would be another one tomorrow.

    Args:
        source: `owner/name@<commit of 40 digits>`, `owner/name`, or a folder.

    Raises:
        EngineFailedError: If what follows the @ is no commit.

    >>> at_revision("owner/name@" + "0a" * 20)
    ('owner/name', {'revision': '0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a'})
    """
    if Path(source).is_dir():
        return source, {}
    name, marked, commit = source.partition("@")
    if not marked:
        _warn(source)
        return source, {}
    if not _COMMIT.fullmatch(commit):
        raise EngineFailedError(f"revision of {name} is {commit!r}, expected a commit of 40 digits from 0-9 and a-f")
    return name, {"revision": commit}


@lru_cache(maxsize=64)
def _warn(source: str) -> None:
    logger.warning(
        "%s is loaded as it is on the hub today, which its owner can change: name a commit, %s@<40 digits>, so that "
        "others get what you got",
        source,
        source,
    )


CONFIG, WEIGHTS = "config.json", "*.safetensors"
TOKENIZERS = ("tokenizer.json", "spm.model", "tokenizer.model", "vocab.txt", "vocab.json", "spiece.model")


def check_model(model: str, capability: str, extra: str, *, tokenizer: bool = True) -> None:
    """Refuse a model that cannot be loaded, as far as can be seen without loading it."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtraError(capability, extra)
    check_folder(model, capability)
    folder = Path(model)
    if not folder.is_dir():
        return
    wanted = {CONFIG: [CONFIG], f"weights ({WEIGHTS}; pickles are not read)": [WEIGHTS]}
    if tokenizer:
        wanted[f"a tokenizer (one of {', '.join(TOKENIZERS)})"] = list(TOKENIZERS)
    for what, patterns in wanted.items():
        if not any(any(folder.glob(pattern)) for pattern in patterns):
            raise EngineFailedError(f"{capability}: folder {model} holds no {what}")


def check_folder(model: str, capability: str) -> None:
    """Refuse what can only be a folder and is none; whether the hub has a model is seen when it is loaded."""
    # "owner/name" may be a hub id; an absolute path or one that begins with a dot is none
    if not Path(model).is_dir() and (Path(model).is_absolute() or model.startswith(".")):
        raise EngineFailedError(f"{capability}: folder {model} does not exist")
    at_revision(model)


def model_name(model: str) -> str:
    """A model's hub id, or the last part of its folder: a name for people, which several models may share."""
    return Path(model).resolve().name if Path(model).is_dir() else model


def folder_facts(model: str) -> tuple[str, ...]:
    """What a model's name leaves open: a digest of its folder as it is now; nothing for a hub id."""
    try:
        return (folder_digest(model),) if Path(model).is_dir() else ()
    except OSError as error:
        raise EngineFailedError(f"model {model} cannot be read: {error}") from error


def model_identity(model: str, facts: tuple[str, ...]) -> str:
    """How a model stands in signatures: its hub id, or the last part of its folder with the folder's digest."""
    return identified(model_name(model), *facts)


def check_unchanged(model: str, facts: tuple[str, ...]) -> None:
    """Refuse a folder that is no longer what stands in signatures; to be asked once the model is loaded."""
    if folder_facts(model) != facts:
        raise EngineFailedError(
            f"model {model} has changed since the run's scores were named after it, expected one that stays as it is "
            "while a run goes on: start the run again"
        )


def device() -> str:
    """`cuda` where there is a GPU, else `cpu`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def hub_dataset(source: str, split: str, error: type[GenieError], what: str, instead: str) -> Any:
    """The rows of a dataset."""
    try:
        from datasets import load_dataset
    except ImportError:
        raise MissingExtraError(f"{what}={source} (from the hub)", "hub", instead) from None
    retries = logging.getLogger("huggingface_hub")
    level = retries.level
    retries.setLevel(logging.CRITICAL)  # it tells of every attempt; what came of the last one is said below
    try:
        name, pinned = at_revision(with_commit(source))
        return load_dataset(name, split=split, **pinned)
    except (
        OSError,
        ValueError,
        RuntimeError,
        EngineFailedError,
    ) as fault:  # its errors for no network and unknown ids derive from these
        reason = " ".join(str(fault).split())[:300].rstrip(".")
        raise error(f"{what} {source} cannot be loaded: {reason}. {instead}") from fault
    finally:
        retries.setLevel(level)
