"""The errors of what does not fit into memory: what was wanted, what there is, what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tfdist.base import dtypes
from tfdist.base.aliases import TensorValue
from tfdist.base.dtypes import DTypeLike
from tfdist.base.room import ROOM
from tfdist.errors import ResourceExhaustedError
from tfdist.runtime.resources.memory_limit import VARIABLE, size_text

# What TensorFlow's messages call types that have other names in Python.
_NAMES = {"float32": "float", "float64": "double", "float16": "half"}
_LARGE_FEED = 1 << 30  # bytes: feeds are not looked at where more than that is left
ADVICE = (
    "take less at a time (a smaller batch, parts in several steps), use another server, or start "
    f"this one with a higher --memory-limit ({VARIABLE})"
)


def array_text(shape: Sequence[int], dtype: DTypeLike, device: str, allocator: str = "cpu") -> str:
    """Return what TensorFlow says of a tensor that does not fit.

    Example:
      >>> array_text((2, 3), "float32", "/device:CPU:0")
      'OOM when allocating tensor with shape[2,3] and type float on /device:CPU:0 by allocator cpu'
    """
    name = _type_name(dtype)
    return (
        f"OOM when allocating tensor with shape[{','.join(map(str, shape))}] and type "
        f"{name} on {device} by allocator {allocator}"
    )


def _type_name(dtype: DTypeLike) -> str:
    try:
        name = dtypes.as_dtype(dtype).name
    except TypeError:  # one that tensors do not have
        return str(dtype)
    return _NAMES.get(name, name)


def out_of_memory(error: MemoryError, op: str, device: str) -> ResourceExhaustedError:
    """Return the error of a kernel that got no memory.

    Args:
      error: what it raised; NumPy's, and our own, know of which array.
      op: its node's.
      device: its node's.
    """
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is None or dtype is None:
        return ResourceExhaustedError(f"OOM when running {op} on {device}: {error}; {ADVICE}")
    size = dtype.itemsize
    for dim in shape:
        size *= int(dim)
    return ResourceExhaustedError(
        f"{array_text(shape, dtype, device)}: it takes {size_text(size)}, and {left_text()}; "
        f"{ADVICE}"
    )


def left_text() -> str:
    """Return how much memory this process may still take."""
    if ROOM.limit == math.inf:
        return "the system has not so much"
    return (
        f"of the {size_text(ROOM.limit)} that this process may have {size_text(ROOM.bytes)} are "
        "left"
    )


def no_room(length: int) -> ResourceExhaustedError:
    """Return the error of a message of so many bytes that was dropped when it arrived."""
    return ResourceExhaustedError(
        f"a message of {size_text(length)} had no room in the process that it came to: "
        f"{left_text()}; {ADVICE}"
    )


def step_too_large(held: int, used: int, limit: float, is_own: bool) -> ResourceExhaustedError:
    """Return the error of a step that is ended because it holds too much.

    Args:
      held: bytes that it is known to hold.
      used: bytes that the process has.
      limit: bytes that the step may hold, or the process may have.
      is_own: whether the limit is for each step.
    """
    if is_own:
        why = f"this step holds {size_text(held)}, and one step may hold {size_text(limit)}"
    else:
        why = (
            f"this process has {size_text(used)}, and may have {size_text(limit)}; of what runs, "
            f"this step holds most, at least {size_text(held)}"
        )
    return ResourceExhaustedError(f"OOM: the step was stopped: {why}; {ADVICE}")


def check_growth(what: str, name: str) -> None:
    """Raise ResourceExhaustedError if what outlives steps may not grow now.

    Args:
      what: that is to grow, such as "queue".
      name: its name.
    """
    if ROOM.is_short and ROOM.look is not None:
        ROOM.look()  # what was freed counted, too
    if ROOM.is_short:
        raise ResourceExhaustedError(
            f"OOM when adding to {what} {name!r}: its process has the {size_text(ROOM.limit)} that "
            f"it may have. Take elements out, bound its capacity, or start the server with a "
            f"higher --memory-limit ({VARIABLE})"
        )


def check_fed(names: Iterable[str], values: Sequence[TensorValue]) -> None:
    """Raise ResourceExhaustedError if what was fed cannot stay in memory for a step.

    Args:
      names: of the tensors.
      values: that they are fed.
    """
    if not ROOM.is_short and ROOM.bytes > _LARGE_FEED:
        return
    sizes = {name: _size_of(value) for name, value in zip(names, values, strict=True)}
    total = sum(sizes.values())
    if not ROOM.has(total):
        largest = max(sizes, key=lambda name: sizes[name])
        raise ResourceExhaustedError(
            f"OOM when feeding {largest}: what is fed takes {size_text(total)}, and {left_text()}; "
            f"{ADVICE}"
        )


def message_too_large(address: str, size: int, limit: int) -> ResourceExhaustedError:
    """Return the error of a message that a server does not read.

    Args:
      address: of the server.
      size: bytes of the message.
      limit: bytes that the server may have in memory.
    """
    return ResourceExhaustedError(
        f"OOM when sending to {address}: the message takes {size_text(size)}, and the server there "
        f"may have {size_text(limit)}; {ADVICE}"
    )


def _size_of(value: TensorValue) -> int:
    return int(getattr(value, "nbytes", 0))
