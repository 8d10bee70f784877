import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.scripted import OWL, output, saying, small_population
from tests.solvers.runs import run

from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.prompting.forms import Response
from genie_inspect.scorers.genie import genie
from genie_inspect.solvers.prompting_methods import picked, verbalized_sampling


def responses(*pairs: tuple[str, float]) -> str:
    return json.dumps({"responses": [{"text": text, "probability": probability} for text, probability in pairs]})


OWLS = ["An owl sleeps.", "An owl sails.", "An owl sings."]
THREE = responses(*zip(OWLS, (0.6, 0.01, 0.2), strict=True))


@pytest.mark.parametrize(("pick", "kept"), [("random", ["An owl sails."]), ("least", ["An owl sails."]), ("all", OWLS)])
def test_what_is_picked_becomes_the_document_and_all_responses_stay_in_the_store(
    pick: str, kept: list[str], tmp_path: Path
) -> None:
    script = saying(THREE)
    sample = run(verbalized_sampling(k=3, pick=pick), script, tmp_path)[0]
    texts = [choice.message.text for choice in sample.output.choices]
    assert texts == kept or (pick == "random" and len(texts) == 1 and texts[0] in OWLS)
    assert sample.store["responses"] == [
        {"text": text, "probability": chance} for text, chance in zip(OWLS, (0.6, 0.01, 0.2), strict=True)
    ]
    assert script.data == [{"request": OWL, "answers": 3}]


def test_least_passes_over_a_response_without_a_probability_and_is_not_guessed_without_any(tmp_path: Path) -> None:
    assert picked([Response("unknown", math.nan), Response("likely", 0.9)], "least", "x") == ["likely"]
    script = saying('{"responses": [{"text": "An owl."}, {"text": "A fox."}]}')
    sample = run(verbalized_sampling(pick="least"), script, tmp_path)[0]
    none = "verbalized_sampling: 2 of 5 responses could be read, none of them with a probability"
    assert sample.output.error == none
    assert (sample.metadata["responses_asked"], sample.metadata["responses_parsed"]) == (5, 2)


def test_the_random_choice_is_drawn_from_sample_and_epoch_so_that_reruns_agree(tmp_path: Path) -> None:
    twice = [
        [sample.output.completion for sample in run(verbalized_sampling(), saying(THREE), tmp_path, epochs=8)]
        for _ in range(2)
    ]
    assert twice[0] == twice[1]
    assert len(set(twice[0])) > 1


def test_the_random_choice_gives_every_response_the_same_chance() -> None:
    three = [Response(str(number), 0.1) for number in range(3)]
    counts = [sum(picked(three, "random", f"owl {draw}") == [str(n)] for draw in range(3000)) for n in range(3)]
    # 3,000 draws at 1/3: 1,000 +- 26 (one standard deviation)
    assert all(abs(count - 1000) < 4 * 26 for count in counts)


@pytest.mark.parametrize(
    ("options", "words", "asked"),
    [
        ({}, 180, "about 180 words long"),  # the population's median
        ({"words": 50}, 180, "about 50 words long"),
        ({}, None, "as long as the request calls for"),
        ({"threshold": 0.05}, None, "each have a probability below 0.05"),
    ],
)
def test_the_length_and_the_tails_are_asked_for(
    options: dict[str, Any], words: int | None, asked: str, tmp_path: Path
) -> None:
    script = saying(THREE)
    run(verbalized_sampling(**options), script, tmp_path, words=words)
    assert asked in script.requests[0]


def test_a_text_that_stands_twice_is_counted_as_one_text_of_two_responses(tmp_path: Path) -> None:
    """As a model of 1.5 billion parameters gave it in 10 of 40 replies."""
    reply = responses(("They became friends.", 0.6), ("They never got along.", 0.3), ("They never got along.", 0.1))
    sample = run(verbalized_sampling(k=3), saying(reply), tmp_path)[0]
    assert (sample.metadata["responses_parsed"], sample.metadata["responses_distinct"]) == (3, 2)


