"""The command `genie` as a user calls it."""

import json
from typing import Any

from click.testing import CliRunner, Result

from genie_inspect.cli import main


def genie(*arguments: object, columns: int = 200, answer: str = "") -> Result:
    """Call it in a window of so many columns, with an answer to what it asks."""
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, [*map(str, arguments)], input=answer)


def as_json(*arguments: object) -> Any:
    """What it says for a script."""
    result = genie(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
