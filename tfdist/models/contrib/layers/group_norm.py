"""Normalizing layers of tf.contrib.layers that need no other examples: in groups, and alone.

Source: TF 1.15 API documentation, tf.contrib.layers.group_norm, tf.contrib.layers.instance_norm;
Wu and He 2018, arXiv 1803.08494; Ulyanov, Vedaldi and Lempitsky 2016, arXiv 1607.08022.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.models.contrib.layers.variable_getters import add_variable, finished
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.initializers import ones_initializer, zeros_initializer
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["group_norm", "instance_norm"]

_KINDS = {"beta": zeros_initializer(), "gamma": ones_initializer()}


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Return the inputs with mean 0 and variance 1 in each channel of each example.

    Args:
      inputs: [batch, ..., channels]; see data_format.
      center: whether an offset, beta, is added.
      scale: whether it is multiplied by gamma.
      epsilon: added to the variance, so that it is not 0.
      activation_fn: function of the result; None for none.
      param_initializers: a dict from "beta" and "gamma".
      reuse: whether variables are those of a layer of this scope.
      variables_collections: collections for all variables, or a dict from their names.
      outputs_collections: collections that the result is added to.
      trainable: whether beta and gamma are trained.
      data_format: "NHWC" or "NCHW": where channels are.
      scope: name of the layer's scope.

    Raises:
      ValueError: there is no such data format, or rank or channels are unknown.

    Example:
      >>> contrib.layers.instance_norm(zeros([2, 4, 4, 3])).shape.as_list()
      [2, 4, 4, 3]
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    inputs = convert_to_tensor(inputs)
    rank = _known_rank(inputs)
    channels = 1 if data_format == "NCHW" else rank - 1
    axes = [axis for axis in range(1, rank) if axis != channels]
    broadcast = [1] * rank
    broadcast[channels] = _known_size(inputs, channels)
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as entered:
        made = _parameters(
            inputs, broadcast[channels], broadcast if channels != rank - 1 else None,
            {"beta": center, "gamma": scale}, param_initializers, variables_collections, trainable,
        )  # fmt: skip
        mean, variance = nn.moments(inputs, axes, keep_dims=True)
        outputs = nn.batch_normalization(
            inputs, mean, variance, made.get("beta"), made.get("gamma"), epsilon,
            name="instancenorm",
        )  # fmt: skip
        outputs.set_shape(inputs.plain_shape)
        return finished(outputs, None, None, activation_fn, outputs_collections, entered)


def _known_rank(inputs: Any) -> int:
    if inputs.plain_shape is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    return len(inputs.plain_shape)


def _known_size(inputs: Any, axis: int) -> int:
    size = inputs.plain_shape[axis]
    if size is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {axis}.")
    return size  # type: ignore[no-any-return]


def _parameters(
    inputs: Any,
    channels: int,
    broadcast: list[int] | None,
    wanted: dict[str, bool],
    initializers: Any,
    collections: Any,
    trainable: bool,
) -> dict[str, Any]:
    """Return beta and gamma, those that are wanted, in a shape that broadcasts to the inputs'."""
    made: dict[str, Any] = {}
    for name, initializer in _KINDS.items():
        if wanted[name]:
            variable = model_variable(
                name, [channels], inputs.dtype.base_dtype,
                (initializers or {}).get(name, initializer), trainable=trainable,
            )  # fmt: skip
            add_variable(variable, collections, name)
            made[name] = variable if broadcast is None else reshape(variable, broadcast)
    return made


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Return the inputs with mean 0 and variance 1 in each group of channels of each example.

    Args:
      inputs: float tensor; all sizes but the batch's must be known.
      groups: number of groups, by which the number of channels can be divided.
      channels_axis: that of channels.
      reduction_axes: axes over which mean and variance are taken, besides the group's channels.
      center: whether an offset, beta, is added.
      scale: whether it is multiplied by gamma.
      epsilon: added to the variance, so that it is not 0.
      activation_fn: function of the result; None for none.
      param_initializers: a dict from "beta" and "gamma".
      reuse: whether variables are those of a layer of this scope.
      variables_collections: collections for all variables, or a dict from their names.
      outputs_collections: collections that the result is added to.
      trainable: whether beta and gamma are trained.
      scope: name of the layer's scope.
      mean_close_to_zero: whether sums of squares may be taken without the mean.

    Raises:
      ValueError: the channels cannot be divided so, axes are the same, or a size is unknown.

    Example:
      >>> contrib.layers.group_norm(zeros([2, 4, 4, 6]), groups=3).shape.as_list()
      [2, 4, 4, 6]
    """
    inputs = convert_to_tensor(inputs)
    rank = _known_rank(inputs)
    axis, reduced = channels_axis % rank, sorted(each % rank for each in reduction_axes)
    channels = _known_size(inputs, axis)
    _check_groups(channels, groups, axis, reduced)
    known = inputs.plain_shape
    dynamic: Any = shape(inputs) if known[0] is None else known
    sizes = [dynamic[0], *known[1:]]
    split = [*sizes[:axis], groups, channels // groups, *sizes[axis + 1 :]]
    broadcast = [1] * len(split)
    broadcast[axis : axis + 2] = [groups, channels // groups]
    # axes behind the channels have moved by one
    axes = [axis + 1, *(each + 1 if each > axis else each for each in reduced)]
    grouped = reshape(inputs, split)
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as entered:
        made = _parameters(
            inputs, channels, broadcast, {"beta": center, "gamma": scale}, param_initializers,
            variables_collections, trainable,
        )  # fmt: skip
        if mean_close_to_zero:
            statistics = nn.sufficient_statistics(grouped, sorted(axes), keep_dims=True)
            mean, variance = nn.normalize_moments(*statistics)
        else:
            mean, variance = nn.moments(grouped, axes, keep_dims=True)
        outputs = reshape(_scaled(grouped, mean, variance, made, epsilon), sizes)
        outputs.set_shape(known)
        return finished(outputs, None, None, activation_fn, outputs_collections, entered)


def _check_groups(channels: int, groups: int, axis: int, reduced: list[int]) -> None:
    if axis in reduced:
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels or channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")


def _scaled(inputs: Any, mean: Any, variance: Any, made: dict[str, Any], epsilon: float) -> Any:
    gain = raw.Rsqrt(variance + epsilon)
    offset = raw.Mul(raw.Neg(mean), gain)
    if "gamma" in made:
        gain, offset = gain * made["gamma"], offset * made["gamma"]
    if "beta" in made:
        offset = offset + made["beta"]
    return inputs * gain + offset
