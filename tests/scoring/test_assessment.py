"""The results of a document by question, from ratings made by hand."""

from dataclasses import replace

from tests.scoring.test_explanation import result

from genie_inspect.scoring.assessment import Assessment


def test_among_fewer_and_fewer_documents_each_rating_stays_with_its_document() -> None:
    whole = replace(result("x", (1.0, 2.0, 4.0)), places=(0, 2, 3), unread=(1, 4))
    some = whole.among({2, 3, 4})
    assert (some.ratings, some.places, some.unread, some.others) == ((2.0, 4.0), (2, 3), (4,), whole.others[1:])
    assert (some.among({3}).ratings, some.among({3}).places) == ((4.0,), (3,))


def test_no_probability_off_the_labels_counts_in_the_mean_too() -> None:
    found = tuple(replace(result("x", (1,)), off_labels=mass) for mass in (0.0, 0.5, None))
    assert Assessment(found, 1, ()).off_labels() == 0.25
    assert Assessment(found[2:], 1, ()).off_labels() is None
