"""What tells one model, server or corpus from another that goes by the same name."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from genie_inspect.errors import CorpusError, GenieError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.signature import digest

CONFIGURATION = frozenset({".json", ".txt", ".model", ".jinja", ".yaml", ".yml", ".toml", ".py"})
"""Files of a model's folder that are read whole: settings, vocabularies, chat templates; a few megabytes at most."""
WEIGHTS = frozenset(
    {".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".onnx_data", ".h5", ".msgpack", ".npz", ".npy"}
)
"""Files that are too large to read each time: name, size and date of change stand for their content."""
_LOGIN, _QUERY = re.compile(r"//\S*@"), re.compile(r"(//[^?#\s]*)[?#]\S*")
PORTS = {"http": 80, "https": 443}


class AddressError(GenieError, ValueError):
    """A server's address cannot be read; the message does not repeat it, as it may hold a password."""


def identified(name: str, *facts: str) -> str:
    """A name with twelve hex digits of what the name leaves open; the name itself where it leaves nothing open.

    >>> identified("final", "one folder") == identified("final", "another")
    False
    >>> identified("all-MiniLM-L6-v2")
    'all-MiniLM-L6-v2'
    """
    return f"{name}@{digest(*facts)}" if facts else name


def folder_digest(folder: Path | str) -> str:
    """Twelve hex digits of a model's folder as it is now, wherever it stands.

    They change with the content of its configuration and with the name, size or date of change of its weights, in the
    folder and those inside it. Read-me files and hidden ones do not count.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder, expected one with a model's files")
    return digest(*(fact for path in _files(folder) for fact in _facts(path, folder)))


def address(url: str) -> str:
    """Where a server answers, `host:port/path`: no scheme, and no user, password, query or fragment.

    Raises:
        AddressError: If the URL has no host or no usable port.

    >>> address("https://user:password@Host.example/v1/?key=secret")
    'host.example:443/v1'
    """
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


def open_address(url: str) -> str:
    """Where a server answers, as `address` has it, of a URL that may be written into logs.

    Inspect writes every option of a task and a scorer into the log as it was given.

    Raises:
        AddressError: If the URL has no host or no usable port, or holds a user, a password, a query or a fragment.

    >>> open_address("https://host.example/v1/")
    'host.example:443/v1'
    """
    if set(url) & set("@?#"):
        raise AddressError(
            "a server's address holds a user, a password, a query or a fragment, which every log would keep: expected "
            "http(s)://<host>:<port>/<path> alone; user and password belong in ~/.netrc"
        )
    return address(url)


def redacted(text: str) -> str:
    """Text without the user, password, query and fragment of a URL in it.

    >>> redacted("infinigram:http://user:p@ss/word@host/path?key=secret#v4")
    'infinigram:http://host/path'
    """
    return _QUERY.sub(r"\1", _LOGIN.sub("//", text))


def _files(folder: Path) -> Iterator[Path]:
    """Configuration and weights, in the order of their paths."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in CONFIGURATION | WEIGHTS and not hidden and path.is_file():
            yield path


def _facts(path: Path, folder: Path) -> tuple[str, ...]:
    name = path.relative_to(folder).as_posix()
    if path.suffix in CONFIGURATION:
        return name, digest(path.read_bytes().decode("latin-1"))  # any bytes, one character each
    status = path.stat()
    return name, str(status.st_size), str(status.st_mtime_ns)


WHOLE, LINES = (".txt", ".md"), ".jsonl"
ACCEPTED = "*.txt and *.md (a document each) and *.jsonl (a document a line, in the field 'text')"


def check_folder(folder: Path) -> None:
    """Refuse a folder without texts, before anything is read."""
    if not folder.is_dir():
        raise CorpusError(f"corpus folder {folder} does not exist")
    if next(_texts_files(folder), None) is None:
        raise CorpusError(f"corpus folder {folder} holds no texts, expected {ACCEPTED}")


def folder_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of every document in a folder and those inside it, in the order of their paths."""
    # sorted: the order in which a file system lists its files differs between machines
    for path in sorted(_texts_files(folder)):
        name = path.relative_to(folder).as_posix()
        try:
            if path.suffix == LINES:
                yield from _lines(path, name)
            else:
                yield name, path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"{path} cannot be read as UTF-8 text: {error}") from error


def _texts_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix in (*WHOLE, LINES) and path.is_file())


def _lines(path: Path, name: str) -> Iterator[tuple[str, str]]:
    for number, row in json_objects(path, CorpusError):
        if not isinstance(row.get("text"), str):
            raise CorpusError(f"{path}, line {number} has no text in the field 'text'")
        yield f"{name}:{number}", row["text"]


def identity(text: str) -> str:
    """What two texts share that are the same but for spacing.

    >>> identity("The  end. ") == identity("The end.")
    True
    """
    return digest(" ".join(text.split()))


def embeddable(texts: Sequence[str]) -> list[str]:
    """The texts as they may go to an embedder; half characters, which no encoding has, become question marks.

    Raises:
        ValueError: If a text is empty or only space; the message says which.

    >>> embeddable(["An owl" + chr(0xD800)])
    ['An owl?']
    """
    for index, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {index} of {len(texts)} is empty, expected words: an empty text has no direction")
    return [text.encode("utf-8", "replace").decode() for text in texts]
