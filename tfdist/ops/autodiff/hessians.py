"""Second derivatives: each sum of ys along each pair of elements of an x."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import shape, size
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.functions.map_fn import map_fn

__all__ = ["hessians"]


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """Return the second derivatives of the sum of all ys along each x.

    Args:
      ys: a float tensor, or a list of them.
      xs: a tensor or a Variable, or a list of them.
      name: taken, and not needed.
      colocate_gradients_with_ops: as in `gradients`.
      gate_gradients: as in `gradients`.
      aggregation_method: as in `gradients`.

    Returns:
      For each x a tensor of its shape twice: [d0, ..., dn, d0, ..., dn].

    Raises:
      LookupError: an op on the way has no gradient, or none of second order.
      ValueError: no y depends on an x.

    Example:
      >>> x = constant([1.0, 2.0])
      >>> Session().run(hessians(x[0] * x[0] * x[1], [x])[0])
      array([[4., 2.],
             [2., 0.]], dtype=float32)
    """
    targets = list(xs) if isinstance(xs, list | tuple) else [xs]
    options = (colocate_gradients_with_ops, gate_gradients, aggregation_method)

    def derive(y: Any, x: Any) -> Any:
        found = gradients(y, x, None, "gradients", *options)[0]
        if found is None:
            raise ValueError(
                f"no second derivatives along {x!r}: the first ones do not depend on it"
            )
        return convert_to_tensor(found)

    return [_hessian(derive(ys, x), x, derive) for x in targets]


def _hessian(gradient: Tensor, x: Any, derive: Any) -> Tensor:
    """Return the derivatives of each element of a gradient, one after the other in a loop."""
    value = convert_to_tensor(x)
    flat = raw.Reshape(gradient, np.array([-1], np.int32))
    count = raw.Range(0, size(value), 1)
    rows = map_fn(lambda i: derive(flat[i], x), count, dtype=value.dtype.base_dtype)
    twice = raw.ConcatV2([shape(value), shape(value)], 0)
    hessian: Tensor = raw.Reshape(rows, twice)
    return hessian
