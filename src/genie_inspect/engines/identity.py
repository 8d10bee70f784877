"""What tells one model, server or text from another that goes by the same name: folders, commits, addresses."""

import logging
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from genie_inspect.errors import EngineFailedError, GenieError, MissingExtraError
from genie_inspect.signature import digest

# files of a model's folder that are read whole: settings, vocabularies, chat templates; a few megabytes at most
CONFIGURATION = frozenset({".json", ".txt", ".model", ".jinja", ".yaml", ".yml", ".toml", ".py"})
# files that are too large to read each time: name, size and date of change stand for their content
WEIGHTS = frozenset(
    {".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".onnx_data", ".h5", ".msgpack", ".npz", ".npy"}
)
_LOGIN, _QUERY = re.compile(r"//\S*@"), re.compile(r"(//[^?#\s]*)[?#]\S*")
PORTS = {"http": 80, "https": 443}


class AddressError(GenieError, ValueError):
    """A server's address cannot be read; the message does not repeat it, as it may hold a password."""


def identified(name: str, *facts: str) -> str:
    """A name with twelve hex digits of what the name leaves open; the name itself where it leaves nothing open."""
    return f"{name}@{digest(*facts)}" if facts else name


def folder_digest(folder: Path | str) -> str:
    """Twelve hex digits of what a model's folder and those inside it hold, hidden files and read-me files apart."""
    facts: list[str] = []
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts) or not path.is_file():
            continue
        if path.suffix in CONFIGURATION:
            facts += (name.as_posix(), digest(path.read_bytes().decode("latin-1")))  # any bytes, one character each
        elif path.suffix in WEIGHTS:
            status = path.stat()
            facts += (name.as_posix(), str(status.st_size), str(status.st_mtime_ns))
    return digest(*facts)


def address(url: str) -> str:
    """Where a server answers, `host:port/path`: no scheme, and no user, password, query or fragment."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise AddressError("a server's address cannot be read, expected http://<host>:<port>/<path>")
    # the default port is written out: http://host and http://host:80 are one server
    port = PORTS.get(parts.scheme, PORTS["http"]) if port is None else port
    # an IPv6 address without its brackets cannot be told from its port
    return f"{f'[{host}]' if ':' in host else host}:{port}{parts.path.rstrip('/')}"


def redacted(text: str) -> str:
    """Text without the user, password, query and fragment of a URL in it."""
    return _QUERY.sub(r"\1", _LOGIN.sub("//", text))


def identity(text: str) -> str:
    """What two texts share that are the same but for spacing."""
    return digest(" ".join(text.split()))


LOGGER = logging.getLogger(__name__)
# commits of hub ids that are taken where none is named: what the published measures and tasks are defined by, at which
# inspect_evals 0.26.0 has them; of the prompts that of several released studies
PRESETS = {
    "euclaise/writingprompts": "35f0aa359452ba8147b34d925684fccee26679cc",
    "microsoft/deberta-v3-large": "64a8c8eab3e352a784c658aef62be1662607476f",
    "Skywork/Skywork-Reward-Gemma-2-27B-v0.2": "a92f2ec997c806de469ff287ef3b71982e886fc2",
    "yimingzhang/deberta-v3-large-generation-similarity": "4e11444c12adf9837e58ae1e598472c45b1d3bd9",
    "yimingzhang/novelty-bench": "255584e0f4538d1f2acb4c1d287b4d3bb30fe2f9",
}


def with_commit(source: str) -> str:
    """The source, and where it is a hub id that this package knows, and names no commit, a commit behind it."""
    return source if source not in PRESETS or Path(source).is_dir() else f"{source}@{PRESETS[source]}"


def at_revision(source: str) -> tuple[str, dict[str, str]]:
    """The name by which a library loads a model or dataset, and the commit for it; without one, with a warning."""
    if Path(source).is_dir():
        return source, {}
    name, marked, commit = source.partition("@")
    if not marked:
        _warn(source)
        return source, {}
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise EngineFailedError(f"revision of {name} is {commit!r}, expected a commit of 40 digits from 0-9 and a-f")
    return name, {"revision": commit}


@lru_cache(maxsize=64)
def _warn(source: str) -> None:
    LOGGER.warning(
        f"{source} is loaded as it is on the hub today, which its owner can change: name a commit, {source}@<40 "
        "digits>, so that others get what you got"
    )


TOKENIZERS = ("tokenizer.json", "spm.model", "tokenizer.model", "vocab.txt", "vocab.json", "spiece.model")
NEEDED = {
    "config.json": ("config.json",),
    "weights (*.safetensors; pickles are not read)": ("*.safetensors",),
    f"a tokenizer (one of {', '.join(TOKENIZERS)})": TOKENIZERS,
}


def check_model(model: str, capability: str, extra: str) -> None:
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtraError(capability, extra)
    check_folder(model, capability)
    for what, patterns in NEEDED.items() if Path(model).is_dir() else ():
        if not any(any(Path(model).glob(pattern)) for pattern in patterns):
            raise EngineFailedError(f"{capability}: folder {model} has no {what}")


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
    return identified(model_name(model), *facts)


def check_unchanged(model: str, facts: tuple[str, ...]) -> None:
    """Refuse a folder that is no longer what stands in signatures; to be asked once the model is loaded."""
    if folder_facts(model) != facts:
        raise EngineFailedError(
            f"model {model} has changed since the run's scores were named after it, expected one that stays as it is "
            "while a run goes on: start the run again"
        )


def from_pretrained(loader: Any, source: str, **options: Any) -> Any:
    """What one of transformers' loaders makes of a folder or hub id; no code of the model's own is run."""
    name, pinned = at_revision(source)
    return loader.from_pretrained(name, trust_remote_code=False, **options, **pinned)


def device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def hub_dataset(source: str, split: str, error: type[GenieError], what: str, instead: str) -> Any:
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
    # its errors for no network and unknown ids derive from the first three
    except (OSError, ValueError, RuntimeError, EngineFailedError) as fault:
        reason = " ".join(str(fault).split())[:300].rstrip(".")
        raise error(f"{what} {source} cannot be loaded: {reason}. {instead}") from fault
    finally:
        retries.setLevel(level)
