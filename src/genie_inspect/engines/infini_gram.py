"""A corpus beyond memory: an infini-gram index on disk, checked before it is opened.

infini-gram itself opens what is cut, foreign or missing without a word, or dies of it, so a manifest of ours says what
must be there.
"""

import json
import os
import random
import re
import resource
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genie_inspect.engines.corpora import (
    Copies,
    CountedCorpus,
    LookedUpCounts,
    by_lengths,
    check_folder,
    copied_runs,
    folder_texts,
)
from genie_inspect.engines.identity import identified, identity
from genie_inspect.errors import CorpusError, EngineFailedError, MissingExtraError
from genie_inspect.files.folders import new_folder
from genie_inspect.files.json_lines import json_objects
from genie_inspect.files.writing import write_lines, written
from genie_inspect.measures.ngrams import LENGTHS, counted_match_lengths
from genie_inspect.measures.tokens import placed_tokens, tokens
from genie_inspect.signature import digest

# symbols 0 to 59,999 are a word each; a rarer word is one symbol of the next 1,000 and one of those behind them
SINGLE = 60_000
HIGH = 1_000
LOW = 4_534
MOST_WORDS = SINGLE + HIGH * LOW
UNUSED = SINGLE + HIGH + LOW  # 65,534: no text holds it
SEPARATOR = 65_535  # stands before each document
FILE = "vocabulary.txt"


