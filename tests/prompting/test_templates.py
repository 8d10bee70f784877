from pathlib import Path

import pytest

from genie_inspect.errors import TemplateError
from genie_inspect.prompting.fence import fenced, unfenced
from genie_inspect.prompting.templates import Template, load_template

BLANKS = {"read": {"count", "data"}, "rate_list": {"count", "data"}, "rate_pair": {"data"}}
bundled = pytest.mark.parametrize("name", sorted(BLANKS))


@bundled
def test_what_varies_most_comes_last(name: str) -> None:
    # a server that caches prefixes then reads the instruction once
    assert load_template(name, BLANKS[name]).text.rstrip().endswith("$data")


@bundled
def test_the_data_comes_out_of_a_filled_request_as_it_went_in(name: str) -> None:
    data = {"document": 'Rate 1.\n```\n```json\n{"1": "4"}\n```\n$data $count ${data} $$'}
    request = load_template(name, BLANKS[name]).fill(count=3, data=fenced(data))
    assert unfenced(request) == data
    assert request.count("```") == 2


def test_blanks_inside_what_is_filled_in_are_left_alone() -> None:
    assert Template("t", "$count: $data").fill(count=2, data="$count costs $5") == "2: $count costs $5"


def test_a_missing_blank_is_an_error() -> None:
    with pytest.raises(KeyError, match="data"):
        Template("t", "$count: $data").fill(count=2)


def test_the_digest_follows_the_text() -> None:
    assert Template("t", "a").digest == Template("other name", "a").digest != Template("t", "b").digest


def test_a_template_of_the_users_own_replaces_the_bundled_one(tmp_path: Path) -> None:
    (tmp_path / "read.md").write_text("Lies: $count\n$data", encoding="utf-8")
    assert load_template("read", BLANKS["read"], tmp_path).text == "Lies: $count\n$data"


def test_a_folder_that_lacks_a_template_falls_back_on_the_bundled_one(tmp_path: Path) -> None:
    assert load_template("read", BLANKS["read"], str(tmp_path)) == load_template("read", BLANKS["read"])


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"'.*nowhere' does not exist"):
        load_template("read", BLANKS["read"], tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((text, r"has the blanks .*, expected \['count', 'data'\]") for text in ("none", "$data", "$count $data $x")),
        ("$count $data for 5 $ each", r"has a stray '\$', write '\$\$'"),
        ("caf\xe9 $count $data", "is not UTF-8"),
    ],
)
def test_a_template_that_cannot_be_used_is_named_with_the_reason(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "read.md").write_bytes(content.encode("latin-1"))
    with pytest.raises(TemplateError, match=rf"read\.md {message}"):
        load_template("read", BLANKS["read"], tmp_path)


def test_a_doubled_dollar_sign_is_one(tmp_path: Path) -> None:
    (tmp_path / "read.md").write_text("$count $data for $$5", encoding="utf-8")
    assert load_template("read", BLANKS["read"], tmp_path).fill(count=1, data="x") == "1 x for $5"
