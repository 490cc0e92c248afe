"""The global step: a variable of the graph that counts its training steps.

Source: TF 1.15 API documentation, tf.train.get_global_step and those around it.
"""

from __future__ import annotations

import logging
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import zeros_initializer
from tfdist.ops.variables.synchronization import VariableAggregation

__all__ = [
    "assert_global_step", "create_global_step", "get_global_step", "get_or_create_global_step",
    "global_step",
]  # fmt: skip

GLOBAL_STEP_READ = "global_step_read_op_cache"  # a collection

_LOG = logging.getLogger("tensorflow")


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Return the value of a global step in a session.

    Example:
      >>> counter = create_global_step()
      >>> with Session() as session:
      ...     session.run(counter.initializer)
      ...     global_step(session, counter)
      0
    """
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Any:
    """Return the global step of a graph, None if there is none, or more than one.

    It is what stands alone in the collection GLOBAL_STEP, else the tensor `global_step:0`.

    Args:
      graph: Graph; the default graph by default.

    Raises:
      TypeError: it is no integer, or no scalar.

    Example:
      >>> get_global_step() is None
      True
    """
    graph = graph or scopes.get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        _LOG.error("the collection %r has several variables", GraphKeys.GLOBAL_STEP)
        return None
    try:
        step = found[0] if found else graph.get_tensor_by_name(f"{GraphKeys.GLOBAL_STEP}:0")
    except KeyError:
        return None
    assert_global_step(step)
    return step


def global_step_read(step: Any) -> Any:
    """Return a tensor that copies a global step, the same one for all of a graph.

    A variable that is fetched is read when the step ends; this is as a rule read before the
    training operation adds to it, so that hooks know the number of steps before theirs.
    """
    graph = step.graph
    made = graph.get_collection_ref(GLOBAL_STEP_READ)
    if not made:
        scope = f"{step.op.name}/"
        with graph.as_default(), graph.name_scope(scope), graph.control_dependencies(None):
            made.append(graph.as_graph_element(step) + 0)
    return made[0]


def begin_global_step(graph: Graph, step: Any) -> Any:
    """Return the new global step of an estimator's graph, with its read as TensorFlow's have it.

    These nodes are there before the model's, whose random ops' seeds count what was made before
    them. TensorFlow's read is of the initialized value; ours does not ask that at each step.
    """
    assert_global_step(step)
    with graph.name_scope(f"{step.op.name}/"), graph.control_dependencies(None):
        step.initialized_value()
    global_step_read(step)
    return step


def create_global_step(graph: Graph | None = None) -> Any:
    """Return a new global step: an int64 Variable that begins with 0.

    Args:
      graph: Graph; the default graph by default.

    Raises:
      ValueError: the graph has one.

    Example:
      >>> create_global_step().name
      'global_step:0'
    """
    graph = graph or scopes.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP, [], "int64", zeros_initializer(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )  # fmt: skip


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Return the global step of a graph, a new one if there is none.

    Example:
      >>> get_or_create_global_step() is get_or_create_global_step()
      True
    """
    graph = graph or scopes.get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Any) -> None:
    """Raise TypeError if this can be no global step: no integer, or no scalar.

    Example:
      >>> assert_global_step(constant(1.0))
      Traceback (most recent call last):
      TypeError: Existing "global_step" does not have integer type: tf.float32
    """
    if not hasattr(global_step_tensor, "_as_tensor"):
        raise TypeError(
            f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.'
        )
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(
            f'Existing "global_step" does not have integer type: {global_step_tensor.dtype!r}'
        )
    shape = global_step_tensor.shape
    if shape.ndims not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')
