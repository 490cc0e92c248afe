"""The folder of a listener's socket: closed to other users, and gone with its process.

A process that was killed cannot remove its own; the next listener of the user does that.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import tempfile
from pathlib import Path

_PREFIX, _SOCKET = "tfdist-side-", "socket"  # names of folder and socket
_LONGEST_PLACE = 75  # bytes; a socket's whole path may have 103 on some systems


def make_folder() -> str:
    """Return a new folder that only this user can enter, with a short path.

    Raises:
      OSError: there is no place for one.
    """
    places = [os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"]
    for place in places:
        if os.path.isabs(place) and len(os.fsencode(place)) < _LONGEST_PLACE:
            _remove_dead(Path(place))
            try:
                return tempfile.mkdtemp(prefix=_PREFIX, dir=place)
            except OSError:
                continue
    raise OSError(errno.ENOENT, f"no folder for a socket can be made in any of {places}")


def listen(folder: str, backlog: int, listening: socket.socket) -> str:
    """Let a socket listen in `folder` and return its path.

    It gets its name when it listens: one that does not is taken for dead.

    Raises:
      OSError: that is not possible.
    """
    before, path = os.path.join(folder, "new"), os.path.join(folder, _SOCKET)
    listening.bind(before)
    listening.listen(backlog)
    os.rename(before, path)
    return path


def _remove_dead(place: Path) -> None:
    """Remove what processes that were killed have left."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            is_ours = folder.lstat().st_uid == os.geteuid()
            if is_ours and stat.S_ISSOCK((folder / _SOCKET).lstat().st_mode):
                _remove_if_dead(folder)
        except OSError:
            pass  # gone, or none of a socket


def _remove_if_dead(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(folder / _SOCKET))
        except ConnectionRefusedError:
            shutil.rmtree(folder, ignore_errors=True)


def remove_folder(folder: str, listening: socket.socket) -> None:
    """Close a socket and remove its folder; nobody is told if that fails."""
    listening.close()
    shutil.rmtree(folder, ignore_errors=True)
