from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.signature import Signature, digest, signature

texts = st.lists(st.text(st.characters(exclude_categories=())), max_size=4)


@given(texts, texts)
def test_digests_are_equal_exactly_when_all_parts_are(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_a_digest_is_the_same_in_every_process_and_version() -> None:
    # printf '4:cafe' | sha256sum: the part's length in bytes, a colon, the part
    assert digest("cafe") == "14819e6073da"


def test_a_digest_counts_bytes_and_not_characters() -> None:
    # printf '5:café' | sha256sum
    assert digest("café") == "7b5e3f329a24"


def test_a_signature_lists_measure_facts_and_version_in_order() -> None:
    assert signature("genie", version="2-B", judge="list", reader="grader") == (
        "measure:genie|judge:list|reader:grader|version:2-B"
    )


@given(texts)
def test_whatever_stands_in_a_fact_two_signatures_are_equal_exactly_when_their_facts_are(values: list[str]) -> None:
    facts = {f"fact{number}": value for number, value in enumerate(values)}
    found = Signature(signature("genie", **facts)).facts
    assert found == {"measure": "genie", **facts, "version": "0-A"}
