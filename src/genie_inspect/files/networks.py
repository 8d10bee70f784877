"""Whether a folder stands on a network file system, where SQLite's locks and shared memory do not reach."""

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/mounts")
NETWORKED = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fhgfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4"}
    | {"ocfs2", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "wekafs"}
    | {"fuse.glusterfs", "fuse.juicefs", "fuse.s3fs", "fuse.sshfs"}
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_file_system(path: Path) -> str:
    """The kind of network file system that a path stands on; empty where it is none, or nobody says.

    Args:
        path: A file or folder, which need not be there yet.
    """
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # another system than Linux
        return ""
    real, kind, longest = os.path.realpath(path), "", 0
    for fields in map(str.split, lines):
        # a space in a path stands there as \040
        place = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[1]) if len(fields) > 2 else ""
        within = place and (real == place or real.startswith(place.rstrip("/") + "/"))
        # of two mounts on one place the later one covers the earlier
        if within and len(place) >= longest:
            kind, longest = fields[2], len(place)
    return kind if kind in NETWORKED else ""
