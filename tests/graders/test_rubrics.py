"""Rubrics, bundled and from files; what comes of their verdicts, and how a critic asks for them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.rubrics import BUNDLED, Instructions, RubricError, load_rubric

ONE = {"id": "pace", "name": "pace", "question": "Is it quick?"}


def written(folder: Path, content: object, name: str = "rubric.json") -> str:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_the_bundled_rubrics_have_their_tests_and_no_key_in_common() -> None:
    torrance, second = map(load_rubric, ("ttcw", "gomez_williams"))
    dimensions = ("fluency", "flexibility", "originality", "elaboration")
    assert torrance.dimensions == dimensions
    assert [sum(test.dimension == name for test in torrance.tests) for name in dimensions] == [5, 3, 3, 3]
    tests = [f"{number:02d}" for number in range(1, 15)]
    # the total first, then the dimensions, then the tests
    assert torrance.keys == tuple(f"ttcw_{part}" for part in ("total", *dimensions, *tests))
    assert second.keys[:2] == ("gomez_williams_total", "gomez_williams_readability")
    assert len(second.tests) == 10
    keys = [key for name in BUNDLED for key in load_rubric(name).keys]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "{a: " * 5_000,
        "name: &a [*a]\ntests: *a",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nname: *c",
        "!!python/object/apply:os.system ['true']",
        "name: 2020-99-99",
        "name: 2001-01-01T00:00:00+99:99",
        "name: !!timestamp then",
        "name: !!int three",
        "name: !!float ','",
        "name: " + "9" * 5_000,
        "\x00",
        "---\na\n---\nb",
    ],
)
def test_hostile_yaml_is_one_line_that_names_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RubricError, match=r"^rubric .*rubric\.yaml(: | cannot be read: )[^\n]+$"):
        load_rubric(str(path))


def test_a_rubric_may_be_yaml_or_json(tmp_path: Path) -> None:
    from_json = load_rubric(written(tmp_path, {"name": "mine", "tests": [ONE]}))
    path = tmp_path / "rubric.yaml"
    path.write_text("name: mine\ntests:\n- id: pace\n  name: pace\n  question: Is it quick?\n", encoding="utf-8")
    assert load_rubric(str(path)) == from_json
    assert from_json.keys == ("mine_total", "mine_pace")


def test_the_digest_changes_with_a_question_and_not_with_the_source(tmp_path: Path) -> None:
    plain = load_rubric(written(tmp_path, {"name": "mine", "tests": [ONE]}))
    sourced = load_rubric(written(tmp_path, {"name": "mine", "source": "a book", "tests": [ONE]}))
    other = load_rubric(written(tmp_path, {"name": "mine", "tests": [ONE | {"question": "Is it slow?"}]}))
    assert plain.digest == sourced.digest != other.digest


FAULTY: list[tuple[Any, str]] = [
    ({"name": "mine", "tests": [ONE, ONE]}, "test id 'pace' appears twice"),
    ({"name": "mine", "tests": []}, "tests: "),
    ({"name": "mine"}, "tests: Field required"),
    ({"name": "My Rubric", "tests": [ONE]}, "name: "),
    ({"name": "mine", "tests": [{"id": "pace", "name": "pace"}]}, "tests.0.question: Field required"),
    ({"name": "mine", "tests": [ONE | {"id": "total"}]}, "'total' is the name of a sum"),
    ({"name": "mine", "tests": [ONE, ONE | {"id": "x", "dimension": "pace"}]}, "'pace' is the name of a sum"),
    ({"name": "mine", "tests": [ONE | {"dimension": "total"}]}, "'total' is the name of the sum"),
    ({"name": "mine", "tests": [ONE | {"weight": 2}]}, "tests.0.weight"),
    (["pace"], "contains a list"),
    ("", "contains a str"),
]


@pytest.mark.parametrize(("content", "fault"), FAULTY)
def test_a_faulty_rubric_is_refused_in_one_line_that_names_file_and_place(
    tmp_path: Path, content: Any, fault: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    message = str(caught.value)
    assert message.startswith(f"rubric {path}: ")
    assert fault in message
    assert "\n" not in message


def test_an_unknown_rubric_names_those_that_there_are() -> None:
    with pytest.raises(UnknownChoiceError, match="rubric is 'tctw', expected one of ttcw, gomez_williams, or a YAML"):
        load_rubric("tctw")


@pytest.mark.parametrize("reference", [True, False])
@pytest.mark.parametrize("part", ["stories", "test", "scale"])
def test_each_part_may_be_the_user_s_own_and_changes_the_digest(tmp_path: Path, part: str, reference: bool) -> None:
    usual = Instructions.load(reference=reference)
    own = getattr(usual, part)
    (tmp_path / f"{own.name}.md").write_text(own.text + "\nThink.", encoding="utf-8")
    mine = Instructions.load(reference=reference, folder=tmp_path)
    assert getattr(mine, part).text.strip().endswith("Think.")
    assert mine.digest != usual.digest


def test_other_labels_at_the_end_are_another_digest_and_unknown_ones_are_refused() -> None:
    usual = Instructions.load(5)
    assert replace(usual, form=Instructions.load(7).form).digest != usual.digest
    with pytest.raises(UnknownChoiceError, match="levels is 4, expected one of 3, 5, 7"):
        Instructions.load(4)
