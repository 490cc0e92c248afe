"""Softmax cross entropies: losses of one class among several, straight from its logits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.autodiff.gradient_utils import Needed
from tfdist.ops.checks.assertions import assert_equal
from tfdist.ops.nn import softmax_onednn
from tfdist.ops.nn.softmax import as_rows, axis_moved_to_end, class_totals, shifted_columns

__all__ = [
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "sparse_softmax_cross_entropy_with_logits",
]

SOFTMAX_CROSS_ENTROPY = OpDef(
    "SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T "
    "[T: type {floating}]"
)


@SOFTMAX_CROSS_ENTROPY.shape
def softmax_cross_entropy_shape(features: Shape, labels: Shape) -> list[Shape]:
    for each, what in ((features, "logits"), (labels, "labels")):
        shapes.require_rank(each, what, 2)
    if features is None or labels is None:  # which broadcasts is not known
        known = features or labels or (None, None)
        shape: Shape = tuple(None if dim == 1 else dim for dim in known)
    else:
        shape = shapes.broadcast(features, labels)
    return [shape[:1] if shape else None, shape]


@SOFTMAX_CROSS_ENTROPY.kernel
def softmax_cross_entropy_kernel(features: Any, labels: Any) -> Any:
    if features.ndim != 2 or labels.ndim != 2 or not _fit(features.shape, labels.shape):
        raise InvalidArgumentError(
            f"logits and labels must be broadcastable: logits_size={list(features.shape)} "
            f"labels_size={list(labels.shape)}"
        )
    if features.shape[1] != labels.shape[1]:
        features, labels = (np.ascontiguousarray(x) for x in np.broadcast_arrays(features, labels))
    found = softmax_onednn.softmax_and_greatest(features)
    if found:
        softmax, greatest, logarithms = found
        surprise = greatest[:, None] - features
        surprise -= logarithms[:, None]
        return [(labels * surprise).sum(1), softmax - labels]
    shifted, wanted = shifted_columns(features), labels.T
    exponentials = np.exp(shifted)
    totals = class_totals(exponentials)
    surprise = np.subtract(np.log(totals), shifted, out=shifted)
    loss = class_totals(wanted * surprise)
    exponentials /= totals
    return [loss, as_rows(exponentials - wanted)]


def _fit(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether two shapes of one rank broadcast to one."""
    return all(a == b or 1 in (a, b) for a, b in zip(one, other, strict=True))


@SOFTMAX_CROSS_ENTROPY.gradient
def softmax_cross_entropy_gradient(
    op: Any, d_loss: Any, d_backprop: Any, *, needed: Needed = (True, True)
) -> Any:
    logits = op.inputs[0]
    logits_parts, labels_parts = [], []
    if d_loss is not None:
        column = raw.ExpandDims(d_loss, -1)
        logits_parts.append(raw.Mul(column, op.outputs[1], name="mul"))
        if needed[1]:
            labels_parts.append(raw.Mul(column, raw.Neg(raw.LogSoftmax(logits)), name="mul"))
    if d_backprop is not None:
        logits_parts.append(_second_order(logits, d_backprop))
        labels_parts.append(raw.Neg(d_backprop))
    return _sum(logits_parts), _sum(labels_parts)


def _sum(parts: list[Any]) -> Any:
    return raw.AddN(parts) if len(parts) > 1 else parts[0] if parts else None


def _second_order(logits: Any, d_backprop: Any) -> Any:
    """Return what the gradient of softmax(logits) - labels adds to that of the logits."""
    softmax = raw.Softmax(logits)
    total = raw.Sum(raw.Mul(d_backprop, softmax, name="mul"), 1, keep_dims=True)
    return raw.Mul(raw.Sub(d_backprop, total, name="sub"), softmax, name="mul")


SPARSE_SOFTMAX_CROSS_ENTROPY = OpDef(
    "SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T "
    "[T: type {floating}; Tlabels: type = int64 {index}]"
)


@SPARSE_SOFTMAX_CROSS_ENTROPY.shape
def sparse_softmax_cross_entropy_shape(features: Shape, labels: Shape) -> list[Shape]:
    shapes.require_rank(features, "logits", 2)
    shapes.require_rank(labels, "labels", 1)
    batch = None if features is None else features[0]
    size = shapes.merge_dim(batch, None if labels is None else labels[0], "the sizes of the batch")
    return [(size,), (size, None if features is None else features[1])]


@SPARSE_SOFTMAX_CROSS_ENTROPY.kernel
def sparse_softmax_cross_entropy_kernel(features: Any, labels: Any) -> Any:
    _check_labels(features, labels)
    found = softmax_onednn.softmax_and_greatest(features)
    if found:
        softmax, greatest, logarithms = found
        chosen = np.arange(len(labels)), labels
        loss = greatest - features[chosen] - logarithms
        softmax[chosen] -= 1
        return [loss, softmax]
    shifted, chosen = shifted_columns(features), (labels, np.arange(len(labels), like=labels))
    exponentials = np.exp(shifted)
    totals = class_totals(exponentials)
    loss = np.log(totals) - shifted[chosen]
    exponentials /= totals
    exponentials[chosen] -= 1
    return [loss, as_rows(exponentials)]


