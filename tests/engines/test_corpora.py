"""What of a text stands in a corpus, and where: documents in memory, and an index behind a service."""

import json
import re
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.servers import Server, serving
from tests.measures.test_ngrams import novelties

from genie_inspect.engines import requests
from genie_inspect.engines.corpora import (
    CountsWithout,
    DocumentsCorpus,
    InfiniGramService,
    LookedUpCounts,
    folder_texts,
)
from genie_inspect.engines.embedders import embedder
from genie_inspect.engines.identity import AddressError
from genie_inspect.errors import CorpusError, EngineFailedError
from genie_inspect.measures.ngrams import TokenIndex, creativity_index
from genie_inspect.measures.tokens import tokens

CLOCK = "The old owl sat on the station clock and counted every train that did not stop."
SNOW = "Nobody in the village had ever seen the white owl, which was how the white owl liked it."


def test_files_and_lines_are_documents_in_the_order_of_their_paths(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("bee")
    (tmp_path / "a.txt").write_text("ay")
    (tmp_path / "c.jsonl").write_text('{"text": "one"}\n\n{"text": "two", "more": 1}\n')
    (tmp_path / "picture.png").write_bytes(b"\xff")
    found = list(folder_texts(tmp_path))
    assert found == [("a.txt", "ay"), ("c.jsonl:1", "one"), ("c.jsonl:3", "two"), ("sub/b.md", "bee")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"text": "one"}\n{"txt": "two"}', r"a\.jsonl, line 2 has no text in the field 'text'"),
        ("a.jsonl", b"{", r"a\.jsonl, line 1 is not JSON"),
        ("a.txt", b"\xff\xfe\xff", r"a\.txt cannot be read as UTF-8 text"),
        ("a.png", b"", "has no texts, expected"),
        ("../a.txt", b"", "does not exist"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    folder = tmp_path / "texts"
    if name[0] != ".":
        folder.mkdir()
        (folder / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        list(folder_texts(folder))


def test_copied_runs_are_shown_as_the_text_has_them_with_document_and_token() -> None:
    corpus = DocumentsCorpus("two", iter([("clock", CLOCK), ("snow", SNOW)]))
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
    for near in (None, embedder()):
        assert DocumentsCorpus("one", [("own", CLOCK)], near).copies(CLOCK).runs == ()


def test_too_many_tokens_for_memory_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.corpora.MOST_TOKENS", 20)
    with pytest.raises(CorpusError, match=r"more than 20 tokens.*genie build-index"):
        DocumentsCorpus("big", [("clock", CLOCK), ("snow", SNOW)])


def test_a_corpus_of_other_texts_has_another_name_and_the_order_and_names_of_its_texts_do_not_count() -> None:
    def name(*documents: tuple[str, str]) -> str:
        return DocumentsCorpus("folder(books)", documents).name

    whole = name(("clock", CLOCK), ("snow", SNOW))
    assert re.fullmatch(r"folder\(books\)@[0-9a-f]{12}", whole)
    assert name(("x", SNOW), ("y", f" {CLOCK}\n"), ("z", CLOCK)) == whole
    assert whole not in (name(("clock", CLOCK), ("snow", f"{SNOW}.")), name(("clock", CLOCK)))


WORDS = st.lists(st.sampled_from(list("abc")), max_size=12)
TOLD = "The old owl sat on the station clock. It counted every train that did not stop."
OTHERS = "A young fox sat on the station roof, and counted every star.", "The owl slept on the clock."


def plain_count(run: Sequence[str], documents: Sequence[Sequence[str]]) -> int:
    return sum(list(document[place : place + len(run)]) == list(run) for document in documents for place in range(99))


@given(st.lists(WORDS, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
def test_a_corpus_that_can_only_be_asked_gives_the_numbers_of_an_index_with_no_look_up_twice(
    runs: list[list[str]], documents: list[list[str]]
) -> None:
    asked: list[tuple[str, ...]] = []

    def count(run: Sequence[str]) -> int:
        asked.append(tuple(run))
        return plain_count(run, documents)

    looked_up = LookedUpCounts(count, sum(map(len, documents)))
    assert repr(novelties(runs, looked_up)) == repr(novelties(runs, documents))
    assert len(asked) == len(set(asked)) <= 4 * sum(map(len, runs))
    assert all(any(run == tuple(whole[i : i + len(run)]) for whole in runs for i in range(99)) for run in asked)


@given(WORDS, st.lists(WORDS, max_size=4), st.integers(1, 3))
def test_an_index_without_a_text_counts_as_if_it_had_never_held_it(
    text: list[str], documents: list[list[str]], times: int
) -> None:
    index = TokenIndex([*[text] * times, *documents])
    without = CountsWithout(index, range(times), text)
    assert without.tokens == sum(map(len, documents))
    limits = np.full(len(text), len(text))
    assert without.lengths(text, limits).tolist() == TokenIndex(documents).lengths(text, limits).tolist()
    assert repr(novelties([text, text[1:]], without)) == repr(novelties([text, text[1:]], documents))


def test_the_text_itself_is_left_out_of_the_documents_however_it_is_spaced() -> None:
    whole = DocumentsCorpus("all", [("told", TOLD), *((text[:5], text) for text in OTHERS)])
    others = DocumentsCorpus("others", ((text[:5], text) for text in OTHERS))
    found, expected = whole.counted(TOLD.replace(" ", "\n")), others.counted(TOLD)
    assert (found.left_out, expected.left_out) == (("told",), ())
    runs = [found.words("sat on the station clock"), found.words("counted every train")]
    assert novelties(runs, found.counts) == novelties(runs, expected.counts)
    assert whole.counted("Another text.").counts.tokens == others.counted("").counts.tokens + len(TOLD.split()) + 2


CORPUS = "The old owl sat on the station clock and counted every train that did not stop at the little station."
PLAIN = DocumentsCorpus("x", [("one", CORPUS)])


def counting(request: dict[str, Any]) -> tuple[int, bytes]:
    """A service that counts whole words, as it should; the empty query stands for all tokens."""
    run, words = tokens(request["query"]), tokens(CORPUS)
    count = sum(words[place : place + len(run)] == run for place in range(len(words))) if run else len(words)
    return 200, json.dumps({"count": count, "approx": False, "latency": 1.0}).encode()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(requests, "FIRST_WAIT", 0.001)
    with serving(Server(counting)) as running:
        yield running


def asking(service: Server) -> InfiniGramService:
    return InfiniGramService(service.url, "v4_test")


def test_runs_through_the_service_give_the_index_of_a_plain_corpus(service: Server) -> None:
    assert asking(service).count("the") == 2
    assert service.requests == [{"index": "v4_test", "query_type": "count", "query": "the"}], "as the protocol says"
    text = "Once the old owl sat on the station clock, and counted every train. It did not stop at the little station."
    found = asking(service).copies(text)
    assert creativity_index((), (), matched=found.lengths) == creativity_index(
        (), (), matched=PLAIN.copies(text).lengths
    )
    assert {run.where for run in found.runs} == {"v4_test"}
    assert len(service.requests) <= 2 * len(found.lengths) + 1


def test_expressions_through_the_service_are_as_new_as_to_a_plain_corpus(service: Server) -> None:
    text = 'Once the old owl sat on the station clock, and counted "every" train.'
    found, plain = asking(service).counted(text), PLAIN.counted(text)
    assert found.words('the "old" owl') == ["the", ' "', "old", '"', " owl"]
    expressions = ["Once the old owl sat on the station clock", "and counted every train"]
    novel = novelties([found.words(expression) for expression in expressions], found.counts)
    assert novel == novelties([plain.words(expression) for expression in expressions], plain.counts)
    queries = [request["query"] for request in service.requests]
    assert len(queries) == len(set(queries)) < 60
    assert {"", "old owl", "and counted"} <= set(queries)
    assert not any("clock and" in query for query in queries)


def test_faults_that_pass_are_asked_again(service: Server) -> None:
    faults = iter([(429, b"slow down"), (503, b""), (0, b""), (200, b"<html>")])
    service.answer = lambda request: next(faults, None) or counting(request)
    assert asking(service).count("owl") == 1
    assert len(service.requests) == 5
    service.answer = lambda request: (200, b'{"count": 7, "approx": true}')
    assert asking(service).count("owl") == 7, "an estimate above 0 says that the words are there"


@pytest.mark.parametrize(
    ("answer", "message", "asked"),
    [
        ((500, b"broken"), "HTTP status 500: broken", requests.TRIES),
        ((404, b"no such page"), "HTTP status 404: no such page", 1),
        ((307, b""), r"HTTP status 307: it sends on to http://elsewhere\.example/, expected", 1),
        ((200, b'{"error": "Invalid index"}'), "no count but .*Invalid index", 1),
        ((200, b'{"count": null}'), "no count but", requests.TRIES),
        ((200, b'{"count": -3}'), "no count but .*-3", requests.TRIES),
        ((200, b'{"count": true}'), "no count but .*true", requests.TRIES),
        ((200, b'{"count": 0.0}'), "no count but", requests.TRIES),
        ((200, b'{"count": 0, "approx": true}'), "an estimated count of 0, expected an exact one", 1),
        ((200, b'{"count": 0, "error": "no such index"}'), "no count but .*no such index", 1),
        ((200, b"[]"), "no count but", requests.TRIES),
        ((200, b"[" * 200_000), "no JSON but", requests.TRIES),
        ((200, b"\xff\xfe"), "no JSON but", requests.TRIES),
    ],
)
def test_a_failed_look_up_is_an_error_and_never_novelty(
    service: Server, answer: tuple[int, bytes], message: str, asked: int
) -> None:
    service.answer = lambda request: answer
    service.headers = {"Location": "http://elsewhere.example/?key=secret"} if answer[0] == 307 else {}
    with pytest.raises(EngineFailedError, match=rf"infini-gram\(127.0.0.1:\d+/v1#v4_test\): look-up failed: {message}"):
        asking(service).copies(CORPUS)
    assert len(service.requests) == asked


@pytest.mark.parametrize("fails", ["", "owl"])
def test_one_failed_count_is_an_error_and_never_novelty(service: Server, fails: str) -> None:
    service.answer = lambda request: (404, b"gone") if request["query"] == fails else counting(request)
    with pytest.raises(EngineFailedError, match="look-up failed: HTTP status 404: gone"):
        novelties([["the", " owl"]], asking(service).counted("the owl").counts)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9/", "ConnectError"),
        ("http://host\x00/", "InvalidURL$"),
        ("ftp://host/", "UnsupportedProtocol$"),
    ],
)
def test_a_service_that_cannot_be_asked_is_named(url: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "FIRST_WAIT", 0.001)
    with pytest.raises(EngineFailedError, match=rf"infini-gram\(.*\): look-up failed: {message}"):
        InfiniGramService(url, "v4_test").check()


def test_the_service_is_given_the_time_that_it_asks_for(service: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    service.headers = {"Retry-After": "7"}
    faults = iter([(429, b"slow down")])
    service.answer = lambda request: next(faults, None) or counting(request)
    assert asking(service).count("owl") == 1
    assert (len(service.requests), waits) == (2, [7])


@pytest.mark.parametrize(
    ("drips", "message"), [(True, "no whole reply in 0 s"), (False, "look-up failed: ReadTimeout")]
)
def test_a_server_that_drips_or_says_nothing_is_given_up_in_bounded_time(
    drips: bool, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "LONGEST", 0.2)
    monkeypatch.setattr(requests, "FIRST_WAIT", 0.001)
    monkeypatch.setattr("genie_inspect.engines.corpora.SILENCE", 0.1)

    def drip() -> None:
        connection, _ = server.accept()
        with suppress(OSError), connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:
        if drips:
            threading.Thread(target=drip, daemon=True).start()
        start = time.monotonic()
        with pytest.raises(EngineFailedError, match=message):
            InfiniGramService(f"http://127.0.0.1:{server.getsockname()[1]}/", "v4_test").count("owl")
        assert time.monotonic() - start < 3


SECRETS = ["user:PW@{0}/", "{0}/?key=PW", "user:99/x@{0}", ":PW@{0}", "PW@{0}", "user:PW%2f@{0}", "user:PW/@{0}"]


@pytest.mark.parametrize("url", SECRETS)
def test_an_address_with_a_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(AddressError, match=r"which logs would keep. Give .* belong in ~/.netrc") as caught:
        InfiniGramService("http://" + url.format("127.0.0.1:9"), "v4_test")
    assert "PW" not in str(caught.value)
    assert "99" not in str(caught.value)
    with pytest.raises(AddressError, match="address cannot be read"):
        InfiniGramService("http://", "v4_test")


def test_user_and_password_are_taken_from_netrc_and_never_repeated(
    service: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "netrc"
    monkeypatch.setenv("NETRC", str(file))
    asking(service).check()
    file.write_text("machine 127.0.0.1 login user password PW\n")
    asked = asking(service)
    asked.check()
    assert service.logins == [None, "Basic " + b64encode(b"user:PW").decode()]
    assert "PW" not in asked.name
    assert "user" not in asked.name
    file.write_text("machine 127.0.0.1 login user pasword PW\n")
    with pytest.raises(EngineFailedError, match=r"netrc, line 1 cannot be read: NetrcParseError") as caught:
        asking(service).check()
    assert "PW" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("0", 0), ("120", 120), ("-5", 0), ("1e9", 0), ("", 0), ("soon", 0), ("٣", 0), ("Wed, 21 Oct 2015 07:28:00", 0)],
)
def test_what_a_service_asks_to_wait_is_read_as_the_protocol_has_it(header: str, seconds: float) -> None:
    assert requests.retry_after(header) == seconds
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 85 < requests.retry_after(date) <= 90
