"""A document's class among those of a population, where the classes are known."""

from genie_inspect.measures.partition import Classes
from genie_inspect.scorers.partition import SHOWN, measurement


def classes(*labels: int | None) -> Classes[str]:
    """Documents of these classes; None could not be put in one."""
    made: Classes[str] = Classes()
    for place, label in enumerate(labels):
        if label is None:
            made.labels.append(None)
        else:
            made.labels.append(label)
            if label == len(made.founders):
                made.founders.append(f"text {place}")
    return made


def ids(count: int) -> list[str]:
    return [f"d-{place}" for place in range(count)]


def test_a_document_shares_its_class_with_its_members_of_those_that_have_one() -> None:
    found = measurement(0, classes(0, 1, 0, None), ids(4))
    assert found.value == {"partition_novel": 0.0, "partition_share": 1 - 2 / 3}
    assert found.metadata == {"classes": 2, "undecided": 1, "class": 0, "members": ["d-0", "d-2"]}
    assert found.explanation == (
        "Classes among 3 documents of the population: 2; this one is in one class with 2 of them, such as d-0. "
        "1 more could not be put in a class and do not count."
    )


def test_a_document_of_a_class_of_its_own_is_new() -> None:
    found = measurement(2, classes(0, 1), ids(2))
    assert found.value == {"partition_novel": 1.0, "partition_share": 1.0}
    assert found.explanation.endswith("this one is a class of its own.")


def test_of_a_large_class_twenty_members_are_kept() -> None:
    assert SHOWN == 20
    assert measurement(0, classes(*[0] * 25), ids(25)).metadata["members"] == ids(20)


def test_what_cannot_be_told_is_not_measured_and_says_why() -> None:
    unread = measurement(None, classes(0), ids(1))
    assert unread.value == {}
    assert unread.reason == "the judge's replies could not be read"
    alone = measurement(0, classes(None, None), ids(2))
    assert alone.reason == "no document of the population has a class"
    assert alone.metadata["undecided"] == 2
