"""Many small calls without a log entry each; usage is counted all the same."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from inspect_ai._util.constants import TRACE
from inspect_ai.event import Event
from inspect_ai.log import transcript
from inspect_ai.log._transcript import (  # Inspect has no public way to keep calls out of a log
    Transcript,
    init_transcript,
)

_TRACED = logging.getLogger("inspect_ai.model._model")  # writes two records a call for `inspect trace`
_unlogged: ContextVar[bool] = ContextVar("unlogged", default=False)


class _Forgetful(Transcript):
    """Holds on to nothing: nobody will read these events."""

    def _event(self, event: Event) -> None:
        pass

    def _event_updated(self, event: Event) -> None:
        pass


@contextmanager
def unlogged() -> Iterator[None]:
    """What is asked inside leaves no events in the sample's transcript, and no records in Inspect's trace file.

    Hundreds of calls a document would be megabytes of the one and gigabytes of the other, and to write them takes more
    time than a judge's prompt does. Retries and warnings are logged as ever.
    """
    logged, outside = transcript(), _unlogged.set(True)
    init_transcript(_Forgetful())
    try:
        yield
    finally:
        init_transcript(logged)
        _unlogged.reset(outside)


def _is_enabled_for(level: int) -> bool:
    return not (level == TRACE and _unlogged.get()) and logging.Logger.isEnabledFor(_TRACED, level)


# a filter would come after the record has been made, which is what costs
_TRACED.isEnabledFor = _is_enabled_for  # type: ignore[method-assign]  # of this one logger, inside `unlogged` alone
