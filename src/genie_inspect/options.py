"""Options of scorers, solvers and tasks: what cannot work is refused in one line that says what would."""

from os import PathLike

from genie_inspect.errors import UnknownChoiceError


def check_between(option: str, value: object, lowest: float, highest: float, scale: str = "") -> None:
    """Refuse what is no number from `lowest` to `highest`."""
    # in Python True is a number, and `-S min_coverage=true` gives True
    if not isinstance(value, int | float) or isinstance(value, bool) or not lowest <= value <= highest:
        raise UnknownChoiceError(option, value, f"{lowest:g} to {highest:g}" + (f", {scale}" if scale else ""))


def check_share(option: str, value: object) -> None:
    """Refuse what is no share, 0 to 1."""
    check_between(option, value, 0, 1)


def check_count(option: str, value: object, lowest: int = 1, reason: str = "") -> None:
    """Refuse what is no whole number of at least `lowest`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise UnknownChoiceError(
            option, value, f"a whole number of at least {lowest}" + (f": {reason}" if reason else "")
        )


def check_switch(option: str, value: object) -> None:
    """Refuse what is neither true nor false; a word such as "no" would count as true."""
    if not isinstance(value, bool):
        raise UnknownChoiceError(option, value, "true or false")


def check_text(option: str, value: object) -> None:
    """Refuse what is no text, such as a number that stands without quotes on the command line."""
    if not isinstance(value, str | PathLike):
        raise UnknownChoiceError(option, value, "a name or a path")
