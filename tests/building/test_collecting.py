import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.log import EvalError, read_eval_log, write_eval_log
from tests.building.scripts import FOX, OWL, built, otherwise, population_of, story_logs, willing, write_log
from tests.scripted import DOCUMENTS, Script, saying, small_population

from genie_inspect.building.collecting import (
    ABSENT,
    ASKED,
    BROKEN,
    CUT,
    UNREADABLE,
    WORDS,
    Cleaner,
    Collected,
    merged,
    sampled,
    stratified,
    trimmed,
    up_to_sentence,
)
from genie_inspect.building.importing import Import, import_cleaned
from genie_inspect.building.inspection import faults
from genie_inspect.errors import GenieWarning, PopulationError
from genie_inspect.populations.population import BUNDLED, Population
from genie_inspect.populations.schema import Document, Question, document_id


def test_what_is_no_document_is_dropped_with_a_count_by_reason(tmp_path: Path) -> None:
    story, loop = "A fox ran home over the snow.", "It snowed. " + "And then it snowed some more. " * 30
    # a long text stands in the log as an attachment
    long = " ".join(f"word{number}" for number in range(3_000))
    logs = [
        write_log(tmp_path / "a.eval", "a", {OWL: [story, story, "  ", loop, "<think>A fox.</think>", long]}),
        write_log(tmp_path / "b.eval", "b", {OWL: ["I cannot help with that."]}, stop_reason="content_filter"),
    ]
    found = Collected(logs, tmp_path / "documents.jsonl", None)
    assert [document.text for document in found.documents(OWL)] == [story, long]
    assert found.dropped == {"duplicate": 1, "no_response": 2, "degenerate": 1, "refusal": 1}
    with pytest.raises(PopulationError, match="no document in 1 logs: 1 refusal"):
        Collected(logs[1:], tmp_path / "again.jsonl", None)


def test_a_log_without_the_task_s_prompts_is_named_with_its_first_prompt(tmp_path: Path) -> None:
    logs = [*story_logs(tmp_path), write_log(tmp_path / "c.eval", "c", {"Add 2 and 2.": ["4"]})]
    with pytest.raises(PopulationError, match=r"c\.eval has none of the prompts of .*a\.eval, its first is 'Add 2 and"):
        Collected(logs, tmp_path / "documents.jsonl", None)
    with pytest.raises(PopulationError, match=r"a\.eval has none of the questions' prompts"):
        Collected(logs[:1], tmp_path / "documents.jsonl", {FOX})


