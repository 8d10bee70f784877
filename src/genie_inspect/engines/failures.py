"""A library's or a server's error as the one error that callers know."""

from collections.abc import Iterator
from contextlib import contextmanager

from genie_inspect.errors import EngineFailedError

LONGEST = 300  # characters of a library's message


@contextmanager
def engine_failures(what: str) -> Iterator[None]:
    """Raises any error of a library's call as one error that names the engine.

    Only calls into libraries belong inside: an error of our own code would be hidden.

    Raises:
        EngineFailedError: For every error.
    """
    try:
        yield
    except EngineFailedError:
        raise
    except Exception as error:  # tokenizers and safetensors raise errors that derive from nothing else
        reason = (str(error).strip().splitlines() or ["no reason given"])[0][:LONGEST]
        raise EngineFailedError(f"{what} failed: {type(error).__name__}: {reason}") from error
