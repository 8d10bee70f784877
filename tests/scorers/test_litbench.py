"""Win rate against the population, through real evaluations on scripted judges."""

from pathlib import Path

import pytest
from tests.scripted import OWL, Script, evaluated, metadata, saying, scored, scores, small_population, values

from genie_inspect.graders.quality import CHAT
from genie_inspect.populations.population import Population
from genie_inspect.prompting.templates import unfenced
from genie_inspect.scorers.litbench import cost, litbench

STORY = "A brown owl counted the trains."


def longer(request: str) -> str:
    """A judge that prefers the longer story and calls equal lengths a tie."""
    data = unfenced(request)
    first, second = len(data["story_a"]), len(data["story_b"])
    return "Longer is better.\n" + ("[[tie]]" if first == second else "[[A]]" if first > second else "[[B]]")


def test_a_story_meets_every_document_in_both_orders(population: Population, tmp_path: Path) -> None:
    judge = Script(longer)
    log = evaluated(litbench(str(population.folder)), saying(STORY), judge, tmp_path)
    assert tuple(values(scores(log, "litbench")[0]).values()) == (1.0, 0.0)
    met = sorted((data["story_a"], data["story_b"]) for data in judge.data)
    texts = [document.text for document in population.documents(OWL)]
    assert met == sorted([(STORY, text) for text in texts] + [(text, STORY) for text in texts])
    assert "|opponents:all|" in metadata(scores(log, "litbench")[0])["signature"]
    (sample,) = log.samples or []
    assert sum(event.event == "model" for event in sample.events) == 1, "the story is long enough alone"


def test_the_preference_role_goes_before_the_grader(population: Population, tmp_path: Path) -> None:
    preference, grader = Script(longer), Script(longer)
    roles = {"preference": preference.model(), "grader": grader.model()}
    evaluated(litbench(str(population.folder)), saying(STORY), None, tmp_path, model_roles=roles)
    assert (len(preference.requests), len(grader.requests)) == (6, 0)


def test_fewer_opponents_are_drawn_by_the_text(population: Population, tmp_path: Path) -> None:
    def met(story: str, opponents: int, expected: int) -> list[str]:
        judge = Script(longer)
        log = evaluated(litbench(str(population.folder), opponents=opponents), saying(story), judge, tmp_path)
        assert f"|opponents:{opponents}|" in metadata(scores(log, "litbench")[0])["signature"]
        assert len(judge.requests) == 2 * expected, "each in both orders"
        return sorted(data["story_b"] for data in judge.data if data["story_a"] == story)

    assert met(STORY, 2, 2) == met(STORY, 2, 2)
    assert len({tuple(met(f"{STORY} {number}", 1, 1)) for number in range(6)}) > 1, "another text meets others"
    assert met(STORY, 9, 3) == sorted(document.text for document in population.documents(OWL))


FORMS = {"generative": "Preferred: {}", "generative_cot": "Reasoning: It is longer.\nPreferred: {}"}


def shown(request: str) -> tuple[str, str]:
    first, second = request.split("\n\nStory A:\n")[1].split("\n\nStory B:\n")
    return first, second.partition("\n\n")[0]


@pytest.mark.parametrize("protocol", FORMS)
def test_weights_are_asked_in_their_own_form_in_both_orders(
    protocol: str, population: Population, tmp_path: Path
) -> None:
    def longest(request: str) -> str:
        first, second = shown(request)
        return FORMS[protocol].format("A" if len(first) > len(second) else "B")

    judge = Script(longest)
    score = scored(litbench(str(population.folder), protocol=protocol), saying(STORY), judge, tmp_path)
    assert tuple(values(score).values()) == (1.0, 0.0)
    texts = [document.text for document in population.documents(OWL)]
    both = [(STORY, text) for text in texts] + [(text, STORY) for text in texts]
    assert sorted(map(shown, judge.requests)) == sorted(both)
    assert f",protocol={protocol},template=" in metadata(score)["signature"]


@pytest.mark.parametrize(("protocol", "reply"), [("generative", "[[A]]"), ("generative_cot", "Preferred: A")])
def test_a_verdict_in_another_form_leaves_no_win_rate(
    protocol: str, reply: str, population: Population, tmp_path: Path
) -> None:
    judge = saying(reply)
    score = scored(litbench(str(population.folder), protocol=protocol), saying(STORY), judge, tmp_path)
    assert score.reason == "no pair was judged in both orders"
    assert len(judge.requests) == 6, "each once"


def test_a_story_wins_by_both_orders_and_a_pair_judged_in_one_does_not_count(tmp_path: Path) -> None:
    # by document what the judge says with the story first, and second: it beats a, loses to b in both orders, ties by
    # place with c, and is judged once beside d
    said = {"a": ("[[A]]", "[[B]]"), "b": ("[[B]]", "[[A]]"), "c": ("[[B]]", "[[B]]"), "d": ("Hm.", "[[A]]")}
    population = small_population(tmp_path / "population", documents={OWL: [f"Story {name}." for name in said]})

    def judging(request: str) -> str:
        data = unfenced(request)
        is_second = data["story_a"] != STORY
        return said[data["story_a" if is_second else "story_b"][6]][is_second]

    score = scored(litbench(str(population.folder)), saying(STORY), Script(judging), tmp_path)
    # of six verdicts two name the first place
    assert tuple(values(score).values()) == pytest.approx(((1 + 0 + 0.5) / 3, 2 * 2 / 6 - 1), abs=5e-4)
    (lost,) = [document.id for document in population.documents(OWL) if document.text == "Story b."]
    assert {"compared": 3, "unreadable": 1, "lost_to": [lost]}.items() <= (score.metadata or {}).items()
    assert (score.explanation or "").startswith(
        "Win rate 0.50 against 3 documents, each in both orders; order bias -0.33 (0 = none, 1 = always the story that "
        "comes first). 1 more were not judged in both orders: unreadable replies."
    )
    assert score.reason is None


def test_a_verdict_is_paid_for_two_stories_of_usual_length() -> None:
    request = CHAT.pricing()("Write.", 0).tokens_in
    found = cost(CHAT.pricing(), "Write.", [10, 20], 3)
    assert found.calls == 3 * 2 * 2
    assert found.tokens_in == pytest.approx(3 * 2 * (2 * request + 2 * 30))
