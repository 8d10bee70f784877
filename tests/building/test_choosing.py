"""Which documents a population takes: drawn, trimmed, cut where a model says that they fall apart."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.building.scripts import FEATURES, FOX, OWL, recorded, willing, write_log
from tests.scripted import Script, saying

from genie_inspect.building.collecting import (
    ABSENT,
    ASKED,
    BROKEN,
    CUT,
    UNREADABLE,
    WORDS,
    Cleaner,
    stratified,
    trimmed,
    up_to_sentence,
)
from genie_inspect.building.importing import Import, import_cleaned
from genie_inspect.building.inspection import faults
from genie_inspect.building.populating import BuildPlan, Built, build
from genie_inspect.errors import GraderFailedError, PopulationError
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, document_id
from genie_inspect.prompting.fence import unfenced

ITEMS = [("a", number) for number in range(7)] + [("b", number) for number in range(3)] + [("c", 0)]


def model(item: tuple[str, int]) -> str:
    return item[0]


def test_every_beginning_takes_the_models_as_equally_as_can_be() -> None:
    order = stratified(ITEMS, model, 0)
    for size in range(1, len(ITEMS) + 1):
        taken = Counter(map(model, order[:size]))
        left = Counter(map(model, order[size:]))
        # nobody has two more than another who still has some left
        assert all(taken[one] - taken[other] <= 1 for one in taken for other in left)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers())), st.integers())
def test_nothing_is_lost_or_added(items: list[tuple[str, int]], seed: int) -> None:
    assert Counter(stratified(items, model, seed)) == Counter(items)


STORY = "The owl left at dusk. It flew over nine barns, and none of them was its own."


@pytest.mark.parametrize(
    ("generation", "document"),
    [
        (f"<think>An owl, then?</think>\n{STORY}", STORY),
        (f"An owl, then?</think>{STORY}", STORY),
        (f"\n\n {STORY}<|im_end|>\n", STORY),
        (f"[INST] {STORY} [/INST]</s>", STORY),
        (f"{STORY} {'And on it flew into the night. ' * 4}And on it fl", f"{STORY} And on it flew into the night."),
    ],
)
def test_thoughts_marks_and_repeated_tails_are_no_document(generation: str, document: str) -> None:
    assert trimmed(generation) == (document, False)


LOST = "She said: “Go!” He went. She said: “Go!” Nobody did go of the go"


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("He went.", "She said: “Go!” He went."),
        ("He went", "She said: “Go!” He went."),
        ('she said: "Go!"', "She said: “Go!” He went. She said: “Go!”"),
        ("She sayd: “Go!”", "She said: “Go!” He went. She said: “Go!”"),
        ("Nobody did go of the go", LOST),
    ],
)
def test_a_text_ends_behind_the_sentence_the_last_time_that_it_stands_there(sentence: str, rest: str) -> None:
    assert up_to_sentence(LOST, sentence) == rest


def test_what_is_no_sentence_of_the_text_ends_it_nowhere_and_a_line_or_a_mark_of_any_script_ends_a_sentence() -> None:
    for sentence in ("It rained.", "She", "Nobody did", "", "“"):
        assert up_to_sentence(LOST, sentence) is None
    poem = "The owl is white \nthe moon is old\nold of moon moon"
    assert up_to_sentence(poem, "The owl is white") == "The owl is white"
    assert up_to_sentence("猫が寝た。月が出た。月の月の", "月が出た。") == "猫が寝た。月が出た。"


SOUND = "The owl left the barn at dusk. She found the moon."
TAIL = " moon the of owl blue blue"  # six words
LOGS: dict[str, list[str]] = {}
STORIES = [SOUND + TAIL, "An owl kept the clock of a small town.", "Snow fell on the white owl until nobody saw her."]


@pytest.fixture(scope="module", autouse=True)
def logs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Written here, because Inspect writes none inside an event loop of trio."""
    folder = tmp_path_factory.mktemp("logs")
    LOGS["broken"] = [write_log(folder / "a.eval", "a", {OWL: STORIES, FOX: ["A red fox waited by the rails."]})]
    LOGS["twice"] = [write_log(folder / "b.eval", "b", {OWL: [SOUND, SOUND + TAIL, STORIES[1]]})]


