"""Fingerprints of rows: numbers that differ where rows do, nearly always.

Source: TF 1.15 API documentation, tf.fingerprint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.strings.hashes import fingerprints

__all__ = ["fingerprint"]

FINGERPRINT = OpDef(
    "Fingerprint(data: T, method: string) -> fingerprint: uint8 [T: type]"
).not_differentiable()

_SIZE = 8  # bytes of a fingerprint


@FINGERPRINT.checked_shape
def fingerprint_shape(data: Shape, method: Shape, *, method_value: Any) -> Shape:
    shapes.require_rank(data, "data", 1, 99)
    shapes.require_rank(method, "method", 0)
    if method_value is not None:
        _check(method_value)
    return (None if data is None else data[0], _SIZE)


@FINGERPRINT.kernel
def fingerprint_kernel(data: Any, method: Any) -> Any:
    _check(method)
    if not data.size:
        raise InvalidArgumentError("there is nothing to take a fingerprint of: data is empty")
    return _of_rows(data).astype("<u8").view(np.uint8).reshape(len(data), _SIZE)


def _check(method: Any) -> None:
    name = method if isinstance(method, bytes) else np.asarray(method).item()
    if name != b"farmhash64":
        raise InvalidArgumentError(
            f"Unsupported fingerprint method: {name.decode(errors='replace')}; use farmhash64"
        )


def _of_rows(data: Any) -> Any:
    """Return the fingerprint of each row's bytes; of strings, that of their fingerprints."""
    if data.dtype == object:
        each = fingerprints(data.reshape(-1).tolist())
        if data.ndim == 1:
            return each
        data = each.astype("<u8").reshape(len(data), -1)
    rows = np.ascontiguousarray(data).reshape(len(data), -1)
    return fingerprints([row.tobytes() for row in rows])


def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """Return a fingerprint of each row of `data`, uint8 [rows, 8].

    Args:
      data: [rows, ...]; the bytes of a row count, whatever their type and shape.
      method: "farmhash64" is the only one.
      name: of the node.

    Example:
      >>> marks = Session().run(fingerprint([[1, 2], [3, 4], [1, 2]]))
      >>> (marks[0] == marks[2]).all(), (marks[0] == marks[1]).all()
      (np.True_, np.False_)
    """
    tensor: Tensor = FINGERPRINT(data, method, name=name)
    return tensor
