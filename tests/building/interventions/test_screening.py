import pytest

from genie_inspect.building.interventions.screening import length_ratio, visible_fault, words_changed

OWL = "The old owl flew home over the barns at night."


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (f" {OWL} ", "no edit"),
        ("Owl home, at once.", "too short"),
        (OWL * 3, "too long"),
        ("...", "no_response"),
        ("I'm sorry, but I cannot help with that request.", "refusal"),
        ("The young owl flew home over the barns at night.", ""),
    ],
)
def test_what_is_no_edit_or_no_text_of_about_the_length_is_seen_without_a_model(changed: str, reason: str) -> None:
    assert visible_fault(OWL, changed) == reason


def test_half_and_twice_the_words_are_the_same_text_and_one_word_more_is_not() -> None:
    assert visible_fault("a b c d", "a x") == ""
    assert visible_fault("a b c d", "a b c d e f g x") == ""
    assert visible_fault("a b c d", "a b c d e f g x y") == "too long"
    assert visible_fault("a b c d e", "a x") == "too short"


def test_a_paraphrase_that_stands_there_already_is_none() -> None:
    assert visible_fault(OWL, "Home flew the owl that was old.", ["Home flew the  owl that was old."]) == "stands twice"


def test_words_changed_and_length_are_shares_of_words() -> None:
    assert words_changed(OWL, OWL) == 0
    assert words_changed("a b c d", "a b x d") == 0.25
    assert words_changed("a b", "x y z w") == 1
    assert length_ratio("a b c d", "a b c d e") == 1.25
