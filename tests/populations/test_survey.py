from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.populations.survey import NearDuplicates, shingles

TEXT = " ".join(f"word{number}" for number in range(40))


def jaccard(first: Sequence[int], second: Sequence[int]) -> float:
    return len({*first} & {*second}) / len({*first, *second})


def by_comparing_all(texts: list[str], threshold: float) -> list[int | None]:
    """The slow way: every text against every one that was kept."""
    kept: dict[int, Sequence[int]] = {}
    found: list[int | None] = []
    for number, text in enumerate(texts):
        own = shingles(text, 2)
        twin = next((k for k, other in kept.items() if jaccard(own, other) >= threshold), None)
        found.append(twin)
        if twin is None:
            kept[number] = own
    return found


def test_one_word_changed_in_the_middle_of_forty_is_below_the_threshold_and_at_the_end_above() -> None:
    # 36 runs of five words; a word in the middle stands in 5 of them: 31 / 41 = 0.76; the last one in 1: 35 / 37 = 0.95
    words = TEXT.split()
    middle, end = [*words[:20], "x", *words[21:]], [*words[:-1], "x"]
    assert round(jaccard(shingles(TEXT), shingles(" ".join(middle))), 2) == 0.76
    seen = NearDuplicates(0.8)
    assert [seen.twin(" ".join(text)) for text in (words, middle, end)] == [None, None, 0]


def test_texts_shorter_than_a_run_are_alike_only_when_equal() -> None:
    seen = NearDuplicates()
    assert [seen.twin(text) for text in ("an owl", "an Owl!", "a fox", "")] == [None, 0, None, None]


@given(st.lists(st.text(alphabet="abc ", max_size=24), max_size=12), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_it_finds_exactly_what_comparing_all_pairs_finds(texts: list[str], threshold: float) -> None:
    seen = NearDuplicates(threshold, size=2)
    assert [seen.twin(text) for text in texts] == by_comparing_all(texts, threshold)
