"""Documents in memory: what of a text stands in them, and where."""

import re
from pathlib import Path

import pytest

from genie_inspect.engines.corpora.documents import DocumentsCorpus
from genie_inspect.engines.embedders.choices import embedder
from genie_inspect.errors import CorpusError

CLOCK = "The old owl sat on the station clock and counted every train that did not stop."
SNOW = "Nobody in the village had ever seen the white owl, which was how the white owl liked it."


def test_copied_runs_are_shown_as_the_text_has_them_with_document_and_token() -> None:
    corpus = DocumentsCorpus("two", [("clock", CLOCK), ("snow", SNOW)])
    found = corpus.copies("I know: the white owl,\nwhich was how it went. The old “owl” sat on the station clock!")
    assert [(run.words, run.tokens, run.where) for run in found.runs] == [
        ("the white owl, which was how", 7, "snow, from token 8"),
        ("sat on the station clock", 5, "clock, from token 4"),
    ]
    assert found.left_out == ()


def test_the_text_itself_is_left_out_and_its_near_copies_are_not() -> None:
    corpus = DocumentsCorpus("three", [("own", CLOCK), ("again", f"{CLOCK}\n"), ("longer", f"{CLOCK} The end.")])
    found = corpus.copies(CLOCK)
    assert found.left_out == ("own", "again")
    assert [run.where for run in found.runs] == ["longer, from token 1"]
    assert DocumentsCorpus("one", [("own", CLOCK)]).copies(CLOCK).runs == ()


def test_other_words_for_the_same_are_found_by_the_near_matcher_alone() -> None:
    text = "the boats came to the harbours in the morning"
    documents = [("one", "and the boat came to the harbour in the morning")]
    exact, near = DocumentsCorpus("x", documents), DocumentsCorpus("x", documents, near=embedder())
    assert max(exact.copies(text).lengths) < 5
    assert max(near.copies(text).lengths) >= 5
    assert near.copies(text).runs[0].where.startswith("one, from token")


def test_the_near_matcher_finds_what_the_exact_one_finds() -> None:
    documents = [("clock", CLOCK), ("snow", SNOW)]
    text = f"Listen. {CLOCK}"
    exact, near = DocumentsCorpus("x", documents), DocumentsCorpus("x", documents, near=embedder())
    assert all(a <= b for a, b in zip(exact.copies(text).lengths, near.copies(text).lengths, strict=True))


def test_a_text_without_words_has_no_copies() -> None:
    assert DocumentsCorpus("x", [("clock", CLOCK)], near=embedder()).copies(" \n").runs == ()


def test_too_many_tokens_for_memory_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.corpora.documents.MOST_TOKENS", 20)
    with pytest.raises(CorpusError, match=r"more than 20 tokens.*genie index"):
        DocumentsCorpus("big", [("clock", CLOCK), ("snow", SNOW)])


def test_a_corpus_of_other_texts_has_another_name_and_the_order_and_names_of_its_texts_do_not_count() -> None:
    name = DocumentsCorpus("folder(books)", [("clock", CLOCK), ("snow", SNOW)]).name
    assert re.fullmatch(r"folder\(books\)@[0-9a-f]{12}", name)
    assert DocumentsCorpus("folder(books)", [("x", SNOW), ("y", f" {CLOCK}\n"), ("z", CLOCK)]).name == name
    assert DocumentsCorpus("folder(books)", [("clock", CLOCK), ("snow", f"{SNOW}.")]).name != name
    assert DocumentsCorpus("folder(books)", [("clock", CLOCK)]).name != name


def test_a_corpus_is_read_once(tmp_path: Path) -> None:
    documents = iter([("clock", CLOCK)])
    assert DocumentsCorpus("x", documents).copies(f"{CLOCK} So.").runs[0].tokens == 17
