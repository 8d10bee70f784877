"""Many small calls without a log entry each; usage is counted all the same."""

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai.event import Event
from inspect_ai.log import transcript
from inspect_ai.log._transcript import (  # Inspect has no public way to keep calls out of a log
    Transcript,
    init_transcript,
)


class _Forgetful(Transcript):
    """Holds on to nothing: nobody will read these events."""

    def _event(self, event: Event) -> None:
        pass

    def _event_updated(self, event: Event) -> None:
        pass


@contextmanager
def unlogged() -> Iterator[None]:
    """What is asked inside leaves no events in the sample's transcript: hundreds of calls would be megabytes."""
    logged = transcript()
    init_transcript(_Forgetful())
    try:
        yield
    finally:
        init_transcript(logged)
