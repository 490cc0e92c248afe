"""Batch renormalization: batches are normalized so that the result is that of the moving averages.

With r = stddev / moving stddev and d = (mean - moving mean) / moving stddev, which are constants
for gradients, the result of a batch is (x - mean) / stddev * r + d.

Source: TF 1.15 API documentation, tf.layers.batch_normalization; Ioffe 2017, arXiv 1702.03275.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies
from tfdist.models.layers.training_switch import chosen
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.variables.state_ops import assign

_BOUNDS = ["rmax", "rmin", "dmax"]


class Renormalized(NamedTuple):
    """What becomes of a batch.

    Attributes:
      scale: r.
      offset: d.
      mean: the batch's, once the averages that r and d are made of have moved.
      variance: the batch's, once the averages that r and d are made of have moved.
    """

    scale: Any
    offset: Any
    mean: Any
    variance: Any


def checked_clipping(clipping: Any) -> dict[str, Any]:
    """Return bounds of r and d by name: "rmax", "rmin" and "dmax".

    Raises:
      ValueError: there is another name.
    """
    bounds = dict(clipping or {})
    if not set(bounds) <= set(_BOUNDS):
        raise ValueError(f"renorm_clipping {clipping} contains keys not in {_BOUNDS}")
    return bounds


def root_of(initializer: Any) -> Any:
    """Return an initializer that gives the square root of what another one gives."""

    def root(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        made = initializer() if isinstance(initializer, type) else initializer
        return raw.Sqrt(made(shape, dtype=dtype))

    return root


def renormalized(layer: Any, mean: Any, variance: Any, training: Any) -> Renormalized:
    """Return r and d of a batch, and let the averages that they are made of move.

    Args:
      layer: a BatchNormalization, with renorm_mean and renorm_stddev.
      mean: of the batch.
      variance: of the batch.
      training: whether the averages move, and r and d are not 1 and 0: a bool or a tensor.
    """
    stddev = raw.Sqrt(variance + layer.epsilon)
    least = raw.Sqrt(convert_to_tensor(layer.epsilon, variance.dtype, name="Sqrt_1/x"))
    average = raw.Maximum(layer.renorm_stddev, least)
    scale, offset = stddev / average, (mean - layer.renorm_mean) / average
    with control_dependencies([scale, offset]):  # which are of the averages before
        mean, stddev = identity(mean), identity(stddev)
    scale, offset = _clipped(scale, offset, layer.renorm_clipping)
    made = chosen(training, lambda: scale, lambda: ones_like(scale))
    added = chosen(training, lambda: offset, lambda: zeros_like(offset))
    moved = [
        _moved(layer, layer.renorm_mean, mean, training),
        _moved(layer, layer.renorm_stddev, stddev, training),
    ]
    with control_dependencies(moved):
        mean, variance = identity(mean), identity(variance)
    scale = raw.StopGradient(made, name="renorm_r")
    return Renormalized(scale, raw.StopGradient(added, name="renorm_d"), mean, variance)


def _clipped(scale: Any, offset: Any, bounds: dict[str, Any]) -> tuple[Any, Any]:
    if bounds.get("rmin") is not None:
        scale = raw.Maximum(scale, bounds["rmin"])
    if bounds.get("rmax") is not None:
        scale = raw.Minimum(scale, bounds["rmax"])
    if bounds.get("dmax") is not None:
        bound = bounds["dmax"]
        offset = raw.Minimum(raw.Maximum(offset, -bound), bound)
    return scale, offset


def _moved(layer: Any, average: Any, value: Any, training: Any) -> Any:
    value = identity(value)
    return chosen(
        training,
        lambda: layer.moved(average, value, layer.renorm_momentum),
        lambda: identity(average),
    )


def move_variance(layer: Any, variance: Any, training: Any) -> None:
    """Let the moving variance be made of a moving standard deviation."""

    def moved() -> Any:
        deviation = raw.Sqrt(variance + layer.epsilon)
        average = layer.moved(layer.moving_stddev, deviation, layer.momentum)
        own = raw.Relu(average * average - layer.epsilon)
        return assign(layer.moving_variance, own, name="AssignNewValue")

    layer.add_update(chosen(training, moved, layer.moving_variance.value))


def transformed(scale: Any, offset: Any, gamma: Any, beta: Any) -> tuple[Any, Any]:
    """Return gamma and beta of x * gamma + beta, for x * scale + offset in the place of x."""
    if gamma is not None:
        scale, offset = scale * gamma, offset * gamma
    return scale, offset if beta is None else offset + beta
