"""Options of scorers that are numbers: wrong ones are refused like every other wrong option."""

from genie_inspect.errors import UnknownChoiceError


def share(option: str, value: object) -> float:
    """The value of an option that is a share, 0 to 1.

    Raises:
        UnknownChoiceError: If it is anything else; on a command line it may be a word.
    """
    # "-S min_coverage=true" arrives as a truth value, which is a number to Python
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UnknownChoiceError(option, value, "0 to 1")
    return float(value)


def count(option: str, value: object) -> int:
    """The value of an option that is a number of things, at least 1.

    Raises:
        UnknownChoiceError: If it is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UnknownChoiceError(option, value, "at least 1")
    return value
