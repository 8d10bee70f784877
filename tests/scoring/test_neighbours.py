from genie_inspect.judges.protocols import Answer
from genie_inspect.populations.schema import Question
from genie_inspect.scoring.assessment import QuestionResult
from genie_inspect.scoring.neighbours import Neighbour, neighbours


def result(**ratings: tuple[float | None, ...]) -> QuestionResult:
    """A question whose population gave each answer once a rating."""
    pairs = [(Answer(text), rating) for text, given in ratings.items() for rating in given]
    question = Question(id="q-1", prompt="p", feature="plot", text="What happens?")
    return QuestionResult(question, Answer("x"), tuple(a for a, _ in pairs), tuple(r for _, r in pairs), ())


def test_the_answer_rated_most_alike_is_first_and_of_equals_the_one_that_more_documents_gave() -> None:
    found = neighbours(result(rain=(1,), snow=(2,), hail=(2, 2), fog=(3,)), most=3)
    assert found == (Neighbour("fog", 3, 1), Neighbour("hail", 2, 2), Neighbour("snow", 2, 1))


def test_answers_that_differ_in_case_and_end_punctuation_are_one_answer_in_the_first_spelling() -> None:
    assert neighbours(result(Rain=(2,), **{"rain.": (2,)})) == (Neighbour("Rain", 2, 2),)


def test_an_answer_that_several_documents_gave_is_as_near_as_its_highest_rating() -> None:
    first, last = result(rain=(1, 3), snow=(2,)), result(rain=(3, 1), snow=(2,))
    assert neighbours(first) == neighbours(last) == (Neighbour("rain", 3, 2), Neighbour("snow", 2, 1))


def test_answers_without_a_usable_rating_are_nobodys_neighbours() -> None:
    assert neighbours(result(rain=(None,), snow=(0,))) == ()


def test_of_answers_as_near_and_as_common_the_first_is_first_and_three_are_shown() -> None:
    found = neighbours(result(snow=(2,), hail=(2,), rain=(2,), fog=(2,)))
    assert [other.text for other in found] == ["snow", "hail", "rain"]
