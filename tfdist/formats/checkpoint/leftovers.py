"""What processes that died in a save have left: temporary files, and folders of parts.

A save writes NAME.tempstate-MARK for each NAME of its checkpoint, with one mark, and the index as
the last of them. When all are on the disk, the data get their names one by one, then the index. A
process that dies before that has written nothing that counts: its files are removed. One that dies
in between has lost the old checkpoint, if it was to be overwritten, but the new one is all there:
whoever reads it takes what has the mark (`unfinished`), and the next save gives it its names.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress

from tfdist.errors import OpError
from tfdist.formats.checkpoint.files import FileSource, data_name, index_name
from tfdist.formats.checkpoint.sstable import Table
from tfdist.formats.files import local_path
from tfdist.protos import pb

_TEMPORARY = re.compile(  # TensorFlow's have no hyphen, and no locks
    r"(?P<name>.*)(?P<ending>\.tempstate-[0-9a-f]{32})$", re.DOTALL
)
_PARTS = re.compile(r"(?P<name>.*)_temp_[0-9a-f]{32}$", re.DOTALL)
_STEP = re.compile(r"-\d+$")
_PART = re.compile(
    r"part-\d{5}-of-\d{5}\.(index|data-\d{5}-of-\d{5})"
    r"(\.tempstate(-[0-9a-f]{32}|(?P<foreign>\d+)))?$"
)
_LONG = 3600.0  # seconds


# files


def tidy(folder: str) -> None:
    """Remove temporary files of saves that are over; finish those that were about to be."""
    found: dict[str, list[str]] = {}
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for each in entries:
            match = _TEMPORARY.match(each.name)
            if match:
                found.setdefault(match["ending"], []).append(os.path.join(folder, match["name"]))
    for ending, names in found.items():
        with suppress(OSError), ExitStack() as stack:
            _lock(stack, [name + ending for name in names])
            _end_save(sorted(names), ending)


def _lock(stack: ExitStack, paths: Iterable[str]) -> None:
    """Lock files while the stack lasts; OSError if somebody writes one of them."""
    for path in paths:
        fcntl.flock(stack.enter_context(open(path, "rb")), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _end_save(names: list[str], ending: str) -> None:
    """Give the files of a save their names, if that was begun, else remove them."""
    for name in names:
        prefix = name.removesuffix(".index")
        if prefix != name and unfinished(prefix) == ending:
            for each in sorted(names, key=name.__eq__):  # the index last
                os.replace(each + ending, each)
            return
    for name in sorted(names, key=lambda each: not each.endswith(".index")):  # the index first
        os.unlink(name + ending)


def unfinished(prefix: str) -> str:
    """Return the ending of the files of a save that has begun to give them their names, or "".

    What has no such ending any more has its name.
    """
    path = local_path(index_name(prefix))
    folder, start = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            names = [each.name for each in entries if each.name.startswith(f"{start}.tempstate-")]
    except OSError:
        return ""
    endings = [name[len(start) :] for name in names if _TEMPORARY.match(name)]
    return next((each for each in endings if _is_begun(prefix, path, each)), "")


def _is_begun(prefix: str, index: str, ending: str) -> bool:
    """Return whether a file of data of a save has its name, and the index does not, but could."""
    try:
        with FileSource(index + ending) as source:
            shards = pb.parse(pb.BundleHeaderProto, Table(source).get(b"") or b"").num_shards
        data = [local_path(data_name(prefix, shard, shards)) for shard in range(shards)]
        if all(os.path.exists(each + ending) for each in data):
            return False
        # an index that somebody put there since does not belong to these data
        return (
            not os.path.exists(index) or os.stat(index).st_mtime <= os.stat(index + ending).st_mtime
        )
    except (OpError, OSError, ValueError):  # it was not complete, or it is done by now
        return False


# folders


def remove_parts(destination: str, now: float | None = None) -> None:
    """Remove folders of parts that nobody will merge: those of the same checkpoint.

    Those of other checkpoints of its series go when nobody has touched them for long: another one
    may be saved at this moment.

    Args:
      destination: prefix of a checkpoint that was merged just now.
      now: the time, in seconds since the epoch.
    """
    folder, name = os.path.split(local_path(destination))
    moment = time.time() if now is None else now
    with suppress(OSError), os.scandir(folder or ".") as entries:
        matches = [(each.path, _PARTS.match(each.name)) for each in entries]
        for path, match in matches:
            if match and _series(match["name"]) == _series(name):
                with suppress(OSError):
                    _remove_folder(path, 0.0 if match["name"] == name else _LONG, moment)


def _series(name: str) -> str:
    """Return the name of a checkpoint without its step."""
    return _STEP.sub("", name)


def _remove_folder(folder: str, age: float, now: float) -> None:
    """Remove a folder of parts, unless one is being written, or it is not so old."""
    names = os.listdir(folder)
    paths = [os.path.join(folder, name) for name in names]
    matches = [_PART.match(name) for name in names]
    if not all(matches):
        return
    if any(match and match["foreign"] for match in matches):
        age = _LONG  # TensorFlow may be writing, who knows no locks
    if now - max(os.stat(each).st_mtime for each in [folder, *paths]) < age:
        return
    with ExitStack() as stack:
        _lock(stack, paths)
        for path in paths:
            os.unlink(path)
        os.rmdir(folder)
