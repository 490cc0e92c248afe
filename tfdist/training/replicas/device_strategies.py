"""Strategies for `replica_device_setter`: which parameter server a variable goes to.

Source: TF 1.15 API documentation, tf.contrib.training.GreedyLoadBalancingStrategy and those beside.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from tfdist.graph.operation import Operation

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class GreedyLoadBalancingStrategy:
    """Chooses the server that has the least load so far; of several, the first.

    Args:
      num_tasks: how many servers there are.
      load_fn: function from an Operation to its load, such as `byte_size_load_fn`.

    Example:
      >>> greedy = contrib.training.GreedyLoadBalancingStrategy
      >>> strategy = greedy(2, contrib.training.byte_size_load_fn)
      >>> with device(train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
      ...     made = [get_variable(name, shape) for name, shape in zip("abc", ([9, 9], [8], [9]))]
      >>> [each.device for each in made]
      ['/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:1']
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        self._loads = [0.0] * num_tasks
        self._load_of = load_fn

    def __call__(self, op: Operation) -> int:
        """Return the server for an operation, and count its load there."""
        task = min(range(len(self._loads)), key=self._loads.__getitem__)
        self._loads[task] += self._load_of(op)
        return task


class RandomStrategy:
    """Chooses any server, all equally likely, and the same one for a name in every process.

    Args:
      num_ps_tasks: how many servers there are.
      seed: for other choices.

    Example:
      >>> strategy = contrib.training.RandomStrategy(3)
      >>> strategy(no_op(name="n")) in (0, 1, 2)
      True
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Operation) -> int:
        """Return the server for an operation."""
        return zlib.crc32(f"{self._seed}:{op.name}".encode()) % self._tasks


def byte_size_load_fn(op: Operation) -> int:
    """Return the number of bytes of an operation's output, for `GreedyLoadBalancingStrategy`.

    Raises:
      ValueError: it has several outputs, or one of a shape that is not fully known.

    Example:
      >>> contrib.training.byte_size_load_fn(zeros([3, 4]).op)
      48
    """
    if len(op.outputs) != 1:
        raise ValueError(f"{op.name!r} must have a single output, but has {len(op.outputs)}")
    output = op.outputs[0]
    dims = output.shape
    if not dims.is_fully_defined():
        raise ValueError(f"Shape {dims} of {op.name!r} is not fully defined")
    return int(output.dtype.size or 0) * int(dims.num_elements() or 0)
