"""How a master of ours tells a worker of ours to run its part of a step, and to forget it.

They are sent for each task in each step, and their protos would take longer to write and read than
all else about them: a RunGraphRequest is here the step's number, the length of the session's
handle, that handle, and the partition's; a CleanupGraphRequest is the step's number. Steps that are
traced, and tasks of TensorFlow, get the protos.
"""

from __future__ import annotations

import struct

from tfdist.errors import InvalidArgumentError

_RUN = struct.Struct("<QH")
_END = struct.Struct("<Q")


def run_message(step_id: int, session: str, graph: str) -> bytes:
    """Return the message that a partition is to run.

    Args:
      step_id: of the step.
      session: handle of the session.
      graph: handle of the partition.
    """
    handle = session.encode()
    return _RUN.pack(step_id, len(handle)) + handle + graph.encode()


def run_of(message: memoryview) -> tuple[int, str, str]:
    """Return step, session and partition of a message; InvalidArgumentError if it is none."""
    try:
        step_id, length = _RUN.unpack_from(message)
        end = _RUN.size + length
        return step_id, str(message[_RUN.size : end], "utf-8"), str(message[end:], "utf-8")
    except (struct.error, UnicodeDecodeError) as error:
        raise InvalidArgumentError(f"a message to run a partition is broken: {error}") from None


def end_message(step_id: int) -> bytes:
    """Return the message that a step is over."""
    return _END.pack(step_id)


def end_of(message: memoryview) -> int:
    """Return the step of a message that it is over; InvalidArgumentError if it is none."""
    try:
        return int(_END.unpack(message)[0])
    except struct.error as error:
        raise InvalidArgumentError(f"a message that a step is over is broken: {error}") from None
