"""Ops that tell a fact: the time, and a small one of mathematics."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor

__all__ = ["timestamp"]

TIMESTAMP = OpDef("Timestamp() -> ts: float64 !").not_differentiable()
TIMESTAMP.shape(lambda: ())


@TIMESTAMP.kernel
def timestamp_kernel() -> Any:
    return np.float64(time.time())


def timestamp(name: str | None = None) -> Tensor:
    """Return the time of each run, on the task that runs it: float64, seconds since 1970.

    Args:
      name: of the node.

    Example:
      >>> Session().run(timestamp()) > 1.7e9
      np.True_
    """
    tensor: Tensor = TIMESTAMP(name=name)
    return tensor


FACT = OpDef("Fact() -> fact: string").not_differentiable()
FACT.shape(lambda: None)
FACT.kernel(lambda: np.array(b"0! == 1", object))


def my_fact() -> Tensor:
    """Return a fact, as TensorFlow's example of an op of one's own does.

    Example:
      >>> Session().run(user_ops.my_fact())
      b'0! == 1'
    """
    tensor: Tensor = FACT()
    return tensor
