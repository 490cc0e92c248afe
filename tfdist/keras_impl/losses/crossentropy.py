"""Cross entropies as keras computes them: of probabilities, or of the logits that made them.

Probabilities that come right out of a softmax or sigmoid are traced back to its logits, which lose
nothing; others are kept off 0 and 1 by `epsilon`.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.keras_impl.settings import epsilon
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn.cross_entropy import (
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tfdist.ops.nn.sigmoid_cross_entropy import sigmoid_cross_entropy_with_logits


def logits_behind(output: Any, kind: str) -> Tensor | None:
    """Return the input of the op of `kind` that made `output`; None if another made it."""
    tensor = output
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor.op.inputs[0] if tensor.op.type == kind else None


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Return what is lost per example, when `target` [..., classes] has probabilities."""
    output = convert_to_tensor(output)
    target = convert_to_tensor(target)
    target.shape.assert_is_compatible_with(output.shape)
    logits = output if from_logits else logits_behind(output, "Softmax")
    if logits is not None:
        return softmax_cross_entropy_with_logits_v2(labels=target, logits=logits, axis=axis)
    output = output / reduce_sum(output, axis, keepdims=True)
    return raw.Neg(reduce_sum(target * raw.Log(_kept_off(output)), axis))  # type: ignore[no-any-return]


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Return what is lost per example, when `target` [...] has the numbers of classes."""
    output = convert_to_tensor(output)
    logits = output if from_logits else logits_behind(output, "Softmax")
    if logits is None:
        logits = raw.Log(_kept_off(output))
    rank = logits.shape.ndims
    axis = axis % rank if rank else axis
    if rank and axis != rank - 1:
        others = [each for each in range(rank) if each != axis]
        logits = transpose(logits, [*others, axis])
    target = cast(convert_to_tensor(target), dtypes.int64)
    sizes: Any = shape(logits)
    if rank is None or rank == (target.shape.ndims or 0) + 1:
        return sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    rows = reshape(target, [-1]), reshape(logits, [-1, sizes[-1]])
    loss = sparse_softmax_cross_entropy_with_logits(labels=rows[0], logits=rows[1])
    return reshape(loss, sizes[:-1]) if rank >= 3 else loss


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """Return what is lost per element, when `target` and `output` are probabilities of yes."""
    output = convert_to_tensor(output)
    target = convert_to_tensor(target)
    logits = output if from_logits else logits_behind(output, "Sigmoid")
    if logits is not None:
        return sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    output = _kept_off(output)
    yes = target * raw.Log(output + epsilon())
    no = (1 - target) * raw.Log(1 - output + epsilon())
    return -(yes + no)


def _kept_off(probabilities: Tensor) -> Tensor:
    small: Any = constant(epsilon(), probabilities.dtype.base_dtype)
    return clip_by_value(probabilities, small, 1 - small)


def clipped(values: Tensor, least: float, greatest: float) -> Any:
    """Return values in [least, greatest]."""
    dtype = values.dtype.base_dtype
    return clip_by_value(values, constant(least, dtype), constant(greatest, dtype))
