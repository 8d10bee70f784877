"""Options that cannot be used, said in the one way that Inspect shows as a line instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.markup import escape

from genie_inspect.asking.prerequisites import PrerequisiteError
from genie_inspect.errors import GenieError
from genie_inspect.files.printable import one_line


class RefusedError(GenieError, PrerequisiteError):
    """A task or a scorer cannot be made; the text is the message of the error behind it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        # Inspect prints it as it is, with rich, which would take "[extra]" for a style
        self.message = escape(one_line(text))


@contextmanager
def refusals() -> Iterator[None]:
    """Our own errors as refusals: Inspect hides a ValueError of a scorer behind "couldn't be loaded".

    Raises:
        RefusedError: For every error of ours.
    """
    try:
        yield
    except RefusedError:
        raise
    except GenieError as error:
        raise RefusedError(str(error)) from error
