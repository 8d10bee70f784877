from pathlib import Path

import pytest

from genie_inspect.files import folders as networks
from genie_inspect.files.folders import network_file_system


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a share in it, another with a space in its name, and a local disk inside the share."""
    mounts = tmp_path / "mounts"
    place = tmp_path.resolve()
    mounts.write_text(
        f"/dev/sda1 / ext4 rw 0 0\nserver:/home {place}/home nfs4 rw 0 0\n"
        f"server:/b {place}/two\\040words fuse.sshfs rw 0 0\n/dev/sdb1 {place}/home/scratch xfs rw 0 0\nodd\n"
        f"server:/c {place}/covered nfs rw 0 0\n/dev/sdc1 {place}/covered ext4 rw 0 0\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(networks, "MOUNTS", mounts)
    return place


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("home", "nfs4"),
        ("home/me/not/yet/there", "nfs4"),
        ("two words/x", "fuse.sshfs"),
        ("homes", ""),
        ("home/scratch/x", ""),
        ("covered/x", ""),
        ("elsewhere", ""),
    ],
)
def test_a_path_stands_on_the_last_and_deepest_mount_above_it(mounted: Path, path: str, kind: str) -> None:
    assert network_file_system(mounted / path) == kind


def test_a_link_stands_where_it_points(mounted: Path) -> None:
    (mounted / "home").mkdir()
    (mounted / "link").symlink_to(mounted / "home")
    assert network_file_system(mounted / "link" / "x") == "nfs4"


def test_where_nobody_says_what_is_mounted_nothing_is_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "MOUNTS", tmp_path / "none")
    assert network_file_system(tmp_path) == ""
