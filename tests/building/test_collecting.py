from pathlib import Path

import pytest
from inspect_ai.log import EvalError, read_eval_log, write_eval_log
from tests.building.scripts import FOX, OWL, STORIES, population_of, story_logs, write_log
from tests.scripted import DOCUMENTS, small_population

from genie_inspect.building.collecting import Collected, merged, sampled
from genie_inspect.errors import GenieWarning, PopulationError
from genie_inspect.populations.population import BUNDLED, Population
from genie_inspect.populations.schema import AnswerRow, Document, Question


def test_documents_come_out_of_logs_of_several_models_in_the_order_of_the_logs(tmp_path: Path) -> None:
    found = Collected(story_logs(tmp_path), tmp_path / "documents.jsonl", None)
    assert [(d.model, d.text) for d in found.documents(OWL)] == [
        *(("a/one", text) for text in STORIES["a/one"][OWL]),
        ("b/two", STORIES["b/two"][OWL][0]),
    ]
    assert found.models == {"a/one", "b/two"}
    assert (found.generations, sum(found.dropped.values())) == (4, 0)


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
    with pytest.raises(
        PopulationError, match=r"c\.eval has none of the prompts of .*a\.eval, its first is 'Add 2 and 2.'"
    ):
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
    two = small_population(
        tmp_path / "two",
        {OWL: (DOCUMENTS[OWL][0], "Another owl.")},
        {OWL: (("style", "Which rhythm?"),)},
    )
    union = both(tmp_path, [one.folder, two.folder])
    assert [document.text for document in union.documents(OWL)] == [*DOCUMENTS[OWL], "Another owl."]
    assert union.documents(FOX) == one.documents(FOX)
    assert [question.text for question in union.questions(OWL)][-1] == "Which rhythm?"


def test_merging_a_population_with_itself_changes_nothing(tmp_path: Path) -> None:
    union, starter = both(tmp_path, [BUNDLED["starter"], BUNDLED["starter"]]), Population(BUNDLED["starter"])
    assert union.manifest.counts == starter.manifest.counts
    assert union.manifest.digest == starter.manifest.digest, "the same documents and questions are the same reference"
    assert union.answers(union.readers[0]) == starter.answers(starter.readers[0])


def test_populations_of_other_features_do_not_merge(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match=r"abstracts-1@.* has other features than starter-3@"):
        both(tmp_path, [BUNDLED["starter"], BUNDLED["abstracts"]])
    assert list(tmp_path.iterdir()) == []


def test_two_things_under_one_id_do_not_merge(tmp_path: Path) -> None:
    folders = [tmp_path / "rain", tmp_path / "snow"]
    for folder in folders:
        document = Document(id="d", prompt=OWL, text=f"It was {folder.name}.")
        question = Question(id="q", prompt=OWL, feature="plot", text="What?")
        population_of(
            folder, [document], [question], [AnswerRow(document="d", question="q", reader="r", text="weather")]
        )
    with pytest.raises(PopulationError, match="d says something else than in another population"):
        both(tmp_path, folders)
    assert not (tmp_path / "both").exists()


def test_a_sample_has_so_many_documents_prompts_and_their_answers_alone(tmp_path: Path) -> None:
    sampled(BUNDLED["starter"], tmp_path / "small", per_prompt=3, prompts=2, seed=1)
    small = Population(tmp_path / "small")
    assert [len(small.documents(prompt)) for prompt in small.prompts] == [3, 3]
    assert len(small.answers(small.readers[0])) == sum(3 * len(small.questions(prompt)) for prompt in small.prompts)
    assert small.manifest.name == "starter-sample"


def test_a_sample_is_the_same_for_a_seed_and_another_for_another(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        sampled(BUNDLED["starter"], tmp_path / name, per_prompt=3, seed=seed)
    digests = [Population(tmp_path / name).manifest.digest for name in ("one", "again", "other")]
    assert digests[0] == digests[1] != digests[2]
