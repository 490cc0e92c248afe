"""Following logs: what is added to files, line by line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tfdist.launch.server_process import last_lines


class LogTail:
    """What is added to logs from now on, after their last lines.

    Args:
      files: by task.
      lines: of each that are told first.
    """

    def __init__(self, files: Mapping[str, Path], lines: int) -> None:
        self._files = files
        self._read = {task: _size(file) for task, file in files.items()}
        self._first = {task: last_lines(file, lines) for task, file in files.items()}

    def more(self) -> list[tuple[str, str]]:
        """Return (task, line) of each line that was added since the last time."""
        found = [(task, line) for task, lines in self._first.items() for line in lines]
        self._first = {}
        for task, file in self._files.items():
            lines, self._read[task] = added_lines(file, self._read[task])
            found += [(task, line) for line in lines]
        return found


def added_lines(file: Path, begin: int, most: int = sys.maxsize) -> tuple[list[str], int]:
    """Return the whole lines that a file has after the byte `begin`, and where the next ones begin.

    Args:
      file: it need not be there.
      begin: where lines begin that were not read yet.
      most: bytes to read at once; a line that is longer is left out.
    """
    size = _size(file)
    if size < begin:  # another file of the name
        begin = 0
    if size == begin:
        return [], begin
    with file.open("rb") as opened:
        opened.seek(begin)
        text = opened.read(min(size - begin, most))
    whole, end, _ = text.rpartition(b"\n")  # a line that is half written waits
    if not end and len(text) == most:
        return [], begin + most
    return whole.decode(errors="replace").splitlines(), begin + len(whole) + len(end)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
