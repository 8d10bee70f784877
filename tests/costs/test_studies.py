import pytest

from genie_inspect.costs.estimate import Known, task_cost
from genie_inspect.costs.studies import Study, study_cost, study_in
from genie_inspect.errors import GenieError
from genie_inspect.judges.instrument import Instrument
from genie_inspect.populations.catalogue import open_population

STARTER = open_population("starter")
INSTRUMENT = Instrument("list")


def test_a_study_says_its_parts_by_name() -> None:
    assert study_in("documents=4500") == Study(4500)
    assert study_in("questions=17, documents=4500,population=50,prompts=9") == Study(4500, 9, 50, 17)


NO_STUDY = ["", "4500", "documents", "documents=0", "documents=-1", "documents=many", "documents=1,documents=2"]
NO_STUDY += ["documents=5,stories=3", "prompts=5", "documents=99999999999", "documents=5,"]


@pytest.mark.parametrize("text", NO_STUDY)
def test_a_study_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(GenieError, match=r"--study is '.*', expected .*documents=4500"):
        study_in(text)


def test_against_the_population_that_is_there_a_study_costs_what_a_run_does() -> None:
    run = task_cost(STARTER, dict.fromkeys(STARTER.prompts, 3), INSTRUMENT)
    assert study_cost(Study(3 * len(STARTER.prompts)), STARTER, INSTRUMENT, Known()) == run


def test_documents_that_do_not_go_evenly_into_the_prompts_are_all_counted() -> None:
    assert study_cost(Study(13), STARTER, INSTRUMENT, Known()).reading.calls == 13
    assert study_cost(Study(13, prompts=5), STARTER, INSTRUMENT, Known()).reading.calls == 13


def test_the_study_behind_genie_has_3_8_million_pairs() -> None:
    cost = study_cost(Study(4500, 50, 50, 17), STARTER, INSTRUMENT, Known())
    assert cost.documents == 4500
    assert cost.pairs == cost.judged == pytest.approx(4500 * 50 * 17)
    assert cost.population.calls == 50 * 50
    assert cost.rating.calls == pytest.approx(4500 * 17), "50 answers are one call of the list judge"


def test_what_a_study_does_not_say_is_as_in_the_population() -> None:
    cost = study_cost(Study(80, questions=5), STARTER, INSTRUMENT, Known())
    documents = STARTER.manifest.counts.documents / len(STARTER.prompts)
    assert cost.population.calls == STARTER.manifest.counts.documents
    assert cost.pairs == pytest.approx(80 * 5 * documents)


def test_twice_the_documents_cost_twice_the_tokens_of_judging() -> None:
    once, twice = (study_cost(Study(count, 10, 50, 17), STARTER, INSTRUMENT, Known()) for count in (1000, 2000))
    assert twice.rating.tokens_in == pytest.approx(2 * once.rating.tokens_in)
    assert twice.population == once.population


def test_a_population_larger_than_the_one_at_hand_repeats_it() -> None:
    documents = study_cost(Study(1, prompts=1, population=200, questions=2), STARTER, INSTRUMENT, Known())
    questions = study_cost(Study(1, prompts=1, population=2, questions=250), STARTER, INSTRUMENT, Known())
    assert STARTER.manifest.counts.documents < documents.population.calls == 200
    assert questions.pairs == pytest.approx(2 * 250)
