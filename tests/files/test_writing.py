import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.errors import UnwritableError
from genie_inspect.files.writing import check_absent, check_writable, is_stream, write_bytes, write_lines, written

as_root = os.geteuid() == 0


@pytest.fixture
def with_umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_that_the_users_umask_leaves(
    umask: int, mode: int, with_umask: Callable[[int], int], tmp_path: Path
) -> None:
    with_umask(umask)
    write_bytes(tmp_path / "f", b"x")
    assert permissions(tmp_path / "f") == mode


@pytest.mark.parametrize("mode", [0o600, 0o666, 0o640])
def test_a_file_that_is_replaced_keeps_its_permissions(
    mode: int, with_umask: Callable[[int], int], tmp_path: Path
) -> None:
    with_umask(0o027)
    (tmp_path / "f").write_text("old")
    (tmp_path / "f").chmod(mode)
    with written(tmp_path / "f") as file:
        (part,) = (path for path in tmp_path.iterdir() if path.name != "f")
        assert permissions(part) & ~mode == 0, "nobody reads it before it is there who may not read it then"
        file.write(b"new")
    assert (permissions(tmp_path / "f"), (tmp_path / "f").read_text()) == (mode, "new")


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_write_that_is_broken_off_leaves_the_old_file_and_nothing_else(
    error: type[BaseException], tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("old")
    with pytest.raises(error), written(tmp_path / "f") as file:  # noqa: PT012  # what breaks off is inside a write
        file.write(b"new")
        raise error
    assert (tmp_path / "f").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "f"]


def test_names_that_others_could_foresee_are_neither_followed_nor_touched(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    planted = [".report.html.part", "report.html.part", ".report.html", "report.html.tmp", "report.html~"]
    for name in planted[:2]:
        (folder / name).symlink_to(victim)
    for name in planted[2:]:
        (folder / name).write_text("mine")
    write_bytes(folder / "report.html", b"page")
    assert victim.read_text() == "precious"
    assert [(folder / name).read_text() for name in planted] == ["precious"] * 2 + ["mine"] * 3
    assert {path.name for path in folder.iterdir()} == {"report.html", *planted}


def test_two_writes_at_once_use_different_names_for_what_is_not_whole_yet(tmp_path: Path) -> None:
    with written(tmp_path / "f") as one, written(tmp_path / "f") as other:
        one.write(b"one")
        other.write(b"other")
        assert len(list(tmp_path.iterdir())) == 2
    assert (tmp_path / "f").read_bytes() == b"one"


def test_a_link_stays_what_it_points_at_is_replaced_and_a_link_to_nothing_refused(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "page").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "page")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").readlink() == tmp_path / "far" / "page"
    assert (tmp_path / "far" / "page").read_text() == "new"
    assert {path.name for path in (tmp_path / "far").iterdir()} == {"page"}
    (tmp_path / "far" / "page").unlink()
    with pytest.raises(UnwritableError, match="link cannot be written: it is a link to nothing"):
        write_bytes(tmp_path / "link", b"new")
    assert not list((tmp_path / "far").iterdir())


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_lines(tmp_path / "pipe", ["one\n", "two\n"])
    reader.join()
    assert read == [b"one\ntwo\n"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert list(tmp_path.iterdir()) == [tmp_path / "pipe"]


def test_a_device_is_written_to_and_stays_a_device() -> None:
    write_bytes(Path(os.devnull), b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


STREAM = """
import sys
from pathlib import Path
from genie_inspect.files.writing import write_bytes
print("before", flush=True)
write_bytes(Path(sys.argv[1]), b"written\\n")
print("after", flush=True)
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_that_goes_to_a_file_is_gone_on_with(name: str, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", STREAM, name], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\nwritten\nafter\n"


@pytest.mark.skipif(as_root, reason="nothing is forbidden to root")
def test_without_permission_for_folder_or_file_it_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    (tmp_path / "read-only").write_text("mine")
    (tmp_path / "read-only").chmod(0o400)
    for path in (closed / "f", tmp_path / "read-only"):
        with pytest.raises(UnwritableError, match="Permission denied"):
            write_bytes(path, b"x")
        with pytest.raises(UnwritableError, match="Permission denied"):
            check_writable(path)
    assert (tmp_path / "read-only").read_text() == "mine"


def test_a_check_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "f", tmp_path / "new", tmp_path / "pipe", Path(os.devnull)):
        check_writable(path)  # of a pipe nobody reads it: opened, it would wait
    assert {path.name for path in tmp_path.iterdir()} == {"f", "pipe"}
    assert (tmp_path / "f").read_text() == "old"


def test_a_file_that_must_be_new_replaces_none_not_even_one_that_comes_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("mine")
    with pytest.raises(UnwritableError, match="old exists, expected a new file: nothing was written"):
        write_lines(tmp_path / "old", ["x"], new=True)
    with (  # noqa: PT012  # the refusal comes at the end of the write
        pytest.raises(UnwritableError, match="late exists"),
        written(tmp_path / "late", new=True) as file,
    ):
        file.write(b"x")
        (tmp_path / "late").write_text("theirs")
    write_lines(tmp_path / "new", ["x"], new=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old": "mine", "late": "theirs", "new": "x"}


def test_what_stands_there_is_refused_where_a_new_file_is_wanted_and_a_stream_is_none(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    for taken in (tmp_path, tmp_path / "link"):
        with pytest.raises(UnwritableError, match="exists, say please: nothing was written"):
            check_absent(taken, "say please")
    for free in (tmp_path / "new", Path(os.devnull), Path("/dev/stdout")):
        check_absent(free)
    assert [is_stream(path) for path in (tmp_path, tmp_path / "new", Path(os.devnull))] == [False, False, True]


def test_who_reads_no_more_is_a_broken_pipe_and_no_failed_write(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with pytest.raises(BrokenPipeError):
            write_bytes(Path(f"/dev/fd/{writing}"), b"x")
    finally:
        os.close(writing)


@given(st.lists(st.text(st.characters())))
def test_any_text_can_be_written_halves_of_pairs_as_escapes(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "f"
    write_lines(path, lines)
    whole = "".join(lines)
    assert path.read_bytes().decode() == whole.encode("utf-8", "backslashreplace").decode()
