"""How a run is stopped when something that it needs is missing."""

from genie_inspect.inspect_private import PrerequisiteError

__all__ = ["PrerequisiteError", "unmet"]


def unmet(reason: str | Exception) -> PrerequisiteError:
    """The error that ends a run, with its text shown as it is: Inspect would read `[extra]` as markup."""
    from rich.markup import escape

    return PrerequisiteError(escape(str(reason)))
