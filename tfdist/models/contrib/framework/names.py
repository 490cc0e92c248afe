"""Names, graphs and devices in tf.contrib.framework.

Source: TF 1.15 API documentation, tf.contrib.framework.
"""

from __future__ import annotations

import re
from typing import Any

from tfdist.base import devices
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor

__all__ = [
    "VariableDeviceChooser", "get_graph_from_inputs", "get_name_scope", "get_placeholders",
    "get_variable_full_name", "prepend_name_scope", "strip_name_scope",
]  # fmt: skip

# A name may stand behind one of these.
_PREFIX = re.compile(r"^(loc:@|\^)?(.*)$", re.DOTALL)


def get_name_scope() -> str:
    """Return the name scope that is open in the default graph, "" at the top.

    Example:
      >>> with name_scope("a"), name_scope("b"):
      ...     contrib.framework.get_name_scope()
      'a/b'
    """
    return scopes.get_default_graph().get_name_scope()


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """Return a name as it is in a graph that was imported into a scope.

    Example:
      >>> contrib.framework.prepend_name_scope("^a", "x")
      '^x/a'
    """
    if not import_scope:
        return name
    prefix, rest = _PREFIX.match(name).groups()  # type: ignore[union-attr]
    return f"{prefix or ''}{import_scope.rstrip('/')}/{rest}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """Return a name as it is in a graph that was exported from a scope.

    Example:
      >>> contrib.framework.strip_name_scope("^x/a", "x")
      '^a'
    """
    if not export_scope:
        return name
    prefix, rest = _PREFIX.match(name).groups()  # type: ignore[union-attr]
    return (prefix or "") + rest.removeprefix(export_scope.rstrip("/") + "/")


def get_placeholders(graph: Graph) -> list[Tensor]:
    """Return the placeholders of a graph.

    Raises:
      TypeError: it is no graph.

    Example:
      >>> p = placeholder(float32, [2], name="p")
      >>> contrib.framework.get_placeholders(get_default_graph())
      [<tf.Tensor 'p:0' shape=(2,) dtype=float32>]
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def get_graph_from_inputs(op_input_list: Any, graph: Graph | None = None) -> Graph:
    """Return the graph that all inputs are of; the default one if none tells.

    Args:
      op_input_list: list of tensors, operations, and what has no graph.
      graph: that which they must be of.

    Raises:
      TypeError: it is no list, or `graph` is no graph.
      ValueError: an input is of another graph.

    Example:
      >>> contrib.framework.get_graph_from_inputs([constant(1)]) is get_default_graph()
      True
    """
    inputs = tuple(op_input_list)
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    found, first = graph, None
    for each in inputs:
        own = getattr(each, "graph", None)
        if not isinstance(own, Graph):
            continue
        if found is None:
            found, first = own, each
        elif own is not found and first is None:
            raise ValueError(f"{each} is not from the passed-in graph.")
        elif own is not found:
            raise ValueError(f"{each} must be from the same graph as {first}.")
    return found or scopes.get_default_graph()


def get_variable_full_name(var: Any) -> str:
    """Return the name that a variable has in checkpoints; a part of one has that of the whole.

    Example:
      >>> contrib.framework.get_variable_full_name(get_variable("v", [2]))
      'v'
    """
    part = var._get_save_slice_info()
    return part.full_name if part is not None else var.op.name  # type: ignore[no-any-return]


class VariableDeviceChooser:
    """A function for `tf.device` that puts nodes on parameter servers in turn.

    As in TensorFlow every node that asks is counted, initial values too.

    Args:
      num_tasks: number of parameter servers; 0 for none.
      job_name: their job.
      device_type: "CPU" or "GPU".
      device_index: which of these.
      replica: which replica, if there are several.

    Example:
      >>> chooser = contrib.framework.VariableDeviceChooser(2)
      >>> chooser(Variable(1.0).op), chooser(Variable(2.0).op)
      ('/job:ps/task:0/device:CPU:0', '/job:ps/task:1/device:CPU:0')
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ) -> None:
        self._num_tasks, self._next = num_tasks, 0
        self._replica = "" if replica is None else f"/replica:{replica}"
        self._job_name, self._device = job_name, f"/device:{device_type}:{device_index}"

    def __call__(self, op: Operation) -> str:
        """Return the device of a node."""
        job = ""
        if self._num_tasks:
            task = self._next
            self._next = (task + 1) % self._num_tasks if op is not None else task
            job = f"/job:{self._job_name}{self._replica}/task:{task}"
        return devices.parse(job + self._device).to_string()