def document(text: str, prompt: str = OWL) -> Document:
    return Document(id=document_id(prompt, text), prompt=prompt, text=text, model="a/one")


def naming(sentence: Callable[[str], str], able: Script | None = None) -> Script:
    """A grader that names the last sound sentence of a text, and does all else as it can."""

    def reply(request: str) -> str:
        data = unfenced(request)
        if "writing" in data:
            return json.dumps({"last": sentence(data["writing"])})
        return str(able.reply(request)) if able else "?"

    return Script(reply)


def last_whole(text: str) -> str:
    return text[: text.rindex(".") + 1].split(". ")[-1]


async def cleaned(script: Script, *texts: str) -> tuple[list[Document], dict[str, int]]:
    """What is left of documents of these texts, and all counts."""
    cleaner, dropped = Cleaner(script.model()), Counter[str]()
    left = await cleaner.cleaned([document(text) for text in texts], dropped)
    return left, {name: count for name, count in (cleaner.counts + dropped).items() if count}


async def test_a_document_is_cut_behind_the_sentence_that_the_model_names(tmp_path: Path) -> None:
    script = naming(last_whole)
    (left,), counts = await cleaned(script, SOUND + TAIL)
    assert (left.text, left.cut_words, left.model) == (SOUND, 6, "a/one")
    assert left.id == document_id(OWL, SOUND), "the id is that of the text that is left"
    assert counts == {ASKED: 1, CUT: 1, WORDS: 6}
    assert script.data == [{"writing": SOUND + TAIL}]


async def test_a_document_that_holds_together_stays_as_it_is() -> None:
    ornamented = SOUND + "\n\n***\n"
    left, counts = await cleaned(naming(lambda text: "She found the moon."), SOUND, ornamented)
    assert left == [document(SOUND), document(ornamented)]
    assert counts == {ASKED: 2}


@pytest.mark.parametrize("sentence", ["She found the sun and kept it.", "She", "...", "moon the of owl"])
async def test_a_sentence_that_is_none_of_the_text_changes_nothing_and_is_counted(sentence: str) -> None:
    left, counts = await cleaned(naming(lambda text: sentence), SOUND + TAIL + ". More of it")
    assert (left, counts) == ([document(SOUND + TAIL + ". More of it")], {ASKED: 1, ABSENT: 1})


@pytest.mark.parametrize("reply", ["", "I like owls.", '{"last": ["She found the moon."]}', '{"last": "She fou'])
async def test_a_reply_that_cannot_be_read_changes_nothing_and_is_counted(reply: str) -> None:
    script = saying(reply)
    left, counts = await cleaned(script, SOUND + TAIL)
    assert (left, counts) == ([document(SOUND + TAIL)], {ASKED: 1, UNREADABLE: 1})
    assert len(script.requests) == 3, "asked again, twice"


@pytest.mark.parametrize("sentence", ["", "It rained."])
async def test_what_would_lose_more_than_half_of_itself_is_left_out_with_the_reason(sentence: str) -> None:
    left, counts = await cleaned(naming(lambda text: sentence), "It rained. " + TAIL)
    assert (left, counts) == ([], {ASKED: 1, BROKEN: 1})
    # half of it is enough
    (half,), _ = await cleaned(naming(lambda text: "It rained."), "It rained. And on an")
    assert (half.text, half.cut_words) == ("It rained.", 3)


async def built(folder: Path, script: Script, **changes: object) -> tuple[Built, Population]:
    plan = BuildPlan(LOGS["broken"], folder / "owls", "owls", "MIT", FEATURES, least=1, clean_by_model=True)
    plan = replace(plan, **changes)  # type: ignore[arg-type]  # fields of any type
    return await build(plan, recorded(script, folder / "work"), folder / "work"), Population(plan.output)


async def test_a_build_cuts_before_it_rates_and_reads_and_records_how_much(tmp_path: Path) -> None:
    script = naming(last_whole, willing())
    done, population = await built(tmp_path, script)
    by_text = {document.text: document for document in population.documents(OWL)}
    assert (by_text[SOUND].cut_words, by_text[STORIES[1]].cut_words) == (6, None)
    assert done.cleaned == {ASKED: 4, CUT: 1, WORDS: 6}
    assert (done.documents, done.dropped, done.asked_again) == (4, {}, 0)
    assert not any(TAIL in str(data.get("document")) for data in script.data)
    assert not faults(population.folder)
    card = (population.folder / "README.md").read_text()
    assert "| Broken ends | looked for by last_sound_sentence(mockllm/model@" in card
    assert "4 asked about, 1 cut, 6 words cut |" in card
    assert "| cut by a model | 1, by 6 to 6, median 6 words |" in card


