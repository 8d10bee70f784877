"""A corpus beyond memory: an infini-gram index on disk, beside a manifest that says what must be there.

infini-gram itself opens what is cut, foreign or missing without a word, or dies of it.
"""

import json
import os
import random
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genie_inspect.engines.corpora import Copies, CountedCorpus, LookedUpCounts, by_lengths, copied, folder_texts
from genie_inspect.engines.identity import identified, identity
from genie_inspect.errors import CorpusError, EngineFailedError, MissingExtraError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.files.writing import new_folder, write_lines, written
from genie_inspect.measures.ngrams import LENGTHS, Span, counted_match_lengths
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
    """Numbers for words, the most frequent first; its digest stands in the manifest."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        if len(self.words) > MOST_WORDS:
            raise CorpusError(f"the corpus has {len(self.words):,} different words, expected at most {MOST_WORDS:,}")
        self._number = {word: number for number, word in enumerate(self.words)}
        self.digest = digest(*self.words)

    @classmethod
    def of(cls, counts: "Counter[str]") -> "Vocabulary":
        # equal counts in the order of the words
        return cls(sorted(counts, key=lambda word: (-counts[word], word)))

    @classmethod
    def read(cls, folder: Path) -> "Vocabulary":
        # by "\n" alone: splitlines splits at more characters than `write` puts between words, which hold no line breaks
        return cls((folder / FILE).read_text(encoding="utf-8").split("\n")[:-1])

    def write(self, folder: Path) -> None:
        write_lines(folder / FILE, (f"{word}\n" for word in self.words))

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
BUILD = "build it with: genie build-index <folder of texts> <index folder>"


@dataclass(frozen=True, slots=True)
class IndexManifest:
    format: int
    dtype: str
    symbols: int  # in the token file, separators included
    documents: int  # without the last, which is a sentinel
    vocabulary: str  # its digest
    files: dict[str, int]  # the size of each in bytes


def check_installed() -> None:
    if find_spec("infini_gram") is None:
        raise MissingExtraError("corpus=infini-gram:<index folder>", "infini-gram")


def checked_manifest(folder: Path) -> IndexManifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise CorpusError(f"{folder} has no {MANIFEST}: it is not a complete index by genie build-index; {BUILD}")
    try:
        manifest = IndexManifest(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise CorpusError(f"{path} is not a manifest: {error}; {BUILD}") from error
    if (manifest.format, manifest.dtype) != (FORMAT, DTYPE):
        said = f"format {manifest.format} and dtype {manifest.dtype!r}"
        raise CorpusError(f"{path} says {said}, expected {FORMAT} and {DTYPE!r}; {BUILD}")
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
    """An index that `genie build-index` built, asked through the package infini-gram."""

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
        self._names: list[str] = []  # of the documents, by number
        self._numbers: dict[str, list[int]] = {}  # by the identity of the text
        for number, (line, row) in enumerate(json_objects(self.folder / DOCUMENTS, CorpusError)):
            if not (isinstance(row.get("name"), str) and isinstance(row.get("identity"), str)):
                where = f"{self.folder / DOCUMENTS}, line {line}"
                raise CorpusError(f"{where} has no name and identity of a document; {BUILD}")
            self._names.append(row["name"])
            self._numbers.setdefault(row["identity"], []).append(number)
        # a digest of vocabulary and texts
        told = identified(self.folder.name, self.manifest.vocabulary, *sorted(self._numbers))
        self.name = f"infini-gram({told},documents={self.manifest.documents})"
        self._engine = open_engine(self.folder)
        self._counting = threading.Lock()

    def count(self, words: Sequence[str]) -> int:
        symbols = self.vocabulary.symbols(words)
        return self._count(symbols) if symbols is not None else 0

    def _others_count(self, text: Sequence[str], same: Sequence[int]) -> Callable[[Sequence[str]], int]:
        def count(run: Sequence[str]) -> int:
            # each document that is the text adds to the count as often as the run stands in the text
            own = sum(text[place : place + len(run)] == run for place in range(len(text) - len(run) + 1)) if same else 0
            return self.count(run) - len(same) * own

        return count

    def copies(self, text: str) -> Copies:
        placed = placed_tokens(text)
        words = [token.text for token in placed]
        same = self._numbers.get(identity(text), [])
        count = self._others_count(words, same)
        lengths = counted_match_lengths(
            len(words), lambda start, end: count(words[start:end]) > 0, LENGTHS[0], len(words)
        )

        def where(span: Span) -> str:
            symbols = self.vocabulary.symbols(words[span[0] : span[1]]) or []
            for shard, (start, end) in enumerate(self._engine.find(input_ids=symbols)["segment_by_shard"]):
                for rank in range(start, end):
                    number = int(self._engine.get_doc_by_rank(s=shard, rank=rank, max_disp_len=1)["doc_ix"])
                    if number not in same:
                        return self._names[number]
            return self.name

        return copied(text, placed, by_lengths(lengths), where, [self._names[number] for number in same])

    def counted(self, text: str) -> CountedCorpus:
        words, same = tokens(text), self._numbers.get(identity(text), [])
        counts = LookedUpCounts(self._others_count(words, same), self._tokens - len(same) * len(words))
        return CountedCorpus(counts, tokens, tuple(self._names[number] for number in same))

    @cached_property
    def _tokens(self) -> int:
        # a separator stands before each document, and before the sentinel, which is one symbol
        symbols = self.manifest.symbols - self.manifest.documents - 2
        # a rare word is two symbols, the first of which stands nowhere else
        rare = max(0, len(self.vocabulary.words) - SINGLE)
        return symbols - sum(self._count([SINGLE + high]) for high in range(-(-rare // LOW)))

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


MEMORY_GB = 4  # that the sorter may use
OPEN_FILES = 1_048_576  # infini-gram's own default, for systems that set no limit
FEWEST_SYMBOLS = 250  # that it was seen to sort; of 122 it makes nothing
CHECKS = 50  # counts compared with a plain count
LONGEST_CHECK = 6  # symbols
CHUNK = 1 << 24  # symbols counted at a time
SAFE_PATH = re.compile(r"[\w./+-]+", re.ASCII)  # infini-gram hands paths to a shell as they are


def build_index(texts: Path, folder: Path, progress: Callable[[str], None] = lambda stage: None) -> IndexManifest:
    """Write an index of a folder of texts; it appears whole or not at all."""
    check_installed()
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CorpusError(f"index folder {folder} is not empty, expected a new one: nothing is overwritten")
    if not SAFE_PATH.fullmatch(str(folder)):
        raise CorpusError(
            f"index folder {str(folder)!r} has characters that infini-gram's indexer cannot take, expected letters, "
            "digits, '.', '_', '-', '+' and '/'"
        )
    with new_folder(folder) as building:
        progress("counting words")
        vocabulary = Vocabulary.of(Counter(word for _, text in folder_texts(texts) for word in tokens(text)))
        progress("writing tokens")
        symbols, documents = _write_tokens(texts, vocabulary, building)
        vocabulary.write(building)
        progress("sorting")
        _sort(building)
        progress("checking")
        # an index of the wrong number type opens, and counts wrong, without an error: some are compared with plain ones
        _check_counts(building)
        sizes = {name: (building / name).stat().st_size for name in FILES}
        manifest = IndexManifest(FORMAT, DTYPE, symbols, documents, vocabulary.digest, sizes)
        write_lines(building / MANIFEST, [json.dumps(asdict(manifest), indent=1) + "\n"])
    return manifest


def _write_tokens(texts: Path, vocabulary: Vocabulary, folder: Path) -> tuple[int, int]:
    """Writes tokens, offsets and documents; says how many symbols and documents there are."""
    symbols = documents = 0
    with (
        written(folder / TOKENS) as token_file,
        written(folder / OFFSETS) as offset_file,
        written(folder / DOCUMENTS) as document_file,
    ):

        def write(part: list[int]) -> int:
            offset_file.write(np.array([DTYPE_BYTES * symbols], dtype="<u8").tobytes())
            token_file.write(np.array([SEPARATOR, *part], dtype="<u2").tobytes())
            return 1 + len(part)

        for name, text in folder_texts(texts):
            part = vocabulary.symbols(tokens(text))
            if part is None:
                raise CorpusError(f"{texts / name} changed while the index was built: start again")
            symbols += write(part)
            documents += 1
            document_file.write(json.dumps({"name": name, "identity": identity(text)}).encode() + b"\n")
        # what follows the last words of a corpus is miscounted: a document that nobody asks for stands there
        symbols += write([UNUSED])
    return symbols, documents


def _sort(folder: Path) -> None:
    """Infini-gram's indexer; with more than one CPU it miscounts small corpora without a word."""
    import resource  # which Windows lacks, as it lacks infini-gram

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = OPEN_FILES if hard == resource.RLIM_INFINITY else hard
    options = {
        "data_dir": folder, "save_dir": folder, "token_dtype": DTYPE, "shards": 1, "workers": 1, "cpus": 1,
        "mem": MEMORY_GB, "ulimit": limit,
    }  # fmt: skip
    command = [sys.executable, "-m", "infini_gram.indexing"]
    command += [word for option, value in options.items() for word in (f"--{option}", str(value))]
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
    choice = random.Random(0)  # noqa: S311  # a sample, no secret
    for number in range(CHECKS):
        start, length = choice.randrange(len(text)), choice.randint(1, LONGEST_CHECK)
        run = np.array(text[start : start + length])
        run = run[run != SEPARATOR]
        # every fifth in an order that the corpus seldom has
        run = run[::-1] if number % 5 == 4 else run
        if len(run):
            reply, plain = engine.count(input_ids=run.tolist()), _plain_count(text, run)
            if reply.get("count") != plain:
                raise CorpusError(f"the index counts {reply} for the symbols {run.tolist()}, a plain count {plain}")


def _plain_count(text: NDArray[np.uint16], run: NDArray[np.uint16]) -> int:
    total = 0
    for start in range(0, len(text), CHUNK):
        part = text[start : start + CHUNK + len(run) - 1]
        places = np.flatnonzero(part[: max(0, len(part) - len(run) + 1)] == run[0])
        for ahead in range(1, len(run)):
            places = places[part[places + ahead] == run[ahead]]
        total += len(places)
    return total
