"""Errors in cells: the user's own lines, the line that made the node, and what to do next.

IPython asks a handler of ours first (`set_custom_exc`), which leaves the showing to IPython again:
with a traceback of which our frames are left out, and with a note at the error. An error that our
code did not mean to raise keeps all of its frames: they are what its report needs.
"""

from __future__ import annotations

import dis
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from tfdist.errors import InternalError, OpError
from tfdist.jupyter import cells
from tfdist.jupyter.error_notes import notes_of
from tfdist.jupyter.watch import waits
from tfdist.runtime.step.interrupts import ask_at_interrupts

_PACKAGE = str(Path(__file__).resolve().parent.parent) + "/"
_LIBRARIES = tuple(
    {f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_RAISES = {"RAISE_VARARGS", "RERAISE"}

_UNDO = "_tfdist_undo_errors"  # attribute of a shell: puts back what was there before


def register(shell: Any) -> None:
    """Let errors in the cells of `shell` be shown as this module says."""
    if hasattr(shell, _UNDO):
        return
    before, show_before = shell.custom_exceptions, shell.CustomTB
    ask_no_more = ask_at_interrupts(waits)

    def show(
        shell: Any, kind: type, error: BaseException, frames: Any, tb_offset: Any = None
    ) -> list[str]:
        if isinstance(error, before):
            return show_before(kind, error, frames, tb_offset)  # type: ignore[no-any-return]
        shown = kind, error, _prepared(error, frames)
        # without frames, IPython shows the code that is no Python, and where
        is_compiled = not _is_of_code(error, list(_each(frames)))
        shell.showtraceback(shown, tb_offset=tb_offset, running_compiled_code=is_compiled)
        return []

    def undo() -> None:
        ask_no_more()
        if shell.CustomTB is ours:  # else somebody has put a handler in its place
            shell.custom_exceptions, shell.CustomTB = before, show_before

    shell.set_custom_exc((Exception, KeyboardInterrupt), show)
    ours = shell.CustomTB
    setattr(shell, _UNDO, undo)


def unregister(shell: Any) -> None:
    """Undo `register`."""
    undo = vars(shell).pop(_UNDO, None)
    if undo is not None:
        undo()


def _prepared(error: BaseException, frames: TracebackType | None) -> TracebackType | None:
    """Add notes to `error`, and return the frames to show; whatever fails, the error is shown."""
    try:
        found = list(_each(frames))
        if not any(_is_ours(each) for each in found):
            return frames
        kept = _kept(found) if _is_meant(error, found[-1]) else found
        last = kept[-1]
        for note in notes_of(error, (_file_of(last), last.tb_lineno)):
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
        return _chained(kept)
    except Exception:
        return frames


def _kept(frames: list[TracebackType]) -> list[TracebackType]:
    """Return the first frame, which is IPython's, and those of the user's own code.

    Args:
      frames: from the outside to where the error was raised.
    """
    kept: list[TracebackType] = []
    is_inside = False
    for each in frames:
        ours = _is_ours(each)
        is_inside = is_inside or ours
        if not ours and not (is_inside and _is_library(each)):
            kept.append(each)
    return kept


def _chained(frames: list[TracebackType]) -> TracebackType | None:
    chain = None
    for each in reversed(frames):
        chain = TracebackType(chain, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return chain


def _each(frames: TracebackType | None) -> Iterator[TracebackType]:
    while frames is not None:
        yield frames
        frames = frames.tb_next


def _file_of(frame: TracebackType) -> str:
    return frame.tb_frame.f_code.co_filename


def _is_of_code(error: BaseException, frames: list[TracebackType]) -> bool:
    """Return whether the code of a magic is no Python."""
    reads = any(_file_of(each) == cells.__file__ for each in frames[-2:])
    return isinstance(error, SyntaxError) and reads


def _is_ours(frame: TracebackType) -> bool:
    return _file_of(frame).startswith(_PACKAGE)


def _is_library(frame: TracebackType) -> bool:
    file = _file_of(frame)
    is_code = file.startswith("<") and not file.startswith("<ipython-input")
    return is_code or file.startswith(_LIBRARIES)


def _is_meant(error: BaseException, last: TracebackType) -> bool:
    """Return whether it is the user's error: ours are told by where they come from."""
    if isinstance(error, InternalError):
        return False
    if isinstance(error, OpError | KeyboardInterrupt):
        return True
    if _is_ours(last):
        return dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] in _RAISES
    return not _is_library(last)