def test_generations_that_failed_and_a_run_that_did_not_finish_are_said(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", "a", {OWL: ["An owl flew home.", "x"], FOX: ["A fox ran home."]})
    whole = read_eval_log(log)
    for sample in (whole.samples or [])[1:2]:
        sample.error = EvalError(message="503\nService Unavailable", traceback="", traceback_ansi="")
    write_eval_log(whole)
    with pytest.warns(GenieWarning, match=r"a\.eval: 1 of 3 generations failed, mostly with '503 Service Unav") as said:
        found = Collected([log], tmp_path / "documents.jsonl", None)
    assert (len(said), found.dropped) == (1, {"generation failed": 1})
    # two prompts, two epochs: of four one is not there
    write_eval_log(whole.model_copy(update={"status": "cancelled"}))
    with pytest.warns(GenieWarning, match=r"did not finish \(cancelled\): 3 of 4 generations are there"):
        Collected([log], tmp_path / "again.jsonl", None)


def both(folder: Path, sources: list[Path]) -> Population:
    merged(sources, folder / "both", name="both", version="1", licence="MIT")
    return Population(folder / "both")


def test_the_union_has_what_stands_in_either_once(tmp_path: Path) -> None:
    one = small_population(tmp_path / "one")
    documents, questions = {OWL: (DOCUMENTS[OWL][0], "Another owl.")}, {OWL: (("style", "Which rhythm?"),)}
    two = small_population(tmp_path / "two", documents, questions)
    union = both(tmp_path, [one.folder, two.folder])
    assert [document.text for document in union.documents(OWL)] == [*DOCUMENTS[OWL], "Another owl."]
    assert union.documents(FOX) == one.documents(FOX)
    assert [question.text for question in union.questions(OWL)][-1] == "Which rhythm?"


def test_populations_of_other_features_and_two_things_under_one_id_do_not_merge(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match=r"abstracts-1@.* has other features than starter-3@"):
        both(tmp_path, [BUNDLED["starter"], BUNDLED["abstracts"]])
    assert list(tmp_path.iterdir()) == []
    folders = [tmp_path / "rain", tmp_path / "snow"]
    for folder in folders:
        document = Document(id="d", prompt=OWL, text=f"It was {folder.name}.")
        question = Question(id="q", prompt=OWL, feature="plot", text="What?")
        population_of(folder, [document], [question])
    with pytest.raises(PopulationError, match="d says something else than in another population"):
        both(tmp_path, folders)
    assert not (tmp_path / "both").exists()


def test_a_sample_has_so_many_documents_prompts_and_their_answers_alone_drawn_by_the_seed(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        sampled(BUNDLED["starter"], tmp_path / name, per_prompt=3, prompts=2, seed=seed)
    one, again, other = (Population(tmp_path / name) for name in ("one", "again", "other"))
    assert [len(one.documents(prompt)) for prompt in one.prompts] == [3, 3]
    assert len(one.answers(one.readers[0])) == sum(3 * len(one.questions(prompt)) for prompt in one.prompts)
    assert one.manifest.name == "starter-sample"
    assert one.manifest.digest == again.manifest.digest != other.manifest.digest


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers())), st.integers())
def test_every_beginning_takes_the_models_as_equally_as_can_be_and_nothing_is_lost(
    items: list[tuple[str, int]], seed: int
) -> None:
    order = stratified(items, lambda item: item[0], seed)
    assert Counter(order) == Counter(items)
    for size in range(1, len(items)):
        taken, left = (Counter(model for model, _ in part) for part in (order[:size], order[size:]))
        # nobody has two more than another who still has some left
        assert all(taken[one] - taken[other] <= 1 for one in taken for other in left)


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
        *((sentence, None) for sentence in ("It rained.", "She", "Nobody did", "", "“")),
    ],
)
def test_a_text_ends_behind_the_sentence_the_last_time_that_it_stands_there(sentence: str, rest: str | None) -> None:
    assert up_to_sentence(LOST, sentence) == rest


def test_a_line_or_a_mark_of_any_script_ends_a_sentence() -> None:
    poem = "The owl is white \nthe moon is old\nold of moon moon"
    assert up_to_sentence(poem, "The owl is white") == "The owl is white"
    assert up_to_sentence("猫が寝た。月が出た。月の月の", "月が出た。") == "猫が寝た。月が出た。"


SOUND = "The owl left the barn at dusk. She found the moon."
TAIL = " moon the of owl blue blue"  # six words
LOGS: dict[str, list[str]] = {}
OWLS = [SOUND + TAIL, "An owl kept the clock of a small town.", "Snow fell on the white owl until nobody saw her."]