def _check_labels(features: Any, labels: Any) -> None:
    if features.ndim == 2 and not features.shape[1]:
        raise InvalidArgumentError(
            f"Must have at least one class, but got logits shape {list(features.shape)}"
        )
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise InvalidArgumentError(
            f"logits must be [batch, classes] and labels [batch], got {features.shape} and "
            f"{labels.shape}"
        )
    classes = features.shape[1]
    is_beyond = labels.view(f"u{labels.itemsize}") >= classes  # a negative one is very large then
    if is_beyond.any():
        raise InvalidArgumentError(
            f"Received a label value of {labels[is_beyond][0]} which is outside the valid range of "
            f"[0, {classes}), the columns of logits. Label values: "
            + " ".join(map(str, labels[:20].tolist()))
        )


@SPARSE_SOFTMAX_CROSS_ENTROPY.gradient
def sparse_softmax_cross_entropy_gradient(op: Any, d_loss: Any, d_backprop: Any) -> Any:
    parts = []
    if d_loss is not None:
        parts.append(raw.Mul(raw.ExpandDims(d_loss, -1), op.outputs[1], name="mul"))
    if d_backprop is not None:
        parts.append(_second_order(op.inputs[0], d_backprop))
    return _sum(parts), None


def softmax_cross_entropy_with_logits(
    *old_order: Any,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """Return the cross-entropy of each row of `labels` under softmax(`logits`).

    No gradient flows into the labels; see `softmax_cross_entropy_with_logits_v2`.

    Args:
      *old_order: logits, labels and name, as TensorFlow before 1.0 took them.
      labels: [..., classes], cast to the type of logits; each row is a distribution (its sum is
        1).
      logits: of the same shape, floating; log-probabilities (nats) up to a constant per row, any
        finite value: large ones do not overflow.
      dim: the axis of the classes.
      name: of the node.
      axis: the new spelling of dim.

    Returns:
      float [...], nats per example. Not averaged; see `reduce_mean`.

    Raises:
      InvalidArgumentError: the shapes differ, seen only when it runs.
      ValueError: labels or logits are missing, or the shapes differ.

    Example: equal logits over 3 classes cost log 3.
      >>> loss = nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0, 0.0]], logits=[[2.0] * 3])
      >>> Session().run(loss)
      array([1.0986123], dtype=float32)

    Source: TF 1.15 API documentation, tf.nn.softmax_cross_entropy_with_logits.
    """
    logits, labels, name = in_old_order("softmax", old_order, logits, labels, name)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = raw.StopGradient(
            convert_to_tensor(labels, name="labels"), name="labels_stop_gradient"
        )
        return _softmax_cross_entropy(labels, logits, dim if axis is None else axis, scope)


def in_old_order(
    function: str, given: tuple[Any, ...], logits: Any, labels: Any, name: str | None
) -> tuple[Any, Any, str | None]:
    """Return (logits, labels, name), of which those given by position came in this order."""
    values = list(given) + [None] * (3 - len(given))
    logits, labels, name = (
        value if value is not None else positional
        for value, positional in zip((logits, labels, name), values, strict=True)
    )
    if logits is None or labels is None:
        raise ValueError(
            "Both labels and logits must be provided: "
            f"{function}_cross_entropy_with_logits takes labels= and logits="
        )
    return logits, labels, name


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: int | None = None, name: str | None = None, dim: int = -1
) -> Tensor:
    """Return the cross-entropy of each row of `labels` under softmax(`logits`).

    Args:
      labels: [..., classes], cast to the type of logits; each row is a distribution (its sum is
        1).
      logits: of the same shape, floating; half-precision ones are computed as float32.
      axis: of the classes; the last one by default.
      name: of the node.
      dim: the old spelling of axis.

    Returns:
      float [...], nats per example; gradients flow into labels and logits.

    Example: equal logits over 3 classes cost log 3.
      >>> loss = nn.softmax_cross_entropy_with_logits_v2([[1.0, 0.0, 0.0]], [[2.0, 2.0, 2.0]])
      >>> Session().run(loss)
      array([1.0986123], dtype=float32)
    """
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        return _softmax_cross_entropy(labels, logits, dim if axis is None else axis, scope)


