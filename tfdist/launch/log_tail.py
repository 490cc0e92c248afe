"""Following logs: what is added to files, line by line."""

from __future__ import annotations

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
            found += [(task, line) for line in self._added(task, file)]
        return found

    def _added(self, task: str, file: Path) -> list[str]:
        begin, size = self._read[task], _size(file)
        if size < begin:  # another file of the name
            begin = 0
        if size == begin:
            return []
        with file.open("rb") as opened:
            opened.seek(begin)
            text = opened.read(size - begin)
        whole, end, _ = text.rpartition(b"\n")  # a line that is half written waits
        self._read[task] = begin + len(whole) + len(end)
        return whole.decode(errors="replace").splitlines()


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
