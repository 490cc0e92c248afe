"""The folder of an identity: its files may be replaced while they are used."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tfdist.errors import InvalidArgumentError, OpError, PermissionDeniedError
from tfdist.wire.common.identity import FILES, KEY, Identity

_ROOT = 0
_REPLACING = 5.0  # seconds that replacing the files of an identity may take


class IdentityFolder:
    """The files of an identity; they are read again when they change.

    Args:
      path: of the folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: list[_Version | None] = []  # what the files were that were looked at last
        self._identity: Identity | None = None

    def identity(self) -> Identity:
        """Return what is there; or what was there before, as long as that is of no use."""
        seen = [_version(self._path / name) for name in FILES]
        if self._identity is None:
            self._identity = read_identity(self._path)
        elif seen != self._seen:
            try:
                self._identity = read_identity(self._path)
            except OpError as error:
                if _is_fresh(seen):  # they are replaced now, one after the other
                    return self._identity
                print(f"tfdist: {error.message}. The one before stays in use", file=sys.stderr)
        self._seen = seen
        return self._identity


def read_identity(folder: Path) -> Identity:
    """Return the identity whose files are in a folder.

    Raises:
      InvalidArgumentError: a file is missing, or they are of no use.
      PermissionDeniedError: others may read the key.
    """
    try:
        _check_private(folder / KEY)
        return Identity(*((folder / name).read_bytes() for name in FILES))
    except OSError as error:
        wrong = f"{error.filename}: {error.strerror}"
    except InvalidArgumentError as error:
        wrong = error.message
    raise InvalidArgumentError(
        f"the certificate in {folder} is of no use: {wrong}. Wanted are {', '.join(FILES)}, as "
        "`tfdist certificates` writes them"
    )


def _check_private(key: Path) -> None:
    found = key.stat()
    if not is_private(found.st_mode, found.st_uid, os.geteuid()):
        raise PermissionDeniedError(f"others may read {key}: chmod 600 {key}")


def is_private(mode: int, owner: int, user: int) -> bool:
    """Return whether nobody but `user` and root may read a file.

    Args:
      mode: of the file.
      owner: of the file. What root gives to another user is his by its group, as in a pod.
      user: who reads it.
    """
    others = stat.S_IRWXO if owner == _ROOT != user else stat.S_IRWXO | stat.S_IRWXG
    return not mode & others


class _Version(NamedTuple):
    """What differs when a file is replaced or written."""

    inode: int
    size: int
    written: float  # seconds since 1970


def _version(path: Path) -> _Version | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Version(found.st_ino, found.st_size, max(found.st_mtime, found.st_ctime))


def _is_fresh(files: Iterable[_Version | None]) -> bool:
    return any(each is None or time.time() - each.written < _REPLACING for each in files)
