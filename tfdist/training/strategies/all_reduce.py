"""Sums over the workers of a cluster, made of an accumulator and of queues.

Each worker gives its value to an accumulator on the first worker, which waits for those of all,
and puts the sum into a queue on each of the others. These stand where they are read: a worker has
its last sum even if the first one has ended by then. Names are numbers: all workers build the same
graph, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.queues.accumulators import ConditionalAccumulator
from tfdist.ops.queues.queue_kinds import FIFOQueue

__all__: list[str] = []

_NEVER_STALE = np.iinfo(np.int64).max
_CAPACITY = 16

_NUMBERS: WeakKeyDictionary[Graph, int] = WeakKeyDictionary()


def _name(what: str) -> str:
    graph = scopes.get_default_graph().outermost
    _NUMBERS[graph] = _NUMBERS.get(graph, 0) + 1
    return f"{what}_{_NUMBERS[graph]}"


def all_reduced(value: Any, devices: Sequence[str], own: int) -> Any:
    """Return the sum of what all workers have for `value`, a tensor of known shape or not.

    Args:
      value: of this worker.
      devices: one of each worker; the first one's adds up.
      own: number of this worker.
    """
    tensor = convert_to_tensor(value)
    if not tensor.dtype.is_floating:
        return cast(all_reduced(cast(tensor, "float64"), devices, own), tensor.dtype)
    name, dtype, shape = _name("all_reduce"), tensor.dtype.base_dtype, tensor.shape
    with scopes.name_scope("all_reduce"):
        with scopes.device(devices[0]):
            total = ConditionalAccumulator(
                dtype, shape, shared_name=name, name="total", reduction_type="SUM"
            )
            given = total.apply_grad(tensor, local_step=_NEVER_STALE)
        with scopes.control_dependencies([given]):
            if own:
                return _queue(devices[own], name, dtype, shape).dequeue()
            with scopes.device(devices[0]):
                made = total.take_grad(len(devices))
                made.set_shape(shape)
        return _sent(made, devices, name)


def broadcast(value: Any, devices: Sequence[str], own: int) -> Any:
    """Return what the first worker has for `value`, a tensor; see `all_reduced`."""
    tensor = convert_to_tensor(value)
    name = _name("broadcast")
    with scopes.name_scope("broadcast"):
        if own:
            return _queue(devices[own], name, tensor.dtype, tensor.shape).dequeue()
        return _sent(tensor, devices, name)


def _queue(device: str, name: str, dtype: DType, shape: Any) -> FIFOQueue:
    with scopes.device(device):
        shapes = [shape] if shape.is_fully_defined() else None
        return FIFOQueue(_CAPACITY, dtype.base_dtype, shapes, shared_name=name, name="result")


def _sent(tensor: Any, devices: Sequence[str], name: str) -> Any:
    """Return a tensor that is there when all other workers have been given it."""
    sent = []
    for device in devices[1:]:
        with scopes.device(device):
            sent.append(_queue(device, name, tensor.dtype, tensor.shape).enqueue(tensor))
    with scopes.control_dependencies(sent), scopes.device(devices[0]):
        return identity(tensor)
