"""The Creativity Index of a text whose copied runs are known, and what a reader sees of them."""

from genie_inspect.engines.corpora import CopiedRun, Copies
from genie_inspect.scorers.creativity_index import KEYS, measurement


def runs(*lengths: int) -> tuple[CopiedRun, ...]:
    return tuple(CopiedRun(f"run of {length} " * 20, length, f"d-{length}, from token 4") for length in lengths)


def test_a_text_without_copied_runs_is_its_own_at_every_length() -> None:
    found = measurement(Copies([0, 4, 3, 2, 1], ()))
    assert list(found.value) == list(KEYS)
    assert found.value == {key: 8.0 if key.endswith("sum") else 1.0 for key in KEYS}
    # the shortest run that counts has five tokens
    assert found.explanation == "No run of 5 or more of its 5 tokens stands in the corpus."
    assert found.metadata == {"tokens": 5, "runs": 0, "longest": [], "left_out_of_corpus": []}


def test_the_longest_runs_are_shown_three_in_the_log_and_ten_to_a_reader() -> None:
    found = measurement(Copies([5] * 40, runs(*range(5, 17)), left_out=("d-0",)))
    assert found.metadata["tokens"] == 40
    assert found.metadata["runs"] == 12
    assert found.metadata["left_out_of_corpus"] == ["d-0"]
    longest = [(run["tokens"], run["where"]) for run in found.metadata["longest"]]
    assert longest == [(length, f"d-{length}, from token 4") for length in (16, 15, 14)]
    assert {len(run["words"]) for run in found.metadata["longest"]} == {160}
    lines = found.explanation.splitlines()
    assert lines[0] == "| copied words | tokens | where |"
    assert [line.split(" | ")[1] for line in lines[2:12]] == [str(length) for length in range(16, 6, -1)]
    assert lines[13] == "12 runs of 5 or more tokens stand in the corpus."
