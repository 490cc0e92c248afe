"""What a kernel raised, as an error that names its node."""

from __future__ import annotations

import dis
import re
from types import FrameType

from tfdist.base.aliases import TensorValue
from tfdist.errors import InternalError, InvalidArgumentError, OpError
from tfdist.graph.records import COPY, RECEIVES, SENDS, Node
from tfdist.graph.refusals import described, refusal
from tfdist.runtime.resources.exhausted import out_of_memory
from tfdist.runtime.step.run import Run

# What NumPy and Python raise in kernels, as the class that TensorFlow's kernels would use: inputs
# that nobody thought of are wrong arguments, all else is a fault of the kernel.
_KERNEL_ERRORS: list[tuple[type[BaseException], type[OpError]]] = [
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
    (IndexError, InvalidArgumentError),
    (ArithmeticError, InvalidArgumentError),
    (AttributeError, InvalidArgumentError),
    (Exception, InternalError),
]

_RAISE = dis.opmap["RAISE_VARARGS"]
_UNFIT = "operands could not be broadcast together with shapes "  # NumPy's words
_SHAPE = re.compile(r"\(([\d,]*?),?\)")
_RECEIVED = re.compile(r"(_ctrl)?_S\d+$")  # what partitioning adds to a name


def at_node(error: Exception, run: Run, unit: int) -> OpError:
    """Return `error` as one of ours, with the node that raised it."""
    node, frame = _raiser(error, run, unit)
    if not isinstance(error, OpError):
        error = _as_ours(error, node, _inputs(node, run, unit, frame))
    return error.at_node(_known_name(node), node.device)


def _as_ours(error: Exception, node: Node, inputs: list[TensorValue]) -> OpError:
    """Return what a kernel raised in our words: those of Python and NumPy help nobody."""
    if isinstance(error, MemoryError):
        exhausted = out_of_memory(error, f"{node.op} of {described(inputs)}", node.device)
        exhausted.__cause__ = error.with_traceback(None)  # which holds the kernel's arrays
        return exhausted
    kind = next(ours for theirs, ours in _KERNEL_ERRORS if isinstance(error, theirs))
    about = f"{node.op} of {described(inputs)}"
    if _is_deliberate(error):
        text = f"{node.op} failed: {error or type(error).__name__}"
    elif kind is InternalError:
        text = f"{about} failed: its kernel raised {type(error).__name__}"
    else:
        text = _unfit(error) or refusal(node.op_def, node.attrs, inputs)
    ours = kind(text or f"{about} cannot be computed: no {node.op} takes these inputs")
    ours.__cause__ = error
    return ours


def _is_deliberate(error: BaseException) -> bool:
    """Return whether a `raise` of a kernel's own made `error`, whose words then mean something."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_globals.get("__name__", "").startswith("numpy"):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def _inputs(node: Node, run: Run, unit: int, frame: FrameType | None) -> list[TensorValue]:
    """Return the inputs of `node` when its kernel failed, as far as they are still there."""
    names = frame.f_globals if frame is not None else {"read": lambda variable: variable}
    values = frame.f_locals if frame is not None else {"v": run.values}
    try:
        return [eval(each, names, values) for each in run.program.lines[unit].operands[node.name]]
    except Exception:  # a value has been dropped: it only adds to an error
        return []


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


def _raiser(error: Exception, run: Run, unit: int) -> tuple[Node, FrameType | None]:
    """Return the node whose kernel failed, and the frame of generated code that called it."""
    program = run.program
    if program.waits[unit]:
        return program.nodes[unit][0], None
    lines = program.lines[unit]
    if not lines.file:
        return run.node or program.nodes[unit][0], None
    raiser, frame, trace = program.nodes[unit][-1], None, error.__traceback__
    while trace is not None:  # to the innermost loop
        if trace.tb_frame.f_code.co_filename == lines.file:
            raiser, frame = lines.nodes[trace.tb_lineno], trace.tb_frame
        trace = trace.tb_next
    return raiser, frame
