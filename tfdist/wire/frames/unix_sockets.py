"""Unix sockets: where processes of one user on one host call each other, and share memory.

Both ends ask the system who is at the other one. Linux has names for sockets besides those of files
(abstract ones): they belong to a network namespace, as ports do, and go with their sockets. So a
server has one that its address tells (`name_at`), and needs not be asked for it.

Elsewhere, and where such a name is taken, the socket is in a folder that is closed to other users,
and who listens says by gRPC where (`Hello`). The folder goes with its process; one that was killed
cannot remove its own: the next listener of the user does that.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import socket
import stat
import struct
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

from tfdist.errors import PermissionDeniedError, UnavailableError
from tfdist.wire.common.security import LOOPBACK, trusted_peer
from tfdist.wire.frames.streams import Stream, UnixStream

_BACKLOG = 4096  # the system may allow less
_PREFIX, _SOCKET = "tfdist-side-", "socket"  # names of folder and socket
_LONGEST_PLACE = 75  # bytes; a socket's whole path may have 103 on some systems
_ABSTRACT = "@"  # begins the names that are none of files, as `ss` and `lsof` write them


class UnixPlace:
    """A new socket at which other processes of this user call (`server.Place`).

    Args:
      name: that it is to have (see `name_at`); it gets another one if that is taken, or "".

    Attributes:
      path: of the socket, or its name.

    Raises:
      OSError: no socket can be made.
    """

    def __init__(self, name: str = "") -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        is_named = bool(name) and _has_name(self.socket, name)
        try:
            folder = "" if is_named else _make_folder()
        except BaseException:
            self.socket.close()
            raise
        self._remove = weakref.finalize(self, _remove_folder, folder, self.socket)
        try:
            self.path = name if is_named else _listen_in(folder, self.socket)
            self.socket.setblocking(False)
        except BaseException:
            self._remove()
            raise

    def __str__(self) -> str:
        return self.path

    def admit(self, accepted: socket.socket, ready: Callable[[Stream], None]) -> None:
        """See `server.Place`."""
        try:
            stream = _stream(accepted, is_caller=False)
        except PermissionDeniedError:
            return
        ready(stream)

    def end(self) -> None:
        """See `server.Place`."""

    def close(self) -> None:
        """See `server.Place`."""
        self._remove()

    def abandon(self) -> None:
        """See `server.Place`."""
        self._remove.detach()
        self.socket.close()


class UnixPath:
    """The way to a socket (`client.Way`).

    Args:
      path: of the socket, or its name.
      is_patient: whether to wait a moment where many connect at once.
    """

    def __init__(self, path: str, is_patient: bool = True) -> None:
        self.path = path
        self._is_patient = is_patient

    def __str__(self) -> str:
        return self.path

    def connect(self) -> Stream:
        """Return a new connection; see `client.Way`."""
        connecting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # how long a full queue is waited for
            connecting.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 1, 0))
            connecting.setblocking(self._is_patient)
            connecting.connect(_as_system_has_it(self.path))
            return _stream(connecting, is_caller=True)
        except PermissionDeniedError as error:
            raise UnavailableError(str(error)) from None
        except BaseException:
            connecting.close()
            raise


def name_at(address: str, host: str) -> str:
    """Return the name of the socket of the server at an address; "" if it has none.

    Args:
      address: "HOST:PORT"; only this host's loopback interface has such names.
      host: what tells this host and its files from others (`common.host.this_host`): who has other
        files cannot use all that is told here.
    """
    if sys.platform != "linux" or address.rpartition(":")[0] != LOOPBACK:
        return ""
    return f"{_ABSTRACT}tfdist {address} {hashlib.sha256(host.encode()).hexdigest()[:16]}"


def _as_system_has_it(path: str) -> str:
    return f"\0{path[1:]}" if path.startswith(_ABSTRACT) else path


def _has_name(listening: socket.socket, name: str) -> bool:
    """Let a socket listen by a name; return whether it does."""
    try:
        listening.bind(_as_system_has_it(name))
        listening.listen(_BACKLOG)
    except OSError:
        return False
    return True


def _stream(sock: socket.socket, is_caller: bool) -> Stream:
    """Return the stream of a socket, which is closed if it is of no use.

    Raises:
      PermissionDeniedError: the other end is another user's.
      OSError: it does not work.
    """
    try:
        return UnixStream(sock, trusted_peer(sock, is_caller))
    except BaseException:
        sock.close()
        raise


def _make_folder() -> str:
    """Return a new folder that only this user can enter, with a short path.

    Raises:
      OSError: there is no place for one.
    """
    places = [os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"]
    for place in places:
        if os.path.isabs(place) and len(os.fsencode(place)) < _LONGEST_PLACE:
            _remove_dead(Path(place))
            try:
                return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place)
            except OSError:
                continue
    raise OSError(errno.ENOENT, f"no folder for a socket can be made in any of {places}")


def _listen_in(folder: str, listening: socket.socket) -> str:
    """Let a socket listen in `folder` and return its path.

    It gets its name when it listens: one that does not is taken for dead.

    Raises:
      OSError: that is not possible.
    """
    before, path = os.path.join(folder, "new"), os.path.join(folder, _SOCKET)
    listening.bind(before)
    listening.listen(_BACKLOG)
    os.rename(before, path)
    return path


def _remove_dead(place: Path) -> None:
    """Remove what processes that were killed have left.

    Nobody calls a socket whose process is seen to live: a hundred that start would call each other.
    """
    for folder in place.glob(f"{_PREFIX}*"):
        if _is_alive(folder.name.removeprefix(_PREFIX).partition("-")[0]):
            continue
        try:
            is_ours = folder.lstat().st_uid == os.geteuid()
            if is_ours and stat.S_ISSOCK((folder / _SOCKET).lstat().st_mode):
                _remove_if_dead(folder)
        except OSError:
            pass  # gone, or none of a socket


def _is_alive(pid: str) -> bool:
    """Return whether a process of that number is seen here; another container's is not."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OSError):
        return False
    return True


def _remove_if_dead(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(folder / _SOCKET))
        except ConnectionRefusedError:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_folder(folder: str, listening: socket.socket) -> None:
    """Close a socket and remove its folder, if it has one; nobody is told if that fails."""
    listening.close()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
