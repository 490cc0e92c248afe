"""Generalized divisive normalization: channels divided by what all channels of a place are.

Source: TF 1.15 API documentation, tf.contrib.layers.gdn; Balle, Laparra and Simoncelli 2015,
arXiv 1511.06281.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import get_default_graph
from tfdist.models.layers.base import Layer, known_size, shape_of_input
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.reshape import reshape
from tfdist.ops.autodiff.gradients import RegisterGradient
from tfdist.ops.convolution.dilated import convolution
from tfdist.ops.nn import functions as nn

__all__ = ["GDN", "gdn"]

_BOUNDED = "GDNLowerBound"


@RegisterGradient(_BOUNDED)
def _bounded_gradient(op: Any, d_output: Any) -> Any:
    """Return the gradient where the value is free, or where it leads back above the bound."""
    value, bound = op.inputs
    passes = raw.LogicalOr(raw.GreaterEqual(value, bound), raw.Less(d_output, 0.0))
    return cast(passes, d_output.dtype) * d_output, None


class GDN(Layer):
    """A layer that divides each channel by sqrt(beta + squares of all channels @ gamma).

    Args:
      inverse: whether it multiplies instead.
      beta_min: the least beta.
      gamma_init: with what gamma, a diagonal, begins.
      reparam_offset: keeps the gradients of the roots, which are what is trained, from 0.
      data_format: "channels_last" or "channels_first".
      activity_regularizer: function from the output to a loss.
      trainable: whether beta and gamma are trained.
      name: of the layer.

    Example:
      >>> contrib.layers.GDN()(zeros([2, 5, 4, 3])).shape.as_list()
      [2, 5, 4, 3]
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2.0**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **options)
        if data_format not in ("channels_last", "channels_first"):
            raise ValueError(f"Unknown data format: '{data_format}'.")
        self.inverse, self.data_format = inverse, data_format
        self.beta_min, self.gamma_init = beta_min, gamma_init
        self.reparam_offset = reparam_offset
        self.beta: Any = None
        self.gamma: Any = None

    def build(self, input_shape: Any) -> None:
        """Make beta and gamma, by their roots.

        Raises:
          ValueError: the number of channels is unknown.
        """
        sizes = shape_of_input(input_shape)
        axis = 1 if self.data_format == "channels_first" else -1
        channels = known_size(self, sizes, axis, "channel")
        self.input_spec = InputSpec(ndim=sizes.ndims, axes={axis: channels})
        pedestal = constant(self.reparam_offset**2, self._dtype)
        bounds = [(self.beta_min + self.reparam_offset**2) ** 0.5, self.reparam_offset]
        limits = [constant(each, self._dtype) for each in bounds]
        starts = [np.ones(channels), self.gamma_init * np.eye(channels)]
        self.beta, self.gamma = (
            self._positive(name, start, limit, pedestal)
            for name, start, limit in zip(("beta", "gamma"), starts, limits, strict=True)
        )
        self.built = True

    def _positive(self, name: str, start: Any, limit: Any, pedestal: Any) -> Any:
        """Return the square of a variable that has a lower bound."""
        root = np.sqrt(np.maximum(start + self.reparam_offset**2, self.reparam_offset**2))
        variable = self.add_weight(
            f"reparam_{name}", list(root.shape), self._dtype,
            lambda shape, dtype=None, partition_info=None: constant(root, dtype),
        )  # fmt: skip
        with get_default_graph().gradient_override_map({"Maximum": _BOUNDED}):
            bounded = raw.Maximum(variable, limit, name="GDNLowerBound")
        return raw.Square(bounded) - pedestal

    def call(self, inputs: Any) -> Any:
        """Return the inputs divided, or multiplied."""
        rank = len(inputs.plain_shape)
        channels = self.beta.plain_shape[0]
        first = self.data_format == "channels_first"
        kernel = reshape(self.gamma, [1] * (rank - 2) + [channels, channels])
        formats = {3: "NCW", 4: "NCHW", 5: "NCDHW"} if first else {}
        pool: Any = convolution(raw.Square(inputs), kernel, "VALID", data_format=formats.get(rank))
        if first and rank != 4:
            pool = pool + reshape(self.beta, [1, channels] + [1] * (rank - 2))
        else:
            pool = nn.bias_add(pool, self.beta, data_format="NCHW" if first else None)
        root = raw.Sqrt(pool)
        return inputs * root if self.inverse else raw.RealDiv(inputs, root, name="truediv")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape: the same."""
        return shape_of_input(input_shape)


def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2.0**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """Return each channel divided by sqrt(beta + squares of all channels @ gamma); see `GDN`.

    `reuse` finds the variables of a layer of that name.

    Example:
      >>> contrib.layers.gdn(zeros([2, 5, 4, 3])).shape.as_list()
      [2, 5, 4, 3]
    """
    layer = GDN(
        inverse, beta_min, gamma_init, reparam_offset, data_format, activity_regularizer, trainable,
        name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer(inputs)
