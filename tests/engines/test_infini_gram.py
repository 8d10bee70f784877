"""Indexes by the package infini-gram, built and asked for real; the checks of an index run without it."""

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.measures.test_ngrams import novelties

from genie_inspect.engines import infini_gram as files
from genie_inspect.engines.corpora import DocumentsCorpus, folder_texts
from genie_inspect.engines.infini_gram import (
    HIGH,
    LOW,
    MOST_WORDS,
    SEPARATOR,
    SINGLE,
    UNUSED,
    IndexManifest,
    InfiniGramCorpus,
    Vocabulary,
    build_index,
    checked_manifest,
)
from genie_inspect.errors import CorpusError, EngineFailedError, MissingExtraError
from genie_inspect.measures.infinity_gram import probability
from genie_inspect.measures.ngrams import TokenIndex, creativity_index
from genie_inspect.measures.tokens import split_expressions, tokens
from genie_inspect.populations.population import open_population

needs_infini_gram = pytest.mark.skipif(find_spec("infini_gram") is None, reason="infini-gram is not installed")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two megabytes: the starter population's stories, and made-up ones with more words than 16 bits can number."""
    folder = tmp_path_factory.mktemp("texts")
    population = open_population("starter")
    stories = [document.text for prompt in population.prompts for document in population.documents(prompt)]
    choice = random.Random(0)
    words = sorted({word for story in stories for word in story.split()})
    rare = iter(range(10**6))
    for _number in range(900):
        made = [choice.choice(words) if choice.random() < 0.8 else f"rare{next(rare)}" for _ in range(400)]
        stories.append(" ".join(made))
    lines = (json.dumps({"text": story}, ensure_ascii=False) + "\n" for story in stories)
    (folder / "stories.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "again.txt").write_text(f"{stories[2]} And so it went on.", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "index"
    build_index(texts, folder)
    return folder


@pytest.fixture(scope="module")
def corpus(index: Path) -> InfiniGramCorpus:
    return InfiniGramCorpus(index)


@pytest.fixture(scope="module")
def documents(texts: Path) -> list[list[str]]:
    return [tokens(text) for _, text in folder_texts(texts)]


@needs_infini_gram
def test_counts_are_those_of_plain_counting_to_the_last_words_and_no_estimates(
    documents: list[list[str]], corpus: InfiniGramCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(corpus.vocabulary.words) > SINGLE
    joined = "".join("\n".join(["", *document, "", "\0"]) for document in documents)
    choice = random.Random(1)
    for number in range(200):
        document = choice.choice(documents)
        start = choice.randrange(len(document))
        run = document[start : start + choice.randint(1, 7)][:: -1 if number % 4 == 0 else 1]
        sought = "\n".join(["", *run, ""])
        # overlapping places share the line break, so they are counted one by one
        assert corpus.count(run) == len(places(joined, sought))
    assert corpus.count(["never", "seen", "before"]) == 0
    assert all(corpus.count(documents[-1][-length:]) >= 1 for length in range(1, 9))
    assert corpus.count([*documents[-1][-3:], "The"]) == 0
    monkeypatch.setattr(corpus._engine, "count", lambda input_ids: {"count": 0, "approx": True})
    with pytest.raises(EngineFailedError, match="look-up failed"):
        corpus.count(["never"])


def places(text: str, sought: str) -> list[int]:
    found, place = list[int](), -1
    while (place := text.find(sought, place + 1)) >= 0:
        found.append(place)
    return found


@needs_infini_gram
def test_copies_and_novelties_are_those_of_the_corpus_in_memory(texts: Path, corpus: InfiniGramCorpus) -> None:
    plain, stories = DocumentsCorpus("plain", folder_texts(texts)), [text for _, text in folder_texts(texts)]
    mixed = f"{stories[1][:200]} in words of its own {stories[8][50:260]}"
    for text in [*stories[1:40:13], mixed, "All of this is new."]:
        copies, expected = corpus.copies(text), plain.copies(text)
        assert creativity_index((), (), matched=copies.lengths) == creativity_index((), (), matched=expected.lengths)
        assert copies.left_out == expected.left_out
        assert [(run.words, run.tokens) for run in copies.runs] == [(run.words, run.tokens) for run in expected.runs]
    for text in [*stories[1:40:13], stories[200], "All of this is a rare1 thing."]:
        counted, counts = corpus.counted(text), plain.counted(text).counts
        runs = [counted.words(expression.text) for expression in split_expressions(text)]
        assert counted.counts.tokens == counts.tokens
        assert novelties(runs, counted.counts) == novelties(runs, counts)
    own = corpus.copies(stories[3])
    assert own.left_out == corpus.counted(stories[3]).left_out == ("stories.jsonl:3",)
    assert [run.where for run in own.runs] == ["again.txt"], "a run stands in a document that is not the text itself"


@needs_infini_gram
def test_probabilities_are_infini_grams_own(documents: list[list[str]], corpus: InfiniGramCorpus) -> None:
    plain = TokenIndex(documents)
    common = [word for word in corpus.vocabulary.words[:2_000] if word.isalpha()]
    choice = random.Random(2)
    differing = compared = zeros = 0
    while compared < 300:
        document = choice.choice(documents)
        start, size = choice.randrange(len(document) - 9), choice.randint(1, 7)
        context = document[start : start + size]
        word = document[start + size] if compared % 3 else choice.choice(common)
        ids, following = corpus.vocabulary.symbols(context), corpus.vocabulary.symbols([word])
        # a rare word is two symbols of theirs, each with a probability of its own
        if ids is None or following is None or len(ids) != size or len(following) != 1:
            continue
        theirs = corpus._engine.infgram_prob(prompt_ids=ids, cont_id=following[0])
        assert theirs["suffix_len"] > 0
        differing += abs(probability(context, word, plain) - theirs["prob"]) > 1e-12
        zeros += theirs["prob"] == 0
        compared += 1
    assert differing == 0
    assert 0 < zeros < compared


@needs_infini_gram
def test_indexes_of_the_same_words_in_other_texts_have_other_names(tmp_path: Path) -> None:
    names = []
    told, other = "the owl sat on the fox . " * 100, "the fox sat on the owl . " * 100
    for place, text in enumerate([told, other, told]):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "one.txt").write_text(text)
        build_index(folder, folder / "index")
        names.append(InfiniGramCorpus(folder / "index").name)
    assert re.fullmatch(r"infini-gram\(index@[0-9a-f]{12},documents=1\)", names[0])
    assert names[0] == names[2] != names[1]


@needs_infini_gram
def test_nothing_is_overwritten_and_nothing_half_built_or_miscounting_is_left(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, file = tmp_path / "texts", tmp_path / "texts" / "a.jsonl"
    folder.mkdir()
    file.write_text(json.dumps({"text": "the owl sat on the fox . " * 100}))
    with pytest.raises(CorpusError, match="is not empty, expected a new one"):
        build_index(folder, index)
    with pytest.raises(CorpusError, match="characters that infini-gram's indexer cannot take"):
        build_index(folder, tmp_path / "index; touch owned")
    refusing = SimpleNamespace(count=lambda input_ids: {"error": "no such shard"})
    monkeypatch.setattr(files, "open_engine", lambda folder: refusing)
    with pytest.raises(CorpusError, match="no such shard"):
        build_index(folder, tmp_path / "index")
    file.write_text("{}")
    with pytest.raises(CorpusError, match="line 1 has no text"):
        build_index(folder, tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["texts"]


@needs_infini_gram
def test_another_vocabulary_is_refused(index: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(index, tmp_path / "index"))
    words = (copy / files.FILE).read_text(encoding="utf-8").split("\n")
    words[0], words[1] = words[1], words[0]
    (copy / files.FILE).write_text("\n".join(words), encoding="utf-8")
    with pytest.raises(CorpusError, match="not the vocabulary that the index was built with"):
        InfiniGramCorpus(copy)


def test_without_the_package_an_index_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.infini_gram.find_spec", lambda name: None)
    for refused in (lambda: InfiniGramCorpus(tmp_path), lambda: build_index(tmp_path, tmp_path / "index")):
        with pytest.raises(MissingExtraError, match="needs the extra infini-gram: pip install"):
            refused()


def whole(folder: Path) -> IndexManifest:
    """The files of an index of three symbols, as far as their sizes go."""
    sizes = {files.TOKENS: 6, files.OFFSETS: 16, files.TABLE: 9, files.FILE: 4, files.DOCUMENTS: 30}
    for name, size in sizes.items():
        (folder / name).write_bytes(b"x" * size)
    manifest = IndexManifest(files.FORMAT, files.DTYPE, 3, 1, "0" * 12, sizes)
    (folder / files.MANIFEST).write_text(json.dumps(asdict(manifest)))
    return manifest


def edited(**fields: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        manifest = json.loads((folder / files.MANIFEST).read_text())
        (folder / files.MANIFEST).write_text(json.dumps(manifest | fields))

    return edit


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / files.MANIFEST).unlink(), "has no genie_index.json"),
        (lambda folder: (folder / files.MANIFEST).write_text("{"), "is not a manifest"),
        (lambda folder: (folder / files.TABLE).unlink(), "table.0 is missing"),
        (lambda folder: (folder / files.TABLE).write_bytes(b"x" * 8), "table.0 has 8 bytes, expected 9"),
        (lambda folder: (folder / files.TOKENS).write_bytes(b""), "tokenized.0 has 0 bytes, expected 6"),
        (edited(dtype="u32"), "dtype 'u32', expected 2 and 'u16'"),
        (edited(symbols=2), "6 bytes for 2 symbols, expected 2 bytes each: its numbers are not u16"),
        (edited(format=9), "format 9"),
        (edited(more="x"), "is not a manifest"),
    ],
)
def test_what_infini_gram_would_open_without_a_word_is_refused(
    tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    assert whole(tmp_path) == checked_manifest(tmp_path)
    damage(tmp_path)
    with pytest.raises(CorpusError, match=message):
        checked_manifest(tmp_path)


def test_frequent_words_are_one_symbol_and_rare_ones_two() -> None:
    words = Vocabulary(f"w{number}" for number in range(SINGLE + LOW + 1))
    assert words.symbols(["w0", f"w{SINGLE - 1}"]) == [0, SINGLE - 1]
    assert words.symbols([f"w{SINGLE}"]) == [SINGLE, SINGLE + HIGH]
    assert words.symbols([f"w{SINGLE + LOW}"]) == [SINGLE + 1, SINGLE + HIGH]
    assert words.symbols(["w0", "never seen"]) is None
    # no word has the symbols that stand between documents
    last_high, last_low = divmod(MOST_WORDS - 1 - SINGLE, LOW)
    assert SINGLE + last_high < SINGLE + HIGH <= SINGLE + HIGH + last_low < UNUSED < SEPARATOR < 1 << 16


def test_words_are_numbered_by_frequency_then_by_spelling_and_read_back_as_they_were_written(tmp_path: Path) -> None:
    assert Vocabulary.of(Counter("bbbaac")).words == ["b", "a", "c"]
    assert Vocabulary.of(Counter("cba")).words == ["a", "b", "c"]
    written = Vocabulary(["the", "\u2028odd", "…", "x"])
    written.write(tmp_path)
    assert Vocabulary.read(tmp_path).words == written.words
    assert Vocabulary.read(tmp_path).digest == written.digest
    assert Vocabulary(["x", "the"]).digest != written.digest


def test_too_many_words_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_WORDS", 2)
    with pytest.raises(CorpusError, match="3 different words, expected at most 2"):
        Vocabulary("abc")