@pytest.mark.parametrize(
    ("k", "said", "parsed"),
    [
        (5, ["Sure! Here are five stories.", THREE], 3),
        (5, [responses(("An owl.", 0.1)), THREE], 3),  # one response of several is no choice
        (5, [responses(("An owl sleeps.", 0.6), ("An owl sails.", 0.01))], 2),  # two are enough
        (1, [responses(("An owl.", 0.1))], 1),  # and one where one was asked for
    ],
)
def test_a_reply_that_cannot_be_read_or_chosen_from_is_asked_for_once_more(
    k: int, said: list[str], parsed: int, tmp_path: Path
) -> None:
    script = saying(*said)
    sample = run(verbalized_sampling(k=k), script, tmp_path)[0]
    assert sample.output.completion.startswith("An owl")
    assert sample.output.error is None
    assert (sample.metadata["responses_asked"], sample.metadata["responses_parsed"]) == (k, parsed)
    assert len(sample.store["responses"]) == parsed
    assert len(script.requests) == len(said)


@pytest.mark.parametrize(
    ("k", "count", "said"),
    [
        (2, 1, responses(("An owl.", 0.1))),
        (5, 1, responses(("An owl.", 0.1))),
        *((5, 0, said) for said in ("", "Once upon a time an owl sailed away.", '{"responses": []}', "qwe{}{{{[")),
    ],
)
def test_fewer_than_two_twice_leave_the_sample_unscored_and_not_novel_with_how_many_there_were(
    k: int, count: int, said: str, tmp_path: Path
) -> None:
    small_population(tmp_path / "population")
    script, scorer = saying(said), genie(population=str(tmp_path / "population"), judge="offline")
    sample = run(verbalized_sampling(k=k), script, tmp_path, scorer=scorer)[0]
    score = (sample.scores or {})["genie"]
    assert score.reason == f"verbalized_sampling: {count} of {k} responses could be read"
    assert isinstance(score.value, dict)
    assert all(math.isnan(float(str(value))) for value in score.value.values())
    assert (sample.metadata["responses_asked"], sample.metadata["responses_parsed"]) == (k, count)
    assert "responses" not in sample.store
    assert (sample.output.completion, len(script.requests)) == ("", 2)


def test_of_more_than_were_asked_for_the_first_count(tmp_path: Path) -> None:
    seven = responses(*((f"Owl {number}.", 0.1 - number / 100) for number in range(7)))
    sample = run(verbalized_sampling(k=5, pick="all"), saying(seven), tmp_path)[0]
    assert [choice.message.text for choice in sample.output.choices] == [f"Owl {number}." for number in range(5)]
    assert len(sample.store["responses"]) == len(sample.store["generations"]) == 5
    assert (sample.metadata["responses_asked"], sample.metadata["responses_parsed"]) == (5, 7)
    least = run(verbalized_sampling(k=5, pick="least"), saying(seven), tmp_path)[0]
    assert least.output.completion == "Owl 4."


def test_a_reply_that_repeats_its_request_counts_no_response(tmp_path: Path) -> None:
    script = saying("")
    script.reply = lambda request: output(f"Sure! {request} {THREE}")
    sample = run(verbalized_sampling(k=3), script, tmp_path)[0]
    assert sample.output.error == "verbalized_sampling: 0 of 3 responses could be read"
    assert (sample.metadata["responses_parsed"], sample.metadata["responses_distinct"]) == (0, 0)


def test_a_refusal_stays_a_refusal_and_is_not_asked_again(tmp_path: Path) -> None:
    script = saying(THREE)
    script.reply = lambda request: output("I cannot.", "content_filter")
    sample = run(verbalized_sampling(), script, tmp_path)[0]
    assert sample.output.stop_reason == "content_filter"
    assert (sample.metadata["responses_asked"], sample.metadata["responses_parsed"]) == (5, 0)
    assert len(script.requests) == 1


def test_a_template_of_ones_own_is_used_and_one_with_other_blanks_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "verbalized_sampling.md").write_text("MINE $count $distribution $length $data")
    script = saying(THREE)
    run(verbalized_sampling(templates=str(tmp_path)), script, tmp_path / "logs")
    assert script.requests[0].startswith("MINE 5")
    (tmp_path / "verbalized_sampling.md").write_text("$count $data")
    with pytest.raises(PrerequisiteError, match="has the blanks"):
        verbalized_sampling(templates=str(tmp_path))