async def test_a_build_leaves_out_what_falls_apart_and_others_take_its_place(tmp_path: Path) -> None:
    script = naming(lambda text: "" if "moon" in text else last_whole(text), willing())
    done, population = await built(tmp_path, script, per_prompt=2)
    assert sorted(document.text.split()[0] for document in population.documents(OWL)) == ["An", "Snow"]
    assert done.dropped == {BROKEN: 1}


async def test_of_two_documents_that_are_alike_without_their_broken_ends_one_joins(tmp_path: Path) -> None:
    done, population = await built(tmp_path, naming(last_whole, willing()), logs=LOGS["twice"])
    assert sorted(document.text for document in population.documents(OWL)) == sorted([SOUND, STORIES[1]])
    assert done.dropped == {"near-duplicate": 1}
    assert not faults(population.folder)


async def test_a_build_that_failed_while_it_cleaned_goes_on_from_there(tmp_path: Path) -> None:
    able = naming(last_whole, willing())

    def failing(request: str) -> str:
        if "fox" in str(unfenced(request).get("writing")):
            raise ConnectionError("no route")
        return str(able.reply(request))

    with pytest.raises(GraderFailedError):
        await built(tmp_path, Script(failing), near_duplicates=1.0)
    assert not (tmp_path / "owls").exists()
    again = naming(last_whole, willing())
    _, population = await built(tmp_path, again, near_duplicates=1.0)
    _, whole = await built(tmp_path / "whole", naming(last_whole, willing()), near_duplicates=1.0)
    assert [data["writing"] for data in again.data if "writing" in data] == ["A red fox waited by the rails."]
    for name in ("documents.jsonl", "population.json", "README.md"):
        assert (population.folder / name).read_bytes() == (whole.folder / name).read_bytes()


async def imported(folder: Path, script: Script, *rows: dict[str, str]) -> tuple[dict[str, Any], Population]:
    (folder / "t.jsonl").write_text("".join(json.dumps({"prompt": OWL, **row}) + "\n" for row in rows))
    order = Import(source=str(folder / "t.jsonl"), output=folder / "made", name="made", licence="MIT")
    return await import_cleaned(order, Cleaner(script.model())), Population(folder / "made")


async def test_an_import_cuts_its_documents_and_counts_what_then_stands_twice(tmp_path: Path) -> None:
    rows = [{"text": SOUND + TAIL, "model": "a"}, {"text": SOUND, "model": "b"}, {"text": STORIES[1]}]
    done, population = await imported(tmp_path, naming(last_whole), *rows)
    texts = {document.text for document in population.documents(OWL)}
    assert (texts, done["documents"], done["dropped"]) == ({SOUND, STORIES[1]}, 2, {"duplicate": 1})
    assert done["cleaned"] == {ASKED: 3, CUT: 1, WORDS: 6}
    assert "| Broken ends | looked for by " in (population.folder / "README.md").read_text()
    assert not faults(population.folder)


async def test_a_prompt_that_an_import_leaves_without_documents_loses_its_questions(tmp_path: Path) -> None:
    fox = {"prompt": FOX, "text": "Fox of the of.", "question": "Which colour?", "feature": "plot"}
    owl = {"text": STORIES[1], "question": "What is kept?", "feature": "plot"}
    script = naming(lambda text: "" if "Fox" in text else text)
    done, population = await imported(tmp_path, script, owl, fox)
    assert (population.prompts, done["questions"], done["dropped"]) == ([OWL], 1, {BROKEN: 1})
    assert not faults(population.folder)


async def test_answers_are_about_whole_texts_so_that_a_table_with_answers_is_refused(tmp_path: Path) -> None:
    script = naming(last_whole)
    row = {"text": SOUND, "question": "What is found?", "feature": "plot", "answer": "the moon"}
    with pytest.raises(PopulationError, match=r"t\.jsonl has answers, .* without --clean-by-model"):
        await imported(tmp_path, script, row)
    assert script.requests == []
