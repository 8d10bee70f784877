"""A corpus behind infini-gram's HTTP service: counts of runs of words, with retries."""

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from genie_inspect.engines.corpora import CopiedRun, Copies, excerpt
from genie_inspect.engines.identity import address
from genie_inspect.errors import EngineFailedError
from genie_inspect.measures.ngrams import LENGTHS, copied_spans, counted_match_lengths
from genie_inspect.measures.suffix_array import no_matches
from genie_inspect.measures.tokens import placed_tokens

if TYPE_CHECKING:
    from httpx import Client

TRIES = 6
FIRST_WAIT = 0.5  # seconds before the second try; doubles with each
TIMEOUT = 30.0  # seconds
TRANSIENT = frozenset({408, 425, 429})


class InfiniGramService:
    """An index behind infini-gram's HTTP protocol; the service splits words in its own way.

    A run is sent as it stands in the text, spacing made single, so that how the service's tokenizer treats a run's
    first mark can differ from how it treated it inside a document. Whether the text itself is in the corpus cannot be
    known.

    Args:
        url: Where the service answers.
        index: Which of its indexes.

    Raises:
        AddressError: If the service's address cannot be read.
    """

    def __init__(self, url: str, index: str) -> None:
        self.url = url
        self.index = index
        self._address = address(url)

    @cached_property
    def _client(self) -> "Client":
        import httpx

        return httpx.Client(timeout=TIMEOUT, follow_redirects=True)

    @property
    def name(self) -> str:
        """`infini-gram(<host>:<port>/<path>#<index>)`."""
        return f"infini-gram({self._address}#{self.index})"

    def check(self) -> None:
        """Ask once, so that a wrong address or index shows before anything is generated.

        Raises:
            EngineFailedError: If the service does not answer with a count.
        """
        self.count("the")

    def count(self, words: str) -> int:
        """How often the words stand in the corpus.

        Raises:
            EngineFailedError: If the service does not answer with a count after six tries.
        """
        problem = ""
        for number in range(TRIES):
            if number:
                time.sleep(FIRST_WAIT * 2 ** (number - 1))
            found, problem, final = self._ask(words)
            if found is not None:
                return found
            if final:
                break
        raise EngineFailedError(f"corpus {self.name}: look-up failed: {problem}")

    def copies(self, text: str) -> Copies:
        """What of the text stands in the corpus, in runs of 5 to 12 tokens of ours."""
        placed = placed_tokens(text)
        lengths = counted_match_lengths(
            len(placed),
            lambda start, end: self.count(excerpt(text, placed, start, end)) > 0,
            LENGTHS[0],
            LENGTHS[-1],
        )
        matches = no_matches(len(placed))
        matches.lengths[:] = lengths
        runs = tuple(
            CopiedRun(excerpt(text, placed, span.start, span.end), span.end - span.start, self.index)
            for span in copied_spans(matches)
        )
        return Copies(lengths.tolist(), runs)

    def _ask(self, words: str) -> tuple[int | None, str, bool]:
        """The count, else what is wrong and whether asking again is no use."""
        import httpx

        request = {"index": self.index, "query_type": "count", "query": words}
        try:
            reply = self._client.post(self.url, json=request)
        except httpx.InvalidURL as error:
            return None, type(error).__name__, True  # its message repeats the URL, which may hold a password
        except httpx.HTTPError as error:
            final = isinstance(error, httpx.UnsupportedProtocol)
            return None, f"{type(error).__name__}: {error}", final
        if reply.status_code != httpx.codes.OK:
            final = reply.status_code < 500 and reply.status_code not in TRANSIENT
            return None, f"HTTP status {reply.status_code}: {reply.text[:200]}", final
        return _counted(reply)


def _counted(reply: Any) -> tuple[int | None, str, bool]:
    try:
        found = reply.json()
    except ValueError:
        return None, f"no JSON but {reply.text[:200]!r}", False
    if isinstance(found, dict) and isinstance(found.get("count"), int) and "error" not in found:
        return found["count"], "", False
    return None, f"no count but {str(found)[:200]}", isinstance(found, dict) and "error" in found
