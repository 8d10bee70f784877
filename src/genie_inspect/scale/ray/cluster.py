"""A Ray cluster to work on: the one that runs, or one on this machine."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from genie_inspect.errors import MissingExtraError
from genie_inspect.scale.shards import ScaleError


@contextmanager
def cluster() -> Iterator[Any]:
    """Ray, connected to the cluster that RAY_ADDRESS names, or else to one of its own until the end.

    Raises:
        MissingExtraError: If Ray is not installed.
        ScaleError: If the cluster cannot be reached, or a job on it fails; in one line.
    """
    # whoever uses Ray through us has not been asked whether it may report so
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data.llm
    except ImportError as error:
        raise MissingExtraError(f"a job on Ray ({error})", "ray") from None
    own = not ray.is_initialized()
    try:
        if own:
            ray.init(log_to_driver=False, logging_level=logging.ERROR)
        # we show a bar of our own, on standard error
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        yield ray
    except (ConnectionError, ray.exceptions.RayError) as error:
        raise ScaleError(f"the job on Ray has failed: {_reason(error)}") from error
    finally:
        if own:
            ray.shutdown()


def _reason(error: Exception) -> str:
    """The last line that says something: Ray puts the traces of all its processes before it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
