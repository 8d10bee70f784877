"""What can go wrong, by name. Every message names the thing, the value and what would work."""

from os import PathLike


class GenieError(Exception):
    """The base of every error that genie-inspect raises on purpose."""


class GenieWarning(UserWarning):
    """Something was left out, or done otherwise than asked; the message says what and why."""


class NetworkFolderWarning(GenieWarning):
    """A folder that is written to is on a network file system, where what is written may be lost."""


class PopulationError(GenieError):
    """A population folder cannot be read or written: the message names file, line and field."""


class InterventionsError(GenieError):
    """A file of edits and paraphrases cannot be used: the message names file, line and field."""


class UnwritableError(GenieError):
    """A file or folder cannot be written: the message names it and says why."""


class TemplateError(GenieError):
    """An instruction template is missing, or its blanks are not those that the caller fills."""


class FitError(GenieError):
    """A fit of the embedding judge cannot be used: the message names it and says how to make another."""


class UnfittableError(GenieError, ValueError):
    """A model cannot be fitted to the rows that it was given: the message says why and what would help."""


class UnreadableReplyError(GenieError):
    """A model's reply does not hold what was asked for."""


class GraderFailedError(GenieError):
    """The grader's provider gave up; nothing is known about what it was asked."""


class RefusalError(GenieError):
    """A document is no try at its task: its model refused, and there is nothing to measure."""


class EngineFailedError(GenieError):
    """An embedder, a classifier, a reward model or a look-up failed; nothing is known about what it was asked."""


class CorpusError(GenieError):
    """A corpus of texts or an index of one cannot be used: the message names the file and what is wrong with it."""


class MissingExtraError(GenieError):
    """A capability needs an optional dependency that is not installed."""

    def __init__(self, capability: str, extra: str, instead: str = "") -> None:
        # pip takes what is installed, a clone or a wheel, and adds what the extra lacks
        way_out = f"pip install 'genie-inspect[{extra}]'" + (f". {instead}" if instead else "")
        super().__init__(f"{capability} needs the extra {extra}: {way_out}")


class UnknownChoiceError(GenieError, ValueError):
    """An option got a value outside the set that it accepts."""

    def __init__(self, option: str, value: object, accepted: str) -> None:
        super().__init__(f"{option} is {value!r}, expected {accepted}")


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
