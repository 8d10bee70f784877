"""The table of the page on scale: what its command says."""

import json
import re

from click.testing import CliRunner
from tests.documented import ROOT

from genie_inspect.cli.verbs.cost import cost
from genie_inspect.cli.verbs.cost.planning import shown_time
from genie_inspect.costs.plan import CALL_SECONDS, HOUR, PAIR_SECONDS

PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
LONG = PAGE.split("## How long, and how much")[1].split("\n## ")[0]


def test_the_table_of_plans_is_what_its_command_says() -> None:
    (command,) = re.findall(r"^genie cost (--study .*)$", LONG, re.MULTILINE)
    judges = json.loads(CliRunner().invoke(cost, [*command.split(), "--json"]).stdout)["judges"]
    expected = []
    for judge, facts in judges.items():
        for engine, plan in facts["engines"].items():
            hours = plan["hours"]
            steps = [(hours["reading"] + hours["population"], hours["rating"])] if hours else []
            times = [shown_time(HOUR * each) for step in steps for each in step] or ["", ""]
            wall = f"{'' if hours else 'up to '}{shown_time(HOUR * plan['wall_hours'])}"
            gpu_hours = f"{plan['gpu_hours']:.2f}" if plan["gpus"] else ""
            expected.append([judge, engine, *times, wall, gpu_hours, plan["bound"]])
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in LONG.splitlines() if line.startswith("|")]
    assert [row for row in rows if row[0] in judges] == expected


def test_the_page_says_the_models_own_seconds() -> None:
    own = f"{1000 * CALL_SECONDS:g} ms a request and {1000 * PAIR_SECONDS:g} ms a pair"
    assert own in " ".join(PAGE.split())
