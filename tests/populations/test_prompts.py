import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.populations.prompts import (
    SourceError,
    clean_prompt,
    prompt_lines,
    write_prompts,
    writing_prompt_sample,
)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("[WP] You wake up.", "You wake up."),
        ("[ WP ] You wake up .", "You wake up."),
        ("[wp]You wake up.", "You wake up."),
        ("[TT] [WP] You wake up.", "You wake up."),
        ("  [ EU ]  You wake up.", "You wake up."),
        ("You [still] wake up.", "You [still] wake up."),
        ("[Warning] You wake up.", "[Warning] You wake up."),
        ("You wake up.\\n\\nThe town is empty.", "You wake up. The town is empty."),
        ("You wake up.\n\nThe town is empty.", "You wake up. The town is empty."),
        ("You wake up . <newline> The town is empty .", "You wake up. The town is empty."),
        ("Who , me ? Yes !", "Who, me? Yes!"),
        ("**You wake up.**", "You wake up."),
        ("[WP]", ""),
        (" \\n ", ""),
    ],
)
def test_a_prompt_loses_its_tag_and_what_tokenizers_left(raw: str, clean: str) -> None:
    assert clean_prompt(raw) == clean


@given(st.text())
def test_a_clean_prompt_is_one_line_without_spaces_around(text: str) -> None:
    clean = clean_prompt(text)
    assert clean == clean.strip()
    assert clean.splitlines() in ([], [clean])


def written(path: Path, prompts: Iterable[str]) -> str:
    path.write_text(
        "".join(json.dumps({"prompt": prompt, "story": "-"}) + "\n" for prompt in prompts), encoding="utf-8"
    )
    return str(path)


def test_a_sample_depends_on_the_seed_alone(tmp_path: Path) -> None:
    prompts = [f"[WP] Prompt {number}." for number in range(100)]
    forward, backward = written(tmp_path / "a.jsonl", prompts), written(tmp_path / "b.jsonl", prompts[::-1])
    sample = writing_prompt_sample(forward, 25, seed=1)
    assert sample == writing_prompt_sample(backward, 25, seed=1)
    assert sample != writing_prompt_sample(forward, 25, seed=2)
    assert len(set(sample)) == 25
    assert all(prompt.startswith("Prompt ") for prompt in sample)


def test_prompts_that_are_one_once_cleaned_count_once(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", ["[WP] One.", "One .", "[EU] Two.", "[WP]", ""])
    assert sorted(writing_prompt_sample(source, 2, seed=0)) == ["One.", "Two."]
    for count, message in ((3, "has 2 distinct prompts, expected at least 3"), (0, "sample is 0, expected at least 1")):
        with pytest.raises(SourceError, match=message):
            writing_prompt_sample(source, count, seed=0)


class Rows(dict[str, list[Any]]):
    @property
    def column_names(self) -> list[str]:
        return list(self)


def hub(monkeypatch: pytest.MonkeyPatch, load_dataset: Callable[..., Rows]) -> None:
    """Something in the place of the library `datasets`, which the tests do not install."""
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))


def test_prompts_come_from_the_training_split_of_a_hub_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    hub(monkeypatch, lambda source, split: Rows(prompt=[f"[WP] {source}, {split}."]))
    assert writing_prompt_sample("some/prompts", 1, seed=0) == ["some/prompts, train."]
    hub(monkeypatch, lambda source, split: Rows(text=["One."]))
    with pytest.raises(SourceError, match=r"has the columns \['text'\], expected one named 'prompt'"):
        writing_prompt_sample("some/texts", 1, seed=0)


def test_a_dataset_of_preferences_gives_each_prompt_once_in_the_studys_form(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def load_dataset(source: str, **options: str) -> Rows:
        asked[source] = options
        # a row a comparison of two stories: most prompts stand in several
        town, mars = "[WP] The town wakes up .", "[EU] Write a story about Mars."
        return Rows(prompt=[town, mars, town[:-2] + ".", None, "[OT]"], chosen_story=["-"] * 5)

    hub(monkeypatch, load_dataset)
    commit = "0a" * 20
    drawn = writing_prompt_sample(f"SAA-Lab/LitBench-Train@{commit}", 2, seed=0, split="all", story_where=True)
    assert sorted(drawn) == ["Write a story about Mars.", "Write a story where: The town wakes up."]
    assert asked == {"SAA-Lab/LitBench-Train": {"split": "all", "revision": commit}}


def test_the_form_does_not_change_which_prompts_are_drawn(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", (f"{letter} wakes up." for letter in "AbCdEfGhXyZ"))
    plain = writing_prompt_sample(source, 5, seed=3)
    assert writing_prompt_sample(source, 5, seed=3, story_where=True) == [f"Write a story where: {p}" for p in plain]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_prompts_come_from_any_column_of_a_local_table(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow")
        from pyarrow import table
        from pyarrow.parquet import write_table

        write_table(table({"title": ["[WP] One.", None, "Two."], "upvotes": [1, 2, 3]}), path)
    else:
        rows = (
            '{"title": "[WP] One."}\n{"title": "Two."}\n' if ending == "jsonl" else "title,n\n[WP] One.,1\n,2\nTwo.,3\n"
        )
        path.write_text(rows, encoding="utf-8")
    assert sorted(writing_prompt_sample(str(path), 2, seed=0, column="title")) == ["One.", "Two."]
    with pytest.raises(SourceError, match=r"'prompt'"):
        writing_prompt_sample(str(path), 1, seed=0)
    with pytest.raises(SourceError, match=r"nowhere\.(csv|parquet) does not exist|nowhere\.jsonl cannot be read"):
        writing_prompt_sample(str(tmp_path / f"nowhere.{ending}"), 1, seed=0)


def test_a_file_of_prompts_is_read_as_it_was_written_each_once_with_its_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    write_prompts(
        path, [{"prompt": "One\nand two.", "distance": 0.9}, {"prompt": "One\nand two."}, {"prompt": "Ü\ud800"}]
    )
    assert prompt_lines(path) == ["One\nand two.", "Ü\ufffd"]
    (tmp_path / "own.txt").write_text("One.\n\n Two. \nOne.\n", encoding="utf-8")
    assert prompt_lines(tmp_path / "own.txt") == ["One.", "Two."]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", " \n", "a.txt has no prompts"),
        ("a.jsonl", "", "a.jsonl has no prompts"),
        ("a.jsonl", '{"text": "One."}\n', "a.jsonl, line 1 has no text in the field 'prompt'"),
        ("a.jsonl", "One.\n", "a.jsonl, line 1 is not JSON"),
    ],
)
def test_a_file_without_prompts_is_named(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=message):
        prompt_lines(tmp_path / name)
