import pytest

from genie_inspect.building.questions.rules import breach
from genie_inspect.populations.catalogue import open_population


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("Does the owl return?", "polar"),
        ("In the last scene, is it raining?", "polar"),
        ("What does the owl want, and why does it leave?", "two things"),
        ("Where is it? When?", "two things"),
        ("Which animal, such as an owl, appears?", "examples"),
        ("What would the owl do next?", "hypothetical"),
        ("What happens if the owl returns?", "hypothetical"),
        ("How does the above change the owl?", "dependent"),
    ],
)
def test_a_visible_breach_is_named(question: str, rule: str) -> None:
    assert breach(question) == rule


@pytest.mark.parametrize("population", ["starter", "abstracts"])
def test_questions_that_people_can_use_break_no_rule(population: str) -> None:
    opened = open_population(population)
    asked = [question.text for prompt in opened.prompts for question in opened.questions(prompt)]
    assert {text: breach(text) for text in asked if breach(text)} == {}
