"""What is kept on disk, what counts as damage, and what becomes of it."""

import os
import random
import sqlite3
import stat
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from tests.engines.test_embedders import Counting
from tests.processes import tries

from genie_inspect.engines.embedders import FILE as VECTORS
from genie_inspect.engines.embedders import CachedEmbedder
from genie_inspect.files.store import KeyTable
from genie_inspect.graders.cache import ANSWERS, FILE, RATINGS, TABLES, VERDICTS, Cache, Judged, Verdict, cache_folder

SAID: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "answers": (("reader", "document"), {"Where?": None, "Who?": "a pilot"}),
    "ratings": (("judge", "What?", "rain"), {"sea": Judged(4.0), "home": Judged(2.5, 0.125), "-": Judged(0.0, 1.0)}),
    "verdicts": (("critic", "story 1", "story 2"), {"ending": Verdict(1, "A drags less. [[A>B]]")}),
}
every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@every_table
def test_what_was_kept_is_found_again_by_another_cache_at_its_place_alone(table: KeyTable[Any], tmp_path: Path) -> None:
    place, values = SAID[table.name]
    Cache(tmp_path).keep(table, place, values)
    cache = Cache(tmp_path)
    assert cache.found(table, place) == values, "None is an answer on record, a missing key is none"
    others = [(*place[:at], "another", *place[at + 1 :]) for at in range(len(place))]
    assert [cache.found(table, other) for other in (*others, place[::-1])] == [{}] * (len(place) + 1)
    first = next(iter(values))
    assert cache.found(table, place, [first, "never asked"]) == {first: values[first]}


@every_table
def test_a_later_value_takes_the_place_of_an_earlier_one(table: KeyTable[Any], tmp_path: Path) -> None:
    cache, (place, values) = Cache(tmp_path), SAID[table.name]
    cache.keep(table, place, dict.fromkeys([*values, "other"], {**values}.popitem()[1]))
    cache.keep(table, place, values)
    assert cache.found(table, place) == values | {"other": {**values}.popitem()[1]}


def test_the_folder_is_the_one_of_the_environment_else_the_users_own_for_this_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Cache().path == Path(os.environ["GENIE_CACHE_DIR"]) / FILE
    for unset in ("", None):
        monkeypatch.setenv("GENIE_CACHE_DIR", unset) if unset is not None else monkeypatch.delenv("GENIE_CACHE_DIR")
        assert cache_folder() == Path(platformdirs.user_cache_dir("genie-inspect"))


def test_a_cleared_cache_gives_its_space_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep(ANSWERS, ("reader", "document"), {f"Who is {number}?": "a pilot " * 50 for number in range(300)})
    cache.close()
    full = cache.path.stat().st_size
    cache.clear()
    cache.close()
    assert cache.path.stat().st_size < full / 3


def damage_the_middle(cache: Cache) -> None:
    """Fill a cache and damage its file, of which header and schema stay whole: it opens as a database."""
    for number in range(200):
        cache.keep(ANSWERS, ("reader", f"document {number}"), {"Who?": "a pilot" * 20})
    # else it answers out of its log and its memory
    cache.run(lambda connection: connection.executescript("pragma wal_checkpoint(truncate); pragma shrink_memory"))
    contents = cache.path.read_bytes()
    cache.path.write_bytes(contents[:8192] + b"\xff" * (len(contents) - 8192))


