"""A corpus beyond memory: an infini-gram index on disk, checked before it is opened.

infini-gram itself opens what is cut, foreign or missing without a word, or dies of it, so a manifest of ours says what
must be there.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from genie_inspect.engines.corpora.counting import CountedCorpus, LookedUpCounts
from genie_inspect.engines.corpora.documents import CopiedRun, Copies, excerpt
from genie_inspect.engines.identity import identified
from genie_inspect.engines.models.vocabulary import FILE, UNUSED, Vocabulary
from genie_inspect.engines.texts import identity
from genie_inspect.errors import CorpusError, EngineFailedError, MissingExtraError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.files.writing import write_lines
from genie_inspect.measures.ngrams import LENGTHS, copied_spans, counted_match_lengths
from genie_inspect.measures.words.suffix_array import no_matches
from genie_inspect.measures.words.tokens import placed_tokens, tokens

MANIFEST, DOCUMENTS = "genie_index.json", "documents.jsonl"
TOKENS, OFFSETS, TABLE = "tokenized.0", "offset.0", "table.0"
FILES = (TOKENS, OFFSETS, TABLE, FILE, DOCUMENTS)
FORMAT, DTYPE, DTYPE_BYTES = 2, "u16", 2  # with u32 infini-gram's indexer asks for 32 GB
BUILD = "build it with: genie index <folder of texts> <index folder>"


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """What an index holds, as it stands beside it."""

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
        """Put it beside the index."""
        write_lines(folder / MANIFEST, [json.dumps(asdict(self), indent=1) + "\n"])


def check_installed() -> None:
    """Refuse to go on without the package infini-gram.

    Raises:
        MissingExtraError: If it is not installed.
    """
    if find_spec("infini_gram") is None:
        raise MissingExtraError("corpus=infini-gram:<index folder>", "infini-gram")


def checked_manifest(folder: Path) -> IndexManifest:
    """The manifest of an index whose files are what it says.

    Raises:
        CorpusError: If the folder is none of ours, a file is missing or cut, or the type of its numbers is another.
    """
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
    """An index that `genie index` built, asked through the package infini-gram.

    Args:
        folder: Where the index stands.

    Raises:
        MissingExtraError: If infini-gram is not installed.
        CorpusError: If the index is not whole, or its vocabulary is another one.
    """

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
        """How often a run of words stands in the corpus.

        Raises:
            EngineFailedError: If the look-up fails.
        """
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
        # the index gives counts and no places: the spans come from the lengths alone
        matches = no_matches(len(words))
        matches.lengths[:] = lengths
        runs = tuple(
            CopiedRun(
                excerpt(text, placed, span.start, span.end),
                span.end - span.start,
                self._where(words[span.start : span.end], same),
            )
            for span in copied_spans(matches)
        )
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
        """How many words the documents have."""
        # a separator stands before each document, and before the sentinel, which is one symbol
        symbols = self.manifest.symbols - self.manifest.documents - 2
        # a rare word is two symbols, the first of which stands nowhere else
        return symbols - sum(self._count([symbol]) for symbol in self.vocabulary.first_halves)

    def _where(self, words: Sequence[str], left_out: Sequence[int]) -> str:
        """The name of the first document that holds the words, of those that are not left out."""
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
    """infini-gram's engine on the files of an index that was checked."""
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
