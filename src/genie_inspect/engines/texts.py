"""Texts: those in a folder, one at a time, and what may go to an engine."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from genie_inspect.errors import CorpusError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.signature import digest

WHOLE, LINES = (".txt", ".md"), ".jsonl"
ACCEPTED = "*.txt and *.md (a document each) and *.jsonl (a document a line, in the field 'text')"


def check_folder(folder: Path) -> None:
    """Refuse a folder without texts, before anything is read.

    Raises:
        CorpusError: If it does not exist or holds no file of a known kind.
    """
    if not folder.is_dir():
        raise CorpusError(f"corpus folder {folder} does not exist")
    if next(_files(folder), None) is None:
        raise CorpusError(f"corpus folder {folder} holds no texts, expected {ACCEPTED}")


def folder_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of every document in a folder and those inside it, in the order of their paths.

    Raises:
        CorpusError: If a file is not UTF-8, or a line has no text; it names file and line.
    """
    # sorted: the order in which a file system lists its files differs between machines
    for path in sorted(_files(folder)):
        name = path.relative_to(folder).as_posix()
        try:
            if path.suffix == LINES:
                yield from _lines(path, name)
            else:
                yield name, path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"{path} cannot be read as UTF-8 text: {error}") from error


def _files(folder: Path) -> Iterator[Path]:
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