def _softmax_cross_entropy(labels: Any, logits: Any, axis: int, scope: str) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    labels = convert_to_tensor(labels, name="labels")
    dtype = logits.dtype.base_dtype
    if dtype not in (dtypes.float16, dtypes.bfloat16):
        return _exact_softmax_cross_entropy(cast(labels, dtype), logits, axis, scope)
    logits = cast(logits, dtypes.float32)  # sums of half-precision numbers lose too much
    loss = _exact_softmax_cross_entropy(cast(labels, dtypes.float32), logits, axis, scope)
    return cast(loss, dtype)


def _exact_softmax_cross_entropy(labels: Tensor, logits: Tensor, axis: int, scope: str) -> Tensor:
    count = rank(logits)
    if axis != -1:
        logits = axis_moved_to_end(logits, axis, count)
        labels = axis_moved_to_end(labels, axis, count)
    sizes = shape(logits)
    flat = [_as_rows(tensor) for tensor in (logits, labels)]
    is_matrix = logits.plain_shape is not None and len(logits.plain_shape) == 2
    # 1.15 reshapes matrices too; here such nodes stand idle: they count for later seeds only
    loss: Tensor = SOFTMAX_CROSS_ENTROPY(*((logits, labels) if is_matrix else flat), name=scope)[0]
    tensor = reshape(loss, raw.Slice(sizes, [0], [raw.Sub(count, 1)]))
    if logits.plain_shape is not None:
        tensor.set_shape(logits.plain_shape[:-1])
    return loss if is_matrix else tensor


def _as_rows(tensor: Tensor) -> Tensor:
    """Return the tensor as a matrix, a row for each distribution."""
    count, sizes = rank(tensor), shape(tensor)
    classes = raw.Slice(sizes, [raw.Sub(count, 1)], [1])
    rows = reshape(tensor, concat([[-1], classes], 0))
    if (known := tensor.plain_shape) is not None:
        rows.set_shape(known if len(known) == 2 else [None, *known[-1:]])
    return rows


def sparse_softmax_cross_entropy_with_logits(
    *old_order: Any, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Return minus the log-probability of each label under softmax(`logits`).

    Args:
      *old_order: logits, labels and name, as TensorFlow before 1.0 took them.
      labels: int32 or int64 [...], each in [0, classes).
      logits: float [..., classes].
      name: of the nodes' scope.

    Returns:
      float [...], nats per example.

    Raises:
      InvalidArgumentError: a label is out of range.
      ValueError: labels or logits are missing, or the ranks do not fit.

    Example: equal logits over 3 classes cost log 3.
      >>> loss = nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[2.0, 2.0, 2.0]])
      >>> Session().run(loss)
      array([1.0986123], dtype=float32)
    """
    logits, labels, name = in_old_order("sparse_softmax", old_order, logits, labels, name)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        dtype = logits.dtype.base_dtype
        if dtype is dtypes.float16:  # sums of half-precision numbers lose too much
            logits = cast(logits, dtypes.float32)
        loss = _sparse_softmax_cross_entropy(labels, logits, name)
        return cast(loss, dtype) if dtype is dtypes.float16 else loss


def _sparse_softmax_cross_entropy(labels: Tensor, logits: Tensor, name: str | None) -> Tensor:
    sizes = shape(labels)
    _check_ranks(labels, logits)
    if logits.plain_shape is not None and len(logits.plain_shape) == 2:
        loss: Tensor = SPARSE_SOFTMAX_CROSS_ENTROPY(logits, labels, name=name)[0]
        return loss
    with control_dependencies(_shape_checks(labels, logits)):
        every: Any = shape(logits)
        axis: Any = rank(logits)
        rows = reshape(logits, [-1, every[axis - 1]])
        flat = SPARSE_SOFTMAX_CROSS_ENTROPY(rows, reshape(labels, [-1]), name=name)[0]
        return reshape(flat, sizes)


def _shape_checks(labels: Tensor, logits: Tensor) -> list[Any]:
    """Return an op that checks the shapes, unless they are known."""
    one, other = labels.plain_shape, logits.plain_shape
    if one is None or other is None or None in (*one, *other[:-1]):
        every: Any = shape(labels), shape(logits)
        return [assert_equal(every[0], every[1][:-1])]
    return []


def _check_ranks(labels: Tensor, logits: Tensor) -> None:
    """Raise ValueError if it is known that the labels are not one for each row of the logits."""
    one, other = labels.plain_shape, logits.plain_shape
    if other == ():
        raise ValueError(f"Logits cannot be scalars - received shape {shapes.show(other)}.")
    if one is not None and other is not None and len(one) != len(other) - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {len(one)}) should equal rank of logits "
            f"minus 1 (received {len(other)}): the shapes are {shapes.show(one)} and "
            f"{shapes.show(other)}; one-hot labels go into softmax_cross_entropy_with_logits"
        )
    if one is None or other is None:
        return
    if not all(a is None or b is None or a == b for a, b in zip(one, other[:-1], strict=True)):
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {shapes.show(one)}) should equal the "
            f"shape of logits except for the last dimension (received {shapes.show(other)})."
        )