@pytest.fixture(scope="module", autouse=True)
def logs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Written here, because Inspect writes none inside an event loop of trio."""
    folder = tmp_path_factory.mktemp("logs")
    LOGS["broken"] = [write_log(folder / "a.eval", "a", {OWL: OWLS, FOX: ["A red fox waited by the rails."]})]
    LOGS["twice"] = [write_log(folder / "b.eval", "b", {OWL: [SOUND, SOUND + TAIL, OWLS[1]]})]


def document(text: str, prompt: str = OWL) -> Document:
    return Document(id=document_id(prompt, text), prompt=prompt, text=text, model="a/one")


def naming(sentence: Callable[[str], str], able: Script | None = None) -> Script:
    """A grader that names the last sound sentence of a text, and does all else as it can."""
    return otherwise(
        able or saying("?"), lambda data: json.dumps({"last": sentence(data["writing"])}) if "writing" in data else None
    )


def last_whole(text: str) -> str:
    return text[: text.rindex(".") + 1].split(". ")[-1]


async def cleaned(script: Script, *texts: str) -> tuple[list[Document], dict[str, int]]:
    cleaner, dropped = Cleaner(script.model()), Counter[str]()
    left = await cleaner.cleaned([document(text) for text in texts], dropped)
    return left, {name: count for name, count in (cleaner.counts + dropped).items() if count}


async def test_what_holds_together_is_left_as_it_is_and_so_is_what_the_reply_says_nothing_of_with_a_count() -> None:
    texts = SOUND, SOUND + "\n\n***\n"
    left = await cleaned(naming(lambda text: "She found the moon."), *texts)
    assert left == ([*map(document, texts)], {ASKED: 2})
    text = SOUND + TAIL + ". More of it"
    for sentence in ("She found the sun and kept it.", "She", "...", "moon the of owl"):
        assert await cleaned(naming(lambda _: sentence), text) == ([document(text)], {ASKED: 1, ABSENT: 1})  # noqa: B023
    for reply in ("", "I like owls.", '{"last": ["She found the moon."]}', '{"last": "She fou'):
        script = saying(reply)
        assert await cleaned(script, text) == ([document(text)], {ASKED: 1, UNREADABLE: 1})
        assert len(script.requests) == 3, "asked again, twice"


@pytest.mark.parametrize("sentence", ["", "It rained."])
async def test_what_would_lose_more_than_half_of_itself_is_left_out_with_the_reason(sentence: str) -> None:
    left, counts = await cleaned(naming(lambda text: sentence), "It rained. " + TAIL)
    assert (left, counts) == ([], {ASKED: 1, BROKEN: 1})
    # half of it is enough
    (half,), _ = await cleaned(naming(lambda text: "It rained."), "It rained. And on an")
    assert (half.text, half.cut_words) == ("It rained.", 3)


async def test_a_build_cuts_before_it_rates_and_reads_and_records_how_much(tmp_path: Path) -> None:
    script = naming(last_whole, willing())
    done, population = await built(tmp_path, script, LOGS["broken"], clean_by_model=True)
    by_text = {document.text: document for document in population.documents(OWL)}
    assert (by_text[SOUND].cut_words, by_text[OWLS[1]].cut_words) == (6, None)
    assert (by_text[SOUND].id, by_text[SOUND].model) == (document_id(OWL, SOUND), "a")
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
    done, population = await built(tmp_path, script, LOGS["broken"], clean_by_model=True, per_prompt=2)
    assert sorted(document.text.split()[0] for document in population.documents(OWL)) == ["An", "Snow"]
    assert done.dropped == {BROKEN: 1}


async def test_of_two_documents_that_are_alike_without_their_broken_ends_one_joins(tmp_path: Path) -> None:
    done, population = await built(tmp_path, naming(last_whole, willing()), LOGS["twice"], clean_by_model=True)
    assert sorted(document.text for document in population.documents(OWL)) == sorted([SOUND, OWLS[1]])
    assert done.dropped == {"near-duplicate": 1}
    assert not faults(population.folder)


async def imported(folder: Path, script: Script, *rows: dict[str, str]) -> tuple[dict[str, Any], Population]:
    (folder / "t.jsonl").write_text("".join(json.dumps({"prompt": OWL, **row}) + "\n" for row in rows))
    order = Import(source=str(folder / "t.jsonl"), output=folder / "made", name="made", licence="MIT")
    return await import_cleaned(order, Cleaner(script.model())), Population(folder / "made")


async def test_an_import_cuts_its_documents_and_counts_what_then_stands_twice(tmp_path: Path) -> None:
    rows = [{"text": SOUND + TAIL, "model": "a"}, {"text": SOUND, "model": "b"}, {"text": OWLS[1]}]
    done, population = await imported(tmp_path, naming(last_whole), *rows)
    texts = {document.text for document in population.documents(OWL)}
    assert (texts, done["documents"], done["dropped"]) == ({SOUND, OWLS[1]}, 2, {"duplicate": 1})
    assert done["cleaned"] == {ASKED: 3, CUT: 1, WORDS: 6}
    assert "| Broken ends | looked for by " in (population.folder / "README.md").read_text()
    assert not faults(population.folder)


async def test_a_prompt_that_an_import_leaves_without_documents_loses_its_questions(tmp_path: Path) -> None:
    fox = {"prompt": FOX, "text": "Fox of the of.", "question": "Which colour?", "feature": "plot"}
    owl = {"text": OWLS[1], "question": "What is kept?", "feature": "plot"}
    script = naming(lambda text: "" if "Fox" in text else text)
    done, population = await imported(tmp_path, script, owl, fox)
    assert (population.prompts, done["questions"], done["dropped"]) == ([OWL], 1, {BROKEN: 1})
    assert not faults(population.folder)


async def test_answers_are_about_whole_texts_so_that_a_table_with_answers_is_refused(tmp_path: Path) -> None:
    script = naming(last_whole)
    row = {"text": SOUND, "question": "What is found?", "feature": "plot", "answer": "the moon"}
    with pytest.raises(PopulationError, match=r"t\.jsonl has answers .* without --clean-by-model"):
        await imported(tmp_path, script, row)
    assert script.requests == []
