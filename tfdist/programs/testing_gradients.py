"""tf.test's check of gradients: beside what rules give, what small steps give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.errors import FailedPreconditionError
from tfdist.graph import stacks
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import zeros
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.framework.indexed_slices import IndexedSlices

__all__ = ["compute_gradient", "compute_gradient_error"]

Feeds = Mapping[Any, Any] | None


def compute_gradient(
    x: Any, x_shape: Any, y: Tensor, y_shape: Sequence[int], x_init_value: Any = None,
    delta: float = 1e-3, init_targets: Any = None, extra_feed_dict: Feeds = None,
) -> Any:  # fmt: skip
    """Return how `y` depends on `x`: by its gradient, and by steps of `x`.

    A default session runs it. Complex numbers count as pairs of real ones.

    Args:
      x: a tensor, or a list of them.
      x_shape: its shape, or a list of theirs.
      y: a tensor.
      y_shape: its shape.
      x_init_value: where; random numbers by default.
      delta: how far a step goes.
      init_targets: what runs before.
      extra_feed_dict: values of other tensors.

    Returns:
      (by the gradient, by steps), each [numbers of x, numbers of y]; a list of such pairs for a
      list of tensors.

    Example:
      >>> x = constant([3.0])
      >>> with Session():
      ...     by_rule, by_steps = test.compute_gradient(x, [1], x * x, [1], np.float32([3.0]))
      >>> by_rule, by_steps.round(1)
      (array([[6.]], dtype=float32), array([[6.]], dtype=float32))
    """
    session = stacks.get_default_session()
    if session is None:
        raise FailedPreconditionError(
            "compute_gradient needs a default session: call it inside `with tf.Session():`"
        )
    if init_targets is not None:
        session.run(init_targets)
    if not isinstance(x, list):
        [pair] = _pairs(session, [x], [x_shape], y, y_shape, [x_init_value], delta, extra_feed_dict)
        return pair
    values = x_init_value or [None] * len(x)
    return _pairs(session, x, x_shape, y, y_shape, values, delta, extra_feed_dict)


def _pairs(
    session: Any, tensors: Any, sizes: Any, y: Tensor, y_shape: Any, values: Any, delta: float,
    feeds: Feeds,
) -> list[tuple[Any, Any]]:  # fmt: skip
    weights = zeros(y_shape, y.dtype)
    slopes = [_dense(each, x) for each, x in zip(gradients(y, tensors, weights), tensors)]  # noqa: B905
    found = []
    for x, size, value, slope in zip(tensors, sizes, values, slopes, strict=True):
        value = _start(x, size) if value is None else np.asarray(value)
        at = np.array(value, x.dtype.as_numpy_dtype).reshape(size)
        by_rule = _by_rule(session, slope, x, at, weights, y_shape, feeds)
        found.append((by_rule, _by_steps(session, x, at, y, delta, feeds)))
    return found


def _dense(slope: Any, x: Tensor) -> Any:
    if slope is None:
        return raw.ZerosLike(x)
    return convert_to_tensor(slope) if isinstance(slope, IndexedSlices) else slope


def _start(x: Tensor, size: Any) -> Any:
    drawn = np.random.random_sample(size)  # noqa: NPY002  what a test has set the seed of
    return drawn + 1j * np.random.random_sample(size) if x.dtype.is_complex else drawn  # noqa: NPY002


def _numbers(array: Any) -> Any:
    """Return the real numbers of an array as a flat view of it."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def _by_rule(
    session: Any, slope: Any, x: Tensor, at: Any, weights: Tensor, y_shape: Any, feeds: Feeds
) -> Any:
    """Return a column for each number of y: the gradient of that number alone."""
    weight = np.zeros(y_shape, weights.dtype.as_numpy_dtype)
    numbers = _numbers(weight)
    result = np.zeros([_numbers(at).size, numbers.size], _numbers(at).dtype)
    for column in range(numbers.size):
        numbers[column] = 1
        given = session.run(slope, {x: at, weights: weight, **(feeds or {})})
        result[:, column] = _numbers(np.ascontiguousarray(given))
        numbers[column] = 0
    return result


def _by_steps(session: Any, x: Tensor, at: Any, y: Tensor, delta: float, feeds: Feeds) -> Any:
    """Return a row for each number of x: how y differs from a step before it to one behind it."""
    moved = at.copy()
    numbers = _numbers(moved)
    rows = []
    for row in range(numbers.size):
        start, ends = numbers[row], []
        for sign in (1, -1):
            numbers[row] = start + sign * delta
            value = np.array(session.run(y, {x: moved, **(feeds or {})}))
            ends.append(_numbers(np.ascontiguousarray(value)))
        numbers[row] = start
        rows.append((ends[0] - ends[1]) / (2 * delta))
    columns = rows[0].size if rows else _numbers(np.zeros(y.shape.as_list())).size
    return np.array(rows, numbers.dtype).reshape(numbers.size, columns)


def compute_gradient_error(
    x: Any, x_shape: Any, y: Tensor, y_shape: Sequence[int], x_init_value: Any = None,
    delta: float = 1e-3, init_targets: Any = None, extra_feed_dict: Feeds = None,
) -> float:  # fmt: skip
    """Return by how much the gradient and small steps differ at most; see `compute_gradient`.

    Args:
      x: see `compute_gradient`.
      x_shape: see `compute_gradient`.
      y: see `compute_gradient`.
      y_shape: see `compute_gradient`.
      x_init_value: see `compute_gradient`.
      delta: see `compute_gradient`.
      init_targets: see `compute_gradient`.
      extra_feed_dict: see `compute_gradient`.

    Example:
      >>> x = constant([3.0])
      >>> with Session():
      ...     test.compute_gradient_error(x, [1], x * x, [1]) < 1e-3
      True
    """
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = found if isinstance(found, list) else [found]
    return max((float(np.abs(one - other).max()) for one, other in pairs if one.size), default=0.0)
