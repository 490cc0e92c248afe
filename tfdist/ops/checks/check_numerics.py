"""add_check_numerics_ops: every float of a graph looked at, whether it is a number.

Source: TF 1.15 API documentation, tf.add_check_numerics_ops.
"""

from __future__ import annotations

from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation
from tfdist.ops.control_flow.identity_group import group

__all__ = ["add_check_numerics_ops"]

_FLOATS = {"float16", "float32", "float64"}


def add_check_numerics_ops() -> Operation:
    """Add a check to every float tensor of the default graph, and return what runs all of them.

    Each checks after the ones before it, so that the error names the first tensor that has no
    number.

    Raises:
      ValueError: the graph has branches or loops.

    Example:
      >>> bad = log(constant([1.0, -1.0]))
      >>> Session().run(add_check_numerics_ops())
      Traceback (most recent call last):
      tfdist.errors.InvalidArgumentError: ...
    """
    checks: list[Operation] = []
    for op in scopes.get_default_graph().get_operations():
        floats = [each for each in op.outputs if each.dtype.name in _FLOATS]
        if floats and op._context is not None:
            raise ValueError(
                f"tf.add_check_numerics_ops() does not go with branches and loops, in which "
                f"{op.name!r} stands: it would have to run on the way that a step does not take"
            )
        for tensor in floats:
            with scopes.control_dependencies(checks[-1:]):
                check = raw.CheckNumerics(tensor, message=f"{op.name}:{tensor.value_index}")
                checks.append(check.op)
    return group(*checks)
