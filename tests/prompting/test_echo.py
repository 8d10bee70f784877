"""Replies that repeat their request."""

import json
import re
import string

import pytest

from genie_inspect.prompting.echo import without_echo
from genie_inspect.prompting.fence import CLOSE, OPEN, fenced
from genie_inspect.prompting.templates import BUNDLED, load_template

DATA = {"question": "Who <is> it?", "answer": "an owl", "others": {"1": "3", "2": "a fox"}}
ASKING = sorted(path.stem for path in BUNDLED.glob("*.md") if "$data" in path.read_text(encoding="utf-8"))


def request(name: str) -> str:
    blanks = set(string.Template((BUNDLED / f"{name}.md").read_text(encoding="utf-8")).get_identifiers())
    return load_template(name, blanks).fill(**{**dict.fromkeys(blanks, "two"), "data": fenced(DATA)})


@pytest.mark.parametrize("name", ASKING)
def test_an_echo_of_any_request_holds_nothing(name: str) -> None:
    whole = request(name)
    instructions, block = whole.split(OPEN)[0], whole.split(OPEN)[1].split(CLOSE)[0]
    for echo in (
        whole,
        block,
        json.dumps(DATA, indent=2),
        json.dumps(DATA),
        f"Sure!\n{whole}",
        whole.upper(),
        whole[:-9],
    ):
        assert without_echo(echo, whole) == "", echo
    if len(re.findall(r"\w+", instructions)) >= 48:
        assert without_echo(instructions, whole) == ""
        assert without_echo(f"{instructions}\n1:3 2:0 Rating: 3 [[YES]]", whole) == ""


def test_what_stands_behind_the_whole_request_is_the_reply() -> None:
    whole = request("rate_list")
    assert without_echo(f"{whole}\n1:3 2:0", whole).strip() == "1:3 2:0"
    assert without_echo(f"\n{whole}{whole}", whole) == ""


@pytest.mark.parametrize(
    "reply",
    [
        "1:3 2:0",
        '{"attempt": "yes", "1": "a lighthouse keeper", "2": "[not said]"}',
        '{"1": "different", "2": "same"}',
        "4 - interchangeable: they say the same thing, in whatever words\nRating: 4",
        "They share a broad theme.\nRating: 2",
        '{"reason": "no more than a broad theme is shared", "rating": 2}',
        "",
    ],
)
@pytest.mark.parametrize("name", ["rate_list", "rate_pair", "read", "same_list"])
def test_a_reply_in_the_form_of_the_example_or_that_quotes_a_line_stays_as_it_is(name: str, reply: str) -> None:
    assert without_echo(reply, request(name)) == reply


def test_thoughts_may_go_over_the_request() -> None:
    whole = request("rate_list")
    assert without_echo(f"<think>{whole}</think>1:3", whole).endswith("1:3")
