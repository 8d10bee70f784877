"""Small files in the layouts in which the two studies release theirs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WRITERS = ("GPT3.5", "GPT4")
TITLE = "Bees"
VOTES: Mapping[str, Any] = {
    f"0_{writer}": {"experts": [9, 1, 7], "tests": [letters] * 14}
    for writer, letters in (("GPT3.5", "NNY"), ("GPT4", "YYN"), ("NewYorker", "YYY"))
}
VERDICTS: Mapping[str, Mapping[str, str]] = {
    "claudev2": {"0_GPT3.5": "N" * 14, "0_GPT4": "Y" * 14, "0_NewYorker": "YB" * 7}
}
SAID = {"Y": "Yes, it does.", "N": "No, it does not.", "B": "I cannot say."}


def ttcw_released(
    folder: Path, votes: Mapping[str, Any] = VOTES, verdicts: Mapping[str, Mapping[str, str]] = VERDICTS
) -> None:
    """Stories, annotations and answers of Salesforce/creativity_eval, references and a folder of a reader's own.

    Args:
        folder: Where to.
        votes: By story the experts, and for each test a letter an expert.
        verdicts: By judge and story a letter a test; `-` is a missing answer.
    """
    annotations = [
        {"story_id": story, "expert_idx": expert, "ttcw_idx": test, "binary_verdict": {"Y": "Yes", "N": "No"}[letter]}
        for story, row in votes.items()
        for test, letters in enumerate(row["tests"], start=1)
        for expert, letter in zip(row["experts"], letters, strict=True)
    ]
    _write(folder / "ttcw_annotations.json", annotations)
    for judge, stories in verdicts.items():
        rows = [
            {"id": f"story_{story}_test{test}", "response": SAID[letter]}
            for story, letters in stories.items()
            for test, letter in enumerate(letters, start=1)
            if letter != "-"
        ]
        _write_lines(folder / f"annotations_{judge}.jsonl", rows)
    released = [
        {"story_idx": 0, "story_id": f"0_{writer}", "story_name": TITLE, "plot": "Bees are lost.", "content": content}
        for writer, content in (
            ("NewYorker", "https://example.org/bees"),
            *((writer, f"The bees were lost, said {writer}.") for writer in WRITERS),
        )
    ]
    _write(folder / "ttcw_short_stories.json", released)
    _write_lines(
        folder / "fine.jsonl", [{"title": TITLE, "story": "She counted the bees as her mother had, out loud."}]
    )
    (folder / "my-stories").mkdir(exist_ok=True)
    (folder / "my-stories" / "door.txt").write_text("A door opened, and nobody came.", encoding="utf-8")


def second_data_set(folder: Path) -> None:
    """Stories in one group, with a machine's as reference, and ratings in a table."""
    stories: list[dict[str, str]] = [
        {"story": f"1_{writer}", "text": f"The duel, by {writer}.", "reference": "1_gpt4"}
        for writer in ("bard", "human")
    ]
    _write_lines(folder / "confederacy.jsonl", [*stories, {"story": "1_gpt4", "text": "The duel that was long."}])
    table = "story,plot,source,rater,readability,humour,remarks\n"
    table += (
        "1_bard,1,bard,ann,4,0,flat\n1_human,1,human,ann,9,7,\n1_bard,1,bard,bob,5,1,\n1_human,1,human,bob,8,8,wild\n"
    )
    (folder / "ratings.csv").write_text(table, encoding="utf-8")


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _write_lines(path: Path, rows: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
