"""Corpora that a text may have been copied from, held in memory."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import pairwise
from netrc import NetrcParseError
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import numpy as np

from genie_inspect.engines.embedders import Embedder
from genie_inspect.engines.identity import AddressError, address, identified, identity
from genie_inspect.engines.requests import CONNECTING, SILENCE, PassingFaultError, answered, body, shown
from genie_inspect.errors import CorpusError, EngineFailedError, MissingExtraError
from genie_inspect.files.json_lines import json_objects
from genie_inspect.measures.infinity_gram import RunCounts
from genie_inspect.measures.ngrams import (
    LENGTHS,
    Matches,
    Numbers,
    Span,
    TokenIndex,
    copied_spans,
    counted_match_lengths,
    near_matches,
    no_matches,
)
from genie_inspect.measures.tokens import Token, is_content, placed_tokens, tokens

if TYPE_CHECKING:
    from httpx import Client


WHOLE, LINES = (".txt", ".md"), ".jsonl"
ACCEPTED = "*.txt and *.md (one document per file) and *.jsonl (one document per line, in the field 'text')"


def folder_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of every document in a folder and those inside it, in the order of their paths."""
    if not folder.is_dir():
        raise CorpusError(f"corpus folder {folder} does not exist")
    # sorted: the order in which a file system lists its files differs between machines
    files = sorted(path for path in folder.rglob("*") if path.suffix in (*WHOLE, LINES) and path.is_file())
    if not files:
        raise CorpusError(f"corpus folder {folder} has no texts, expected {ACCEPTED}")
    for path in files:
        name = path.relative_to(folder).as_posix()
        try:
            if path.suffix != LINES:
                yield name, path.read_text(encoding="utf-8")
                continue
            for number, row in json_objects(path, CorpusError):
                if not isinstance(row.get("text"), str):
                    raise CorpusError(f"{path}, line {number} has no text in the field 'text'")
                yield f"{name}:{number}", row["text"]
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"{path} cannot be read as UTF-8 text: {error}") from error


def english_frequencies() -> Mapping[str, float]:
    """By word in small letters its share of all words; of about 320,000 words, none rarer than 1 in 100 million.

    Source: wordfreq 3.1.1 (Speer 2022), from Wikipedia, subtitles, news, books, the web, Twitter and Reddit up to 2021.
    """
    try:
        from wordfreq import get_frequency_dict
    except ImportError:
        instead = "--words-against population needs none"
        raise MissingExtraError("--words-against english", "words", instead) from None
    return cast(Mapping[str, float], get_frequency_dict("en", wordlist="large"))


class CountedCorpus(NamedTuple):
    counts: RunCounts
    words: Callable[[str], Sequence[str]]  # of an expression of the text, as the corpus counts them
    left_out: tuple[str, ...] = ()  # documents that are the text itself and do not count


class CountsWithout:
    """An index less some of its documents, all of which are the same text."""

    def __init__(self, index: TokenIndex, left_out: Sequence[int], words: Sequence[str]) -> None:
        self._index, self._left_out = index, left_out
        self._own = TokenIndex([words])

    @property
    def tokens(self) -> int:
        return self._index.tokens - len(self._left_out) * self._own.tokens

    def lengths(self, tokens: Sequence[str], limits: Numbers) -> Numbers:
        return self._index.lengths(tokens, limits, self._left_out)

    def counts(self, tokens: Sequence[str], starts: Numbers, ends: Numbers) -> Numbers:
        own = self._own.counts(tokens, starts, ends)
        return self._index.counts(tokens, starts, ends) - len(self._left_out) * own


class LookedUpCounts:
    """A corpus that can only be asked how often a run stands in it."""

    def __init__(self, count: Callable[[Sequence[str]], int], tokens: int) -> None:
        self.tokens = tokens
        # the empty run stands at every token
        self._count_of = cache(lambda run: count(list(run)) if run else tokens)

    def lengths(self, tokens: Sequence[str], limits: Numbers) -> Numbers:
        def stands(start: int, end: int) -> bool:
            return end <= limits[start] and self._count_of(tuple(tokens[start:end])) > 0

        return counted_match_lengths(len(tokens), stands, 1, len(tokens))

    def counts(self, tokens: Sequence[str], starts: Numbers, ends: Numbers) -> Numbers:
        runs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([self._count_of(tuple(tokens[start:end])) for start, end in runs], dtype=np.int64)


