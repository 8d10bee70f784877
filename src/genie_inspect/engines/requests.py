"""Requests to services, for all of them in one place: tried again where that may help, in bounded time and size."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from genie_inspect.engines.identity import redacted
from genie_inspect.errors import EngineFailedError

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
TRIES = 6
FIRST_WAIT = 0.5  # seconds before the second try; doubles with each
SILENCE = 60.0  # seconds without a byte, after which a server is given up; a batch on a small machine takes tens
CONNECTING = 10.0  # seconds
LONGEST = 180.0  # seconds for a request with all its tries
MOST_BYTES = 64 * 2**20  # of a reply; 256 vectors of 4,096 numbers take 22 million
SHOWN = 200  # characters of a reply in a message
LONGEST_REASON = 300  # characters of a library's message
TRANSIENT = frozenset({408, 409, 425, 429})  # timeout, conflict, too early, too many requests


class PassingFaultError(EngineFailedError):
    """A fault that may pass, so that the request is worth sending again."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason + (f" (it asks to wait {wait:.0f} s)" if wait else ""))
        self.wait = wait


def answered(what: str, ask: Callable[[], T]) -> T:
    """The result of a request, tried six times at most and for three minutes at most."""
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_before_delay

    def wait(state: "RetryCallState") -> float:
        # what the server asks for, and twice the last wait at least
        asked = getattr(state.outcome and state.outcome.exception(), "wait", 0.0)
        return max(asked, FIRST_WAIT * 2.0 ** (state.attempt_number - 1))

    again = Retrying(
        retry=retry_if_exception_type(PassingFaultError),
        stop=stop_after_attempt(TRIES) | stop_before_delay(LONGEST),
        wait=wait,
        reraise=True,
    )
    try:
        return again(ask)
    except EngineFailedError as error:
        raise EngineFailedError(f"{what} failed: {error}") from error


def body(reply: Any) -> bytes:
    """The whole of a reply, of whichever HTTP library, that is still coming in."""
    before = time.monotonic() + LONGEST
    content = bytearray()
    try:
        for piece in reply.iter_bytes():
            content += piece
            if len(content) > MOST_BYTES:
                raise EngineFailedError(f"a reply of more than {MOST_BYTES:,} bytes")
            if time.monotonic() > before:
                raise EngineFailedError(f"no whole reply in {LONGEST:.0f} s")
    except EngineFailedError:
        raise
    except Exception as error:  # of whichever HTTP library the client has
        raise PassingFaultError(f"{type(error).__name__}: {error}") from error
    # the body is read first: the reason for a refusal stands in it
    if reply.status_code != 200:
        raise refused(reply.status_code, reply.headers, f"HTTP status {reply.status_code}: {shown(bytes(content))}")
    return bytes(content)


def refused(status: int, headers: Mapping[str, str], reason: str) -> EngineFailedError:
    """The error for a status that is no success: one that may pass, or one that stays."""
    # texts and keys go where the user says, and nowhere else
    if 300 <= status < 400 and "location" in headers:
        place = redacted(headers["location"])[:SHOWN]
        return EngineFailedError(f"HTTP status {status}: it sends on to {place}, expected the address that answers")
    if status in TRANSIENT or status >= 500:
        return PassingFaultError(reason, retry_after(headers.get("Retry-After", "")))
    return EngineFailedError(reason)


def shown(content: bytes) -> str:
    return " ".join(content[: 4 * SHOWN].decode("utf-8", "replace").split())[:SHOWN]


def retry_after(header: str) -> float:
    """Seconds that a Retry-After header asks to wait, as a number or a date; 0 where it says nothing."""
    if header.strip().isdecimal() and header.isascii():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


@contextmanager
def engine_failures(what: str) -> Iterator[None]:
    """Raises any error of a library's call, and of no code of ours, as one error that names the engine."""
    try:
        yield
    except EngineFailedError:
        raise
    except Exception as error:  # tokenizers and safetensors raise errors that derive from nothing else
        raise EngineFailedError(f"{what} failed: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or ['no reason given'])[0][:LONGEST_REASON]}"