def test_damage_in_the_middle_of_an_open_file_is_noticed_where_it_is_read_and_set_aside(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    damage_the_middle(cache)
    with pytest.warns(UserWarning, match="set aside"):
        cache.found(ANSWERS, ("reader", "document 7"), ["Who?"])
    cache.keep(ANSWERS, ("reader", "document 7"), {"Who?": "a captain"})
    assert Cache(tmp_path).found(ANSWERS, ("reader", "document 7"), ["Who?"]) == {"Who?": "a captain"}


def test_a_folder_that_cannot_be_made_is_a_warning_and_nothing_is_kept_on_disk(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.warns(UserWarning, match="cannot be used .* are kept for this run only"):
        cache = Cache(tmp_path / "file" / "cache")
    cache.keep(ANSWERS, ("reader", "document"), {"Who?": "a pilot"})
    assert cache.found(ANSWERS, ("reader", "document"), ["Who?"]) == {"Who?": "a pilot"}, "for this run"


def test_a_database_of_another_shape_is_left_alone_with_a_warning(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / FILE)
    other.execute("create table answers (something text)")
    other.commit()
    other.close()
    cache = Cache(tmp_path)
    with pytest.warns(UserWarning, match="are kept for this run only"):
        cache.keep(ANSWERS, ("reader", "document"), {"Who?": "a pilot"})
    assert sqlite3.connect(tmp_path / FILE).execute("select * from answers").fetchall() == []


def test_a_file_of_before_there_were_verdicts_gains_them_and_keeps_what_it_has(tmp_path: Path) -> None:
    Cache(tmp_path).keep(ANSWERS, ("reader", "document"), {"Who?": "a pilot"})
    older = sqlite3.connect(tmp_path / FILE)
    older.execute("drop table verdicts")
    older.commit()
    older.close()
    cache, (place, verdicts) = Cache(tmp_path), SAID["verdicts"]
    assert cache.found(VERDICTS, place) == {}
    cache.keep(VERDICTS, place, verdicts)
    assert cache.found(VERDICTS, place) == verdicts
    assert cache.found(ANSWERS, ("reader", "document"), ["Who?"]) == {"Who?": "a pilot"}


def test_a_damaged_file_takes_its_log_along_and_two_processes_set_it_aside_once(tmp_path: Path) -> None:
    whole = Cache(tmp_path)
    damage_the_middle(whole)
    whole.close()
    (tmp_path / f"{FILE}-wal").write_bytes(b"a log of the damaged file")
    first, second = Cache(tmp_path), Cache(tmp_path)
    with pytest.warns(UserWarning, match="set aside"):
        first.keep(ANSWERS, ("reader", "document 7"), {"Who?": "a captain"})
    second.keep(ANSWERS, ("reader", "document 8"), {"Who?": "a cook"})
    found = Cache(tmp_path)
    assert found.found(ANSWERS, ("reader", "document 7"), ["Who?"]) == {"Who?": "a captain"}
    assert found.found(ANSWERS, ("reader", "document 8"), ["Who?"]) == {"Who?": "a cook"}
    assert len([path for path in tmp_path.glob("*.damaged-*") if not path.name.endswith(("-wal", "-shm"))]) == 1


def test_what_is_found_new_while_rows_are_kept_together_is_new_for_every_process(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    other = sqlite3.connect(cache.path, timeout=0)
    with cache.together(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("begin immediate")
    other.execute("begin immediate")
    other.close()


def test_the_ends_of_each_scale_are_values_of_it_and_what_is_none_is_shown_short() -> None:
    ratings = [(0.0, None), (1.0, 0.0), (4.0, 1.0)]
    assert [RATINGS.made(*values) for values in ratings] == ratings
    assert [VERDICTS.made(points, "") for points in (3, -3)] == [(3, ""), (-3, "")]
    for off in (-0.5, "x"):
        with pytest.raises(sqlite3.DatabaseError, match=f"off the labels is '{off}', expected 0 to 1$"):
            RATINGS.made(1.0, off)
    with pytest.raises(sqlite3.DatabaseError) as damage:
        RATINGS.made("x" * 1000, None)
    assert len(str(damage.value)) < 300


def test_of_rows_from_outside_a_whole_number_is_a_rating_and_what_cannot_be_ours_is_refused(tmp_path: Path) -> None:
    cache, row = Cache(tmp_path), {"judge": "j", "question": "q", "answer": "a", "other": "o", "off_labels": None}
    assert cache.add(RATINGS, [row | {"rating": 3}, row | {"rating": 9}, row | {"rating": 3, "judge": 1}]) == (1, 0, 2)
    assert cache.add(RATINGS, [row | {"rating": 3.0}, row | {"rating": 2}]) == (0, 1, 0)
    assert cache.found(RATINGS, ("j", "q", "a")) == {"o": Judged(3.0)}


PAGE = 4096
TEXTS = [f"text {number}" for number in range(300)]
SOME = {"ratings": "question = 'What 9?' and other = 'snow'", "verdicts": "story_a = 'story 9'", "answers": "true"}
PLACES = [("critic", f"story {number}", "") for number in range(40)]


def filled(folder: Path) -> None:
    """Both files, with everything in the database and nothing in a log beside it."""
    cache = Cache(folder)
    for number, place in enumerate(PLACES):
        cache.keep(ANSWERS, ("reader", f"document {number}"), {"Who?": "a pilot" * 40})
        cache.keep(RATINGS, ("judge", f"What {number}?", "rain"), {"snow": Judged(3), "sun": Judged(2, 0.125)})
        cache.keep(VERDICTS, place, {"test": Verdict(1, "[[YES]]" * 20)})
    cache.close()
    embedder = CachedEmbedder(Counting(), folder)
    embedder.embed(TEXTS)
    for name in (FILE, VECTORS):
        with sqlite3.connect(folder / name) as connection:
            connection.execute("pragma wal_checkpoint(truncate)")


def use(folder: Path) -> None:
    """Everything that a run asks of both files; what it gets is right, or is not there."""
    cache = Cache(folder)
    for number, place in enumerate(PLACES):
        assert set(cache.found(ANSWERS, ("reader", f"document {number}"), ["Who?"])) <= {"Who?"}
        for judged in cache.found(RATINGS, ("judge", f"What {number}?", "rain")).values():
            assert judged.rating == 0 or 1 <= judged.rating <= 4
        assert all(abs(verdict.points) <= 3 for verdict in cache.found(VERDICTS, place).values())
        cache.keep(ANSWERS, ("reader", f"document {number}"), {"Who?": "a captain"})
    vectors = CachedEmbedder(Counting(), folder).embed(TEXTS)
    assert vectors.shape == (300, 2)
    assert np.isfinite(vectors).all()


def damaged(content: bytes, seed: int) -> bytes:
    """The content with one of five kinds of damage, at a place that the seed picks."""
    dice, changed = random.Random(seed), bytearray(content)
    start = dice.randrange(len(content))
    match seed % 5:
        case 0:
            return content[:start]
        case 1:
            changed[start : start + 2_000] = dice.randbytes(len(changed[start : start + 2_000]))
        case 2:
            for _ in range(50):
                changed[dice.randrange(100, len(changed))] = dice.randrange(256)
        case 3:
            changed[start : start + 5_000] = bytes(len(changed[start : start + 5_000]))
        case _:
            one, other = (slice(PAGE * at, PAGE * (at + 1)) for at in dice.sample(range(len(content) // PAGE), 2))
            changed[one], changed[other] = changed[other], changed[one]
    return bytes(changed)


@pytest.mark.repeated
def test_whatever_is_damaged_a_run_goes_on_and_its_successor_too(tmp_path: Path) -> None:
    filled(tmp_path / "whole")
    contents = {name: (tmp_path / "whole" / name).read_bytes() for name in (FILE, VECTORS)}
    warned = 0
    for seed in range(tries(15, 100)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        for name, content in contents.items():
            (folder / name).write_bytes(damaged(content, seed))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            use(folder)
        assert all(str(folder) in str(warning.message) for warning in caught if warning.category is UserWarning)
        warned += bool(caught)
        # pages that were swapped lead a look-up astray without a word of SQLite: then nothing is found
        assert Cache(folder).found(ANSWERS, ("reader", "document 7"), ["Who?"]) in ({"Who?": "a captain"}, {}), (
            f"seed {seed}"
        )
    assert warned >= 10, "some damage hits nothing that is read, most does"


# what an edited, or a foreign, file may hold in place of a value
@pytest.mark.parametrize(
    ("table", "column", "value", "told"),
    [
        ("ratings", "rating", "7.5", "a rating is '7.5', expected 0 or 1 to 4"),
        ("ratings", "rating", "-1", "a rating is '-1.0'"),
        ("ratings", "rating", "0.5", "a rating is '0.5'"),
        ("ratings", "rating", "9e999", "a rating is 'inf'"),
        ("ratings", "rating", "4.5", "a rating is '4.5'"),
        ("ratings", "rating", "'four'", "a rating is 'four'"),
        ("ratings", "off_labels", "1.5", "a probability off the labels is '1.5', expected 0 to 1"),
        ("ratings", "off_labels", "x'00'", "a probability off the labels is"),
        ("ratings", "other", "cast(x'ff' as text)", "Could not decode to UTF-8"),
        ("verdicts", "points", "4", "a verdict is '4', expected -3 to 3 points and a reply"),
        ("verdicts", "points", "-4", "a verdict is '-4'"),
        ("verdicts", "points", "'yes'", "a verdict is 'yes'"),
        ("verdicts", "reply", "x'00'", "a verdict is '1'"),
        ("answers", "answer", "x'ff'", "an answer is a bytes, expected text or nothing"),
    ],
)
def test_a_value_that_cannot_be_ours_sets_the_file_aside_with_a_warning_that_names_it(
    table: str, column: str, value: str, told: str, tmp_path: Path
) -> None:
    filled(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute(f"update {table} set {column} = {value} where {SOME[table]}")
    with pytest.warns(UserWarning, match="is not a readable cache") as caught:
        use(tmp_path)
    (warning,) = {str(warning.message) for warning in caught}
    assert str(tmp_path / FILE) in warning
    assert told in warning
    assert len([path for path in tmp_path.glob("cache.damaged-*") if path.suffix[-1].isdigit()]) == 1


def test_only_the_user_may_read_folder_and_files(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    cache, vectors = Cache(folder), CachedEmbedder(Counting(), folder)
    vectors.embed(["owl"])
    cache.keep(ANSWERS, ("reader", "document"), {"Who?": "a pilot"})
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert {FILE, f"{FILE}-wal", VECTORS, f"{VECTORS}-wal"} <= modes.keys()
    assert modes.pop("cache") == 0o700
    assert set(modes.values()) == {0o600}


def test_the_file_that_takes_the_place_of_a_damaged_one_is_as_private(tmp_path: Path) -> None:
    for name in (FILE, VECTORS):
        (tmp_path / name).write_bytes(b"no database" * 400)
    with pytest.warns(UserWarning, match="is not a readable cache .* set aside as"):
        Cache(tmp_path).keep(ANSWERS, ("reader", "document"), {"Who?": "a pilot"})
    with pytest.warns(UserWarning, match="set aside"):
        CachedEmbedder(Counting(), tmp_path).embed(["owl"])
    assert Cache(tmp_path).found(ANSWERS, ("reader", "document"), ["Who?"]) == {"Who?": "a pilot"}
    (aside,) = tmp_path.glob(f"{Path(FILE).stem}.damaged-*")
    assert aside.read_bytes().startswith(b"no database")
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (FILE, VECTORS)] == [0o600] * 2
