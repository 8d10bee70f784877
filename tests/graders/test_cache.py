import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import platformdirs
import pytest

from genie_inspect.files.sqlite_file import connected
from genie_inspect.graders.cache import FILE, Cache, Judged, Verdict, VerdictKey, cache_folder


def test_what_was_kept_is_found_again_by_another_cache_on_the_same_folder(tmp_path: Path) -> None:
    Cache(tmp_path).keep_answers("reader", "document", {"Who?": "a pilot", "Where?": None})
    found = Cache(tmp_path).answers("reader", "document", ["Where?", "Who?", "When?"])
    assert found == {"Where?": None, "Who?": "a pilot"}, "None is an answer on record, a missing key is none"


def test_another_reader_or_document_has_answers_of_its_own(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep_answers("reader", "document", {"Who?": "a pilot"})
    assert cache.answers("another", "document", ["Who?"]) == {}
    assert cache.answers("reader", "another", ["Who?"]) == {}


def test_a_later_answer_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep_answers("reader", "document", {"Who?": "a pilot"})
    cache.keep_answers("reader", "document", {"Who?": "a captain"})
    assert cache.answers("reader", "document", ["Who?"]) == {"Who?": "a captain"}


def test_the_folder_is_the_one_of_the_environment(cache_dir: Path) -> None:
    assert cache_folder() == cache_dir
    assert Cache().path == cache_dir / FILE


def test_without_one_the_folder_is_the_users_own_for_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for unset in ("", None):
        monkeypatch.setenv("GENIE_CACHE_DIR", unset) if unset is not None else monkeypatch.delenv("GENIE_CACHE_DIR")
        assert cache_folder() == Path(platformdirs.user_cache_dir("genie-inspect"))


def test_a_cleared_cache_gives_its_space_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep_answers("reader", "document", {f"Who is {number}?": "a pilot " * 50 for number in range(300)})
    cache.close()
    full = cache.path.stat().st_size
    cache.clear()
    cache.close()
    assert cache.path.stat().st_size < full / 3


def test_a_file_that_is_no_database_is_set_aside_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database, whatever its name says" * 50)
    with pytest.warns(UserWarning, match="is no readable cache .* set aside as"):
        cache = Cache(tmp_path)
    cache.keep_answers("reader", "document", {"Who?": "a pilot"})
    assert Cache(tmp_path).answers("reader", "document", ["Who?"]) == {"Who?": "a pilot"}
    (aside,) = tmp_path.glob("*.damaged-*")
    assert aside.read_bytes().startswith(b"this is no database")


@pytest.mark.parametrize(
    "meet",
    [
        lambda cache: cache.answers("reader", "document 7", ["Who?"]),
        lambda cache: cache.keep_answers("reader", "document 7", {"Who?": "a captain"}),
    ],
    ids=["answers", "keep"],
)
def test_damage_in_the_middle_of_a_file_is_noticed_where_it_is_met_and_set_aside(
    tmp_path: Path, meet: Callable[[Cache], object]
) -> None:
    whole = Cache(tmp_path)
    for number in range(200):
        whole.keep_answers("reader", f"document {number}", {"Who?": "a pilot" * 20})
    whole.close()
    contents = (tmp_path / FILE).read_bytes()
    # the header and the schema are whole: it opens as a database
    (tmp_path / FILE).write_bytes(contents[:8192] + b"\xff" * (len(contents) - 8192))
    cache = Cache(tmp_path)
    with pytest.warns(UserWarning, match="set aside"):
        meet(cache)
    cache.keep_answers("reader", "document 7", {"Who?": "a captain"})
    assert Cache(tmp_path).answers("reader", "document 7", ["Who?"]) == {"Who?": "a captain"}


def test_a_folder_that_cannot_be_made_is_a_warning_and_nothing_is_kept_on_disk(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.warns(UserWarning, match="cannot be used .* is kept for this run only"):
        cache = Cache(tmp_path / "file" / "cache")
    cache.keep_answers("reader", "document", {"Who?": "a pilot"})
    assert cache.answers("reader", "document", ["Who?"]) == {"Who?": "a pilot"}, "within the run it still serves"


def test_a_database_of_another_shape_is_left_alone_with_a_warning(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / FILE)
    other.execute("create table answers (something text)")
    other.commit()
    other.close()
    cache = Cache(tmp_path)
    with pytest.warns(UserWarning, match="is kept for this run only"):
        cache.keep_answers("reader", "document", {"Who?": "a pilot"})
    assert sqlite3.connect(tmp_path / FILE).execute("select * from answers").fetchall() == []


WRITER = """
import sys, warnings
from pathlib import Path
warnings.simplefilter("error")
from genie_inspect.graders.cache import Cache
cache = Cache(Path(sys.argv[1]))
for number in range(40):
    cache.keep_answers("reader", f"{sys.argv[2]}-{number}", {"Who?": sys.argv[2]})
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(writer)], env=environment)
        for writer in range(4)
    ]
    assert [process.wait(timeout=60) for process in writers] == [0, 0, 0, 0]
    cache = Cache(tmp_path)
    for writer in range(4):
        for number in range(40):
            assert cache.answers("reader", f"{writer}-{number}", ["Who?"]) == {"Who?": str(writer)}


def test_ratings_are_found_again_by_judge_question_and_answer(tmp_path: Path) -> None:
    said = {"at sea": Judged(4), "at home": Judged(2.5, 0.125), "nowhere": Judged(0.0, 1.0)}
    Cache(tmp_path).keep_ratings("judge", "How does it end?", "in the rain", said)
    cache = Cache(tmp_path)
    assert cache.ratings("judge", "How does it end?", "in the rain") == said
    assert cache.ratings("another", "How does it end?", "in the rain") == {}
    assert cache.ratings("judge", "How?", "in the rain") == {}
    assert cache.ratings("judge", "How does it end?", "in snow") == {}


def test_a_later_rating_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep_ratings("judge", "How?", "in the rain", {"at sea": Judged(4), "at home": Judged(1)})
    cache.keep_ratings("judge", "How?", "in the rain", {"at sea": Judged(3)})
    assert cache.ratings("judge", "How?", "in the rain") == {"at sea": Judged(3), "at home": Judged(1)}


def test_rows_and_counts_tell_what_is_on_record_and_clear_forgets_it(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep_answers("reader", "document", {"Who?": None})
    cache.keep_ratings("judge", "How?", "in the rain", {"at sea": Judged(4), "at home": Judged(1.5, 0.25)})
    cache.keep_verdict(VerdictKey("critic", "a", "b", "ending"), Verdict(-2, "B ends better. [[B>>A]]"))
    assert cache.counts() == {"answers": {"reader": 1}, "ratings": {"judge": 2}, "verdicts": {"critic": 1}}
    pair = {"judge": "judge", "question": "How?", "answer": "in the rain"}
    assert sorted(cache.rows("ratings"), key=str) == [
        pair | {"other": "at home", "rating": 1.5, "off_labels": 0.25},
        pair | {"other": "at sea", "rating": 4.0, "off_labels": None},
    ]
    assert list(cache.rows("verdicts")) == [
        {
            **{"judge": "critic", "story_a": "a", "story_b": "b", "test": "ending"},
            **{"points": -2, "reply": "B ends better. [[B>>A]]"},
        }
    ]
    cache.clear()
    assert Cache(tmp_path).counts() == {"answers": {}, "ratings": {}, "verdicts": {}}


def test_a_verdict_is_found_again_by_critic_stories_in_their_order_and_test(tmp_path: Path) -> None:
    key = VerdictKey("critic", "story 1", "story 2", "ending")
    Cache(tmp_path).keep_verdict(key, Verdict(1, "A drags less. [[A>B]]"))
    cache = Cache(tmp_path)
    assert cache.verdict(key) == Verdict(1, "A drags less. [[A>B]]")
    others: list[dict[str, str]] = [{"judge": "x"}, {"story_a": "x"}, {"story_b": ""}, {"test": "x"}]
    swapped = {"story_a": "story 2", "story_b": "story 1"}
    assert [cache.verdict(key._replace(**other)) for other in (*others, swapped)] == [None] * 5


def test_a_later_verdict_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    key, cache = VerdictKey("critic", "story", "", "ending"), Cache(tmp_path)
    cache.keep_verdict(key, Verdict(1, "[[YES]]"))
    cache.keep_verdict(key, Verdict(0, "[[NO]]"))
    assert cache.verdict(key) == Verdict(0, "[[NO]]")


def test_a_file_of_before_there_were_verdicts_gains_them_and_keeps_what_it_has(tmp_path: Path) -> None:
    Cache(tmp_path).keep_answers("reader", "document", {"Who?": "a pilot"})
    older = sqlite3.connect(tmp_path / FILE)
    older.execute("drop table verdicts")
    older.commit()
    older.close()
    cache, key = Cache(tmp_path), VerdictKey("critic", "a", "b", "ending")
    assert cache.verdict(key) is None
    cache.keep_verdict(key, Verdict(0, "[[A=B]]"))
    assert cache.verdict(key) == Verdict(0, "[[A=B]]")
    assert cache.answers("reader", "document", ["Who?"]) == {"Who?": "a pilot"}


def test_a_damaged_file_takes_its_log_along_and_two_processes_set_it_aside_once(tmp_path: Path) -> None:
    whole = Cache(tmp_path)
    for number in range(200):
        whole.keep_answers("reader", f"document {number}", {"Who?": "a pilot" * 20})
    whole.close()
    contents = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(contents[:8192] + b"\xff" * (len(contents) - 8192))
    (tmp_path / f"{FILE}-wal").write_bytes(b"a log of the damaged file")
    first, second = Cache(tmp_path), Cache(tmp_path)
    with pytest.warns(UserWarning, match="set aside"):
        first.keep_answers("reader", "document 7", {"Who?": "a captain"})
    second.keep_answers("reader", "document 8", {"Who?": "a cook"})
    found = Cache(tmp_path)
    assert found.answers("reader", "document 7", ["Who?"]) == {"Who?": "a captain"}
    assert found.answers("reader", "document 8", ["Who?"]) == {"Who?": "a cook"}
    assert len([path for path in tmp_path.glob("*.damaged-*") if not path.name.endswith(("-wal", "-shm"))]) == 1


def test_damage_that_befalls_a_file_that_was_made_in_this_run_is_set_aside_too(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for number in range(200):
        cache.keep_answers("reader", f"document {number}", {"Who?": "a pilot" * 20})
    # else it answers out of its log and its memory
    cache._file.run(
        lambda connection: connection.executescript("pragma wal_checkpoint(truncate); pragma shrink_memory")
    )
    contents = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(contents[:8192] + b"\xff" * (len(contents) - 8192))
    with pytest.warns(UserWarning, match="set aside"):
        assert cache.answers("reader", "document 7", ["Who?"]) == {}
    cache.keep_answers("reader", "document 7", {"Who?": "a captain"})
    assert Cache(tmp_path).answers("reader", "document 7", ["Who?"]) == {"Who?": "a captain"}


def test_a_write_stops_no_reader_and_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    connection = connected(Cache(tmp_path).path, "")
    found = [connection.execute(f"pragma {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert found == ["wal", 1], "1 is normal: a killed process loses nothing, a machine without power the last moments"
    assert connection.execute("pragma busy_timeout").fetchone()[0] == 30_000, "milliseconds that a write waits"


def test_a_cache_serves_whichever_thread_asks(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(cache.keep_answers, "reader", "document", {"Who?": "a pilot"}).result()
    assert cache.answers("reader", "document", ["Who?"]) == {"Who?": "a pilot"}
