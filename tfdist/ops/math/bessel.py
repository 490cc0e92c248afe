"""Modified Bessel functions of the first kind, plain ones and those scaled by exp(-|x|)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.math import special_kernels
from tfdist.ops.math.elementwise import unary

__all__: list[str] = []  # its names are those of tf.math only


def _bessel(order: int) -> Callable[[Any], Any]:
    return lambda x: np.asarray(special_kernels.bessel_e(order, x)).astype(x.dtype)


def _bessel_i1e_slope(x: Tensor, y: Tensor, g: Tensor) -> Tensor:
    """Return the gradient of I1e; at 0, where 1 / x is not there, the slope is 1/2."""
    is_0 = raw.Equal(x, 0.0)
    safe = raw.SelectV2(is_0, raw.OnesLike(x), x)
    around = raw.AddV2(raw.Sign(x), raw.Reciprocal(safe), name="add")
    slope = raw.Sub(raw.BesselI0e(x), raw.Mul(y, around, name="mul"))
    half = raw.Mul(0.5, raw.OnesLike(x), name="mul")
    gradient: Tensor = raw.Mul(g, raw.SelectV2(is_0, half, slope), name="mul")
    return gradient


BESSEL_I0E = unary(
    "BesselI0e",
    "floating",
    _bessel(0),
    lambda x, y, g: raw.Mul(
        g, raw.Sub(raw.BesselI1e(x), raw.Mul(raw.Sign(x), y, name="mul")), name="mul"
    ),
)
BESSEL_I1E = unary("BesselI1e", "floating", _bessel(1), _bessel_i1e_slope)


def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    """Return exp(-|x|) times the modified Bessel function of order 0, element by element.

    Args:
      x: floats.
      name: of the node.

    Example:
      >>> Session().run(math.bessel_i0e([0.0, 1.0])).round(4)
      array([1.    , 0.4658], dtype=float32)
    """
    tensor: Tensor = BESSEL_I0E(x, name=name)
    return tensor


def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    """Return exp(-|x|) times the modified Bessel function of order 1, element by element.

    Args:
      x: floats.
      name: of the node.

    Example:
      >>> Session().run(math.bessel_i1e([0.0, 1.0])).round(4)
      array([0.    , 0.2079], dtype=float32)
    """
    tensor: Tensor = BESSEL_I1E(x, name=name)
    return tensor


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """Return the modified Bessel function of order 0, element by element.

    Args:
      x: floats; `bessel_i0e` has no overflow for great ones.
      name: of the nodes' scope.

    Example:
      >>> Session().run(math.bessel_i0([0.0, 1.0])).round(4)
      array([1.    , 1.2661], dtype=float32)
    """
    with name_scope(name, "bessel_i0", [x]):
        return _unscaled(x, BESSEL_I0E)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """Return the modified Bessel function of order 1, element by element.

    Args:
      x: floats; `bessel_i1e` has no overflow for great ones.
      name: of the nodes' scope.

    Example:
      >>> Session().run(math.bessel_i1([0.0, 1.0])).round(4)
      array([0.    , 0.5652], dtype=float32)
    """
    with name_scope(name, "bessel_i1", [x]):
        return _unscaled(x, BESSEL_I1E)


def _unscaled(x: Any, op_def: OpDef) -> Tensor:
    product: Tensor = raw.Mul(raw.Exp(raw.Abs(x)), op_def(x), name="mul")
    return product
