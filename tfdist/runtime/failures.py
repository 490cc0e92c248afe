"""What a kernel raised, as an error that names its node."""

from __future__ import annotations

import re

from tfdist.errors import InvalidArgumentError, OpError, ResourceExhaustedError, UnknownError
from tfdist.graph.records import COPY, RECEIVES, SENDS, Node
from tfdist.runtime.run import Run

# What NumPy and Python raise in kernels, as the class that TensorFlow's kernels would use.
_KERNEL_ERRORS: list[tuple[type[BaseException], type[OpError]]] = [
    (MemoryError, ResourceExhaustedError),
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
    (IndexError, InvalidArgumentError),
    (ArithmeticError, InvalidArgumentError),
    (Exception, UnknownError),
]

_UNFIT = "operands could not be broadcast together with shapes "  # NumPy's words
_SHAPE = re.compile(r"\(([\d,]*?),?\)")
_RECEIVED = re.compile(r"(_ctrl)?_S\d+$")  # what partitioning adds to a name


def at_node(error: Exception, run: Run, unit: int) -> OpError:
    """Return `error` as one of ours, with the node that raised it."""
    node = _raiser(error, run, unit)
    if not isinstance(error, OpError):
        kind = next(ours for theirs, ours in _KERNEL_ERRORS if isinstance(error, theirs))
        wrapped = kind(_unfit(error) or f"{node.op} failed: {error or type(error).__name__}")
        wrapped.__cause__ = error
        error = wrapped
    return error.at_node(_known_name(node), node.device)


def _unfit(error: Exception) -> str:
    """Return what TensorFlow says where NumPy says that shapes do not fit, "" elsewhere."""
    words, _, shown = str(error).partition(_UNFIT)
    if words or not shown:
        return ""
    return f"Incompatible shapes: {' vs. '.join(f'[{each}]' for each in _SHAPE.findall(shown))}"


def _known_name(node: Node) -> str:
    """Return the name of the node that the user knows: of a transfer, what is transferred."""
    if node.op in SENDS:
        return node.inputs[0][0]
    return _RECEIVED.sub("", node.name) if node.op in (*RECEIVES, COPY) else node.name


def _raiser(error: Exception, run: Run, unit: int) -> Node:
    program = run.program
    if program.waits[unit]:
        return program.nodes[unit][0]
    lines = program.lines[unit]
    if not lines.file:
        return run.node or program.nodes[unit][0]
    raiser, trace = program.nodes[unit][-1], error.__traceback__
    while trace is not None:  # to the innermost loop
        if trace.tb_frame.f_code.co_filename == lines.file:
            raiser = lines.nodes[trace.tb_lineno]
        trace = trace.tb_next
    return raiser