MOST_TOKENS = 20_000_000  # some 300 MB once built, a gigabyte while building


class CopiedRun(NamedTuple):
    words: str  # as the text has them
    tokens: int
    where: str  # the document, and the number of the token in it with which the run begins


class Copies(NamedTuple):
    lengths: Sequence[int]  # for each token of the text, of the longest run that begins there and stands in the corpus
    runs: tuple[CopiedRun, ...]
    left_out: tuple[str, ...] = ()  # documents that are the text itself and did not count


class Corpus(Protocol):
    @property
    def name(self) -> str:
        """Its name in signatures; corpora of different texts have different names."""

    def copies(self, text: str) -> Copies:
        """The runs of the text that stand in the corpus, the text itself left out where the corpus holds it."""

    def counted(self, text: str) -> CountedCorpus:
        """The corpus to count runs of words in, less the text itself."""


class DocumentsCorpus:
    """Documents in a suffix array; exact, or near-verbatim too with an embedder's token vectors."""

    def __init__(self, name: str, documents: Iterable[tuple[str, str]], near: Embedder | None = None) -> None:
        self.name, self._near = name, near
        self._names: list[str] = []
        self._numbers: dict[str, list[int]] = {}
        self._tokens: list[list[str]] = []
        self._index = TokenIndex(self._tokenized(documents))
        # sorted: the order and the names of the documents change nothing that is measured
        self.name = identified(name, *sorted(self._numbers))

    def copies(self, text: str) -> Copies:
        placed = placed_tokens(text)
        # a text that stands in the corpus would be a copy of itself from end to end
        same = self._numbers.get(identity(text), [])
        matches = self._index.matches([token.text for token in placed], same)
        if self._near is not None:
            words = [token.text for token in placed]
            # an empty list in place of a document left out, so that the numbers of the others stay theirs
            documents = [[] if number in same else document for number, document in enumerate(self._tokens)]
            # stop words and punctuation have no vector: a near match that rests on them alone says nothing
            content = sorted({word for part in (words, *documents) for word in part if is_content(word)})
            vectors = dict(zip(content, self._near.embed(content), strict=True)) if content else {}
            near = near_matches(words, documents, vectors)
            longer = near.lengths > matches.lengths
            pairs = ((getattr(near, name), getattr(matches, name)) for name in ("lengths", "documents", "places"))
            matches = Matches(*(np.where(longer, one, other) for one, other in pairs))

        def where(span: Span) -> str:
            return f"{self._names[span[2]]}, from token {span[3] + 1}"

        return copied(text, placed, matches, where, [self._names[number] for number in same])

    def counted(self, text: str) -> CountedCorpus:
        same = self._numbers.get(identity(text), [])
        counts = CountsWithout(self._index, same, tokens(text)) if same else self._index
        return CountedCorpus(counts, tokens, tuple(self._names[number] for number in same))

    def _tokenized(self, documents: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
        total = 0
        for number, (name, text) in enumerate(documents):
            self._names.append(name)
            self._numbers.setdefault(identity(text), []).append(number)
            words = tokens(text)
            total += len(words)
            if total > MOST_TOKENS:
                raise CorpusError(
                    f"corpus {self.name} has more than {MOST_TOKENS:,} tokens, too many for memory: make an index of "
                    "it with 'genie build-index' and use corpus=infini-gram:<index folder>"
                )
            if self._near is not None:
                self._tokens.append(words)
            yield words


def excerpt(text: str, placed: Sequence[Token], start: int, end: int) -> str:
    """The text from one token up to another, its spacing made single."""
    return " ".join(text[placed[start].start : placed[end - 1].end].split())


def by_lengths(lengths: Numbers) -> Matches:
    """Matches of whatever gives counts and no places."""
    return replace(no_matches(len(lengths)), lengths=lengths)


def copied(
    text: str, placed: Sequence[Token], matches: Matches, where: Callable[[Span], str], left_out: Iterable[str] = ()
) -> Copies:
    spans = copied_spans(matches)
    runs = (CopiedRun(excerpt(text, placed, *span[:2]), span[1] - span[0], where(span)) for span in spans)
    return Copies(matches.lengths.tolist(), tuple(runs), tuple(left_out))


class InfiniGramService:
    """An index behind infini-gram's HTTP protocol; the service splits words in its own way.

    A run is sent as it stands in the text, spacing made single. Whether the text itself is in the corpus cannot be
    known. User and password for the service's host are taken from `~/.netrc`, or the file that NETRC names.
    """

    def __init__(self, url: str, index: str) -> None:
        if set(url) & set("@?#"):
            # Inspect writes every option into the log as it was given
            raise AddressError(
                "a server's address has a user, a password, a query or a fragment, which logs would keep. Give "
                "http(s)://<host>:<port>/<path> alone; user and password belong in ~/.netrc"
            )
        self.url, self.index = url, index
        self.name = f"infini-gram({address(url)}#{index})"

    @cached_property
    def _client(self) -> "Client":
        import httpx

        file = os.environ.get("NETRC")
        try:
            login = httpx.NetRCAuth(file)
        except FileNotFoundError:
            login = None
        except (OSError, UnicodeDecodeError, NetrcParseError) as error:
            where = f", line {error.lineno}" if isinstance(error, NetrcParseError) and error.lineno else ""
            # from None: the parser's own message repeats the line, in which the password may stand
            raise EngineFailedError(f"{file or '~/.netrc'}{where} cannot be read: {type(error).__name__}") from None
        return httpx.Client(timeout=httpx.Timeout(SILENCE, connect=CONNECTING), auth=login)

    def check(self) -> None:
        """Ask once, so that a wrong address or index shows before anything is generated."""
        self.count("the")

    def count(self, words: str) -> int:
        import httpx

        request = {"index": self.index, "query_type": "count", "query": words}

        def ask() -> int:
            try:
                with self._client.stream("POST", self.url, json=request) as reply:
                    return counted(body(reply))
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                # without the message, which would repeat the address
                raise EngineFailedError(type(error).__name__) from None
            except httpx.HTTPError as error:
                raise PassingFaultError(f"{type(error).__name__}: {error}") from error

        return answered(f"corpus {self.name}: look-up", ask)

    def copies(self, text: str) -> Copies:
        placed = placed_tokens(text)

        def stands(start: int, end: int) -> bool:
            # tokens of the service are not ours: only the words themselves can be sent
            return self.count(excerpt(text, placed, start, end)) > 0

        # a request each, so that no run is followed past the longest length that the Creativity Index counts
        lengths = counted_match_lengths(len(placed), stands, LENGTHS[0], LENGTHS[-1])
        return copied(text, placed, by_lengths(lengths), lambda _: self.index)

    def counted(self, text: str) -> CountedCorpus:
        counts = LookedUpCounts(lambda run: self.count(" ".join("".join(run).split())), self.tokens)
        return CountedCorpus(counts, spaced_tokens)

    @cached_property
    def tokens(self) -> int:
        """How many tokens, the service's own, the index has."""
        return self.count("")


def spaced_tokens(text: str) -> list[str]:
    """Words and marks, each with the space before it, so that runs of them can be sent as the text has them."""
    ends = [0, *(token.end for token in placed_tokens(text))]
    return [text[start:end] for start, end in pairwise(ends)]


def counted(content: bytes) -> int:
    """The count in a reply: a whole number, and no estimate where it is 0, since that would count as novel."""
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        raise PassingFaultError(f"no JSON but {shown(content)!r}") from None
    if isinstance(reply, dict) and "error" in reply:
        raise EngineFailedError(f"no count but {shown(content)}")
    count = reply.get("count") if isinstance(reply, dict) else None
    if type(count) is not int or count < 0:  # a truth value is an int's subclass
        raise PassingFaultError(f"no count but {shown(content)}")
    if not count and reply.get("approx"):
        raise EngineFailedError(f"an estimated count of 0, expected an exact one: {shown(content)}")
    return count