class Vocabulary:
    """Numbers for words, the most frequent first."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        if len(self.words) > MOST_WORDS:
            raise CorpusError(f"the corpus has {len(self.words):,} different words, expected at most {MOST_WORDS:,}")
        self._number = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def of(cls, counts: "Counter[str]") -> "Vocabulary":
        """The vocabulary of counted words; equal counts in the order of the words."""
        return cls(sorted(counts, key=lambda word: (-counts[word], word)))

    @classmethod
    def read(cls, folder: Path) -> "Vocabulary":
        # by "\n" alone: splitlines splits at more characters than `write` puts between words
        return cls((folder / FILE).read_text(encoding="utf-8").split("\n")[:-1])

    def write(self, folder: Path) -> None:
        """Put the words in a folder, one a line; words hold no line breaks."""
        write_lines(folder / FILE, (f"{word}\n" for word in self.words))

    @property
    def digest(self) -> str:
        return digest(*self.words)

    @property
    def first_halves(self) -> range:
        """The symbols that begin a rare word; none where there is no rare word."""
        rare = max(0, len(self.words) - SINGLE)
        return range(SINGLE, SINGLE + -(-rare // LOW))

    def symbols(self, words: Sequence[str]) -> list[int] | None:
        """The symbols of a run of words; None when one of them is unknown."""
        symbols: list[int] = []
        for word in words:
            number = self._number.get(word)
            if number is None:
                return None
            if number < SINGLE:
                symbols.append(number)
            else:
                # the two ranges do not overlap, so half of a rare word is never taken for a word
                high, low = divmod(number - SINGLE, LOW)
                symbols += (SINGLE + high, SINGLE + HIGH + low)
        return symbols


MANIFEST, DOCUMENTS = "genie_index.json", "documents.jsonl"
TOKENS, OFFSETS, TABLE = "tokenized.0", "offset.0", "table.0"
FILES = (TOKENS, OFFSETS, TABLE, FILE, DOCUMENTS)
FORMAT, DTYPE, DTYPE_BYTES = 2, "u16", 2  # with u32 infini-gram's indexer asks for 32 GB
BUILD = "build it with: genie index <folder of texts> <index folder>"


@dataclass(frozen=True, slots=True)
class IndexManifest:
    format: int
    dtype: str
    symbols: int
    """Symbols in the token file, separators included."""
    documents: int
    """Documents, without the last, which is a sentinel."""
    vocabulary: str
    """Digest of the vocabulary."""
    files: dict[str, int]
    """Size of each file in bytes."""

    def write(self, folder: Path) -> None:
        write_lines(folder / MANIFEST, [json.dumps(asdict(self), indent=1) + "\n"])


def check_installed() -> None:
    if find_spec("infini_gram") is None:
        raise MissingExtraError("corpus=infini-gram:<index folder>", "infini-gram")


def checked_manifest(folder: Path) -> IndexManifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise CorpusError(f"{folder} holds no {MANIFEST}: it is no index of ours, or one not built to its end; {BUILD}")
    try:
        manifest = IndexManifest(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise CorpusError(f"{path} is no manifest: {error}; {BUILD}") from error
    if (manifest.format, manifest.dtype) != (FORMAT, DTYPE):
        raise CorpusError(
            f"{path} says format {manifest.format} and dtype {manifest.dtype!r}, expected {FORMAT} and {DTYPE!r}; "
            f"{BUILD}"
        )
    for name in FILES:
        size = (folder / name).stat().st_size if (folder / name).is_file() else None
        if size is None or size != manifest.files.get(name):
            fault = "is missing" if size is None else f"has {size:,} bytes, expected {manifest.files.get(name):,}"
            raise CorpusError(f"{folder / name} {fault}: restore the file or {BUILD}")
    if manifest.files[TOKENS] != DTYPE_BYTES * manifest.symbols:
        raise CorpusError(
            f"{folder / TOKENS} has {manifest.files[TOKENS]:,} bytes for {manifest.symbols:,} symbols, expected "
            f"{DTYPE_BYTES} bytes each: its numbers are not {DTYPE}; {BUILD}"
        )
    return manifest


class InfiniGramCorpus:
    """An index that `genie index` built, asked through the package infini-gram."""

    def __init__(self, folder: Path) -> None:
        check_installed()
        self.folder = folder.resolve()
        self.manifest = checked_manifest(self.folder)
        self.vocabulary = Vocabulary.read(self.folder)
        if self.vocabulary.digest != self.manifest.vocabulary:
            raise CorpusError(
                f"{self.folder / FILE} has the digest {self.vocabulary.digest}, expected {self.manifest.vocabulary}: "
                f"it is not the vocabulary that the index was built with; {BUILD}"
            )
        self._names, self._numbers = _documents(self.folder / DOCUMENTS)
        self._identity = identified(self.folder.name, self.manifest.vocabulary, *sorted(self._numbers))
        self._engine = open_engine(self.folder)
        self._counting = threading.Lock()

    @property
    def name(self) -> str:
        """`infini-gram(<folder>@<digest of vocabulary and texts>,<documents>)`."""
        return f"infini-gram({self._identity},documents={self.manifest.documents})"

    def count(self, words: Sequence[str]) -> int:
        symbols = self.vocabulary.symbols(words)
        return self._count(symbols) if symbols is not None else 0

    def copies(self, text: str) -> Copies:
        """The runs of the text that stand in the corpus; where the text is a document itself, no count includes it."""
        placed = placed_tokens(text)
        words = [token.text for token in placed]
        same = self._numbers.get(identity(text), [])

        def stands(start: int, end: int) -> bool:
            run = words[start:end]
            # each document that is the text adds to the count as often as the run stands in the text
            return self.count(run) > (len(same) * _occurrences(run, words) if same else 0)

        lengths = counted_match_lengths(len(words), stands, LENGTHS[0], len(words))
        runs = copied_runs(text, placed, by_lengths(lengths), lambda span: self._where(words[span[0] : span[1]], same))
        return Copies(lengths.tolist(), runs, tuple(self._names[number] for number in same))

    def counted(self, text: str) -> CountedCorpus:
        """The index to count runs of words in; where the text is a document itself, no count includes it."""
        words = tokens(text)
        same = self._numbers.get(identity(text), [])

        def count(run: Sequence[str]) -> int:
            return self.count(run) - (len(same) * _occurrences(run, words) if same else 0)

        counts = LookedUpCounts(count, self._tokens - len(same) * len(words))
        return CountedCorpus(counts, tokens, tuple(self._names[number] for number in same))

    @cached_property
    def _tokens(self) -> int:
        # a separator stands before each document, and before the sentinel, which is one symbol
        symbols = self.manifest.symbols - self.manifest.documents - 2
        # a rare word is two symbols, the first of which stands nowhere else
        return symbols - sum(self._count([symbol]) for symbol in self.vocabulary.first_halves)

    def _where(self, words: Sequence[str], left_out: Sequence[int]) -> str:
        symbols = self.vocabulary.symbols(words) or []
        segments = self._engine.find(input_ids=symbols)["segment_by_shard"]
        for shard, (start, end) in enumerate(segments):
            for rank in range(start, end):
                document = self._engine.get_doc_by_rank(s=shard, rank=rank, max_disp_len=1)
                if document["doc_ix"] not in left_out:
                    return self._names[int(document["doc_ix"])]
        return self.name

    def _count(self, symbols: list[int]) -> int:
        with self._counting:
            reply = self._engine.count(input_ids=symbols)
        # an estimated count may be 0 for a run that does occur, which would count as new
        if "error" in reply or reply["approx"]:
            raise EngineFailedError(f"corpus {self.name}: look-up failed: {reply}")
        return int(reply["count"])


def open_engine(folder: Path) -> Any:
    from infini_gram.engine import InfiniGramEngine

    return InfiniGramEngine(index_dir=str(folder), eos_token_id=UNUSED, vocab_size=UNUSED + 1, token_dtype=DTYPE)


def _documents(path: Path) -> tuple[list[str], dict[str, list[int]]]:
    """Names of the documents by number, and numbers by identity of the text."""
    names: list[str] = []
    same: dict[str, list[int]] = {}
    for number, (line, row) in enumerate(json_objects(path, CorpusError)):
        if not (isinstance(row.get("name"), str) and isinstance(row.get("identity"), str)):
            raise CorpusError(f"{path}, line {line} has no name and identity of a document; {BUILD}")
        names.append(row["name"])
        same.setdefault(row["identity"], []).append(number)
    return names, same


def _occurrences(run: Sequence[str], words: Sequence[str]) -> int:
    return sum(words[place : place + len(run)] == run for place in range(len(words) - len(run) + 1))


MEMORY_GB = 4  # that the sorter may use
OPEN_FILES = 1_048_576  # infini-gram's own default, for systems that set no limit
FEWEST_SYMBOLS = 250  # that it was seen to sort; of 122 it makes nothing
CHECKS = 50  # counts compared with a plain count
LONGEST_CHECK = 6  # symbols
CHUNK = 1 << 24  # symbols counted at a time
SAFE_PATH = re.compile(r"[\w./+-]+", re.ASCII)  # infini-gram hands paths to a shell as they are

Progress = Callable[[str], None]


def build_index(texts: Path, folder: Path, progress: Progress = lambda stage: None) -> IndexManifest:
    """Write an index of a folder of texts; it appears whole or not at all."""
    check_installed()
    check_folder(texts)
    folder = folder.absolute()
    _check_target(folder)
    with new_folder(folder) as building:
        progress("counting words")
        vocabulary = Vocabulary.of(_word_counts(texts))
        progress("writing tokens")
        symbols, documents = _write_tokens(texts, vocabulary, building)
        vocabulary.write(building)
        progress("sorting")
        _sort(building)
        progress("checking")
        # an index of the wrong number type opens, and counts wrong, without an error
        _check_counts(building)
        sizes = {name: (building / name).stat().st_size for name in FILES}
        manifest = IndexManifest(FORMAT, DTYPE, symbols, documents, vocabulary.digest, sizes)
        manifest.write(building)
    return manifest


def _check_target(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CorpusError(f"index folder {folder} is not empty, expected a new one: nothing is overwritten")
    if not SAFE_PATH.fullmatch(str(folder)):
        raise CorpusError(
            f"index folder {str(folder)!r} has characters that infini-gram's indexer cannot take, expected letters, "
            "digits, '.', '_', '-', '+' and '/'"
        )


def _word_counts(texts: Path) -> "Counter[str]":
    counts: Counter[str] = Counter()
    for _, text in folder_texts(texts):
        counts.update(tokens(text))
    return counts


def _write_tokens(texts: Path, vocabulary: Vocabulary, folder: Path) -> tuple[int, int]:
    symbols = documents = 0
    with (
        written(folder / TOKENS) as token_file,
        written(folder / OFFSETS) as offset_file,
        written(folder / DOCUMENTS) as document_file,
    ):
        for row, part in _numbered_documents(texts, vocabulary):
            offset_file.write(np.array([DTYPE_BYTES * symbols], dtype="<u8").tobytes())
            token_file.write(np.array([SEPARATOR, *part], dtype="<u2").tobytes())
            symbols += 1 + len(part)
            if row:
                documents += 1
                document_file.write(json.dumps(row).encode() + b"\n")
    return symbols, documents


def _numbered_documents(texts: Path, vocabulary: Vocabulary) -> Iterator[tuple[dict[str, str], list[int]]]:
    for name, text in folder_texts(texts):
        part = vocabulary.symbols(tokens(text))
        if part is None:
            raise CorpusError(f"{texts / name} changed while the index was built: start again")
        yield {"name": name, "identity": identity(text)}, part
    # what follows the last words of a corpus is miscounted: a document that nobody asks for stands there
    yield {}, [UNUSED]


def _sort(folder: Path) -> None:
    """Infini-gram's indexer; with more than one CPU it miscounts small corpora without a word."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = OPEN_FILES if hard == resource.RLIM_INFINITY else hard
    options = {
        "data_dir": folder, "save_dir": folder, "token_dtype": DTYPE, "shards": 1, "workers": 1, "cpus": 1,
        "mem": MEMORY_GB, "ulimit": limit,
    }  # fmt: skip
    command = [sys.executable, "-m", "infini_gram.indexing"]
    for option, value in options.items():
        command += [f"--{option}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"TQDM_DISABLE": "1"})  # noqa: S603  # our own interpreter, no shell
    expected = (folder / TOKENS).stat().st_size
    if done.returncode != 0:
        raise CorpusError(f"infini-gram's indexer failed with exit code {done.returncode}: {done.stderr[-500:]}")
    if not (folder / TABLE).is_file() or (folder / TABLE).stat().st_size < expected:
        # it says nothing of what is too little for it
        raise CorpusError(
            f"infini-gram's indexer made no index of {expected // DTYPE_BYTES} symbols (words, marks and one a text), "
            f"expected about {FEWEST_SYMBOLS} or more: add texts"
        )


def _check_counts(folder: Path) -> None:
    text = np.memmap(folder / TOKENS, dtype="<u2", mode="r")
    engine = open_engine(folder)
    for run in _sampled_runs(text):
        reply, plain = engine.count(input_ids=run.tolist()), _plain_count(text, run)
        if reply.get("count") != plain:
            raise CorpusError(f"the index counts {reply} for the symbols {run.tolist()}, a plain count {plain}")


def _sampled_runs(text: NDArray[np.uint16]) -> Iterator[NDArray[np.uint16]]:
    choice = random.Random(0)  # noqa: S311  # a sample, no secret
    for number in range(CHECKS):
        start, length = choice.randrange(len(text)), choice.randint(1, LONGEST_CHECK)
        run = np.array(text[start : start + length])
        run = run[run != SEPARATOR]
        # every fifth in an order that the corpus seldom has
        run = run[::-1] if number % 5 == 4 else run
        if len(run):
            yield run


def _plain_count(text: NDArray[np.uint16], run: NDArray[np.uint16]) -> int:
    total = 0
    for start in range(0, len(text), CHUNK):
        part = text[start : start + CHUNK + len(run) - 1]
        places = (
            np.flatnonzero(part[: len(part) - len(run) + 1] == run[0]) if len(part) >= len(run) else np.zeros(0, int)
        )
        for ahead in range(1, len(run)):
            places = places[part[places + ahead] == run[ahead]]
        total += len(places)
    return total
