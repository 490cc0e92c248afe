"""tf.contrib.slim.nets.alexnet: AlexNet in one column.

Source: Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014.
"""

from __future__ import annotations

from typing import Any

from tfdist.models.contrib.slim.plain_nets import (
    Head,
    Row,
    plain_arg_scope,
    plain_net,
    trunc_normal,
)
from tfdist.models.layers.defaults import ZEROS
from tfdist.ops.variables.initializers import constant_initializer

__all__ = ["alexnet_v2", "alexnet_v2_arg_scope", "trunc_normal"]

_ROWS = (
    Row("conv1", 64, [11, 11], 4, "VALID"), Row("pool1", None, [3, 3], 2),
    Row("conv2", 192, [5, 5]), Row("pool2", None, [3, 3], 2),
    Row("conv3", 384, [3, 3]), Row("conv4", 384, [3, 3]), Row("conv5", 256, [3, 3]),
    Row("pool5", None, [3, 3], 2),
)  # fmt: skip
_BIASES = constant_initializer(0.1)
_HEAD = Head(
    (Row("fc6", 4096, [5, 5], padding="VALID", keep=True), Row("fc7", 4096, [1, 1], keep=True)),
    {"weights_initializer": trunc_normal(0.005), "biases_initializer": _BIASES},
    {"biases_initializer": ZEROS},
)

alexnet_v2 = plain_net(
    "alexnet_v2", 224, _ROWS, _HEAD, lambda scope: f"{scope.original_name_scope}_end_points"
)
alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Return the arguments of AlexNet's layers, for an `arg_scope`.

    Args:
      weight_decay: factor of the weights' regularization.

    Example:
      >>> from tfdist.api.contrib.slim.nets import alexnet
      >>> with contrib.slim.arg_scope(alexnet.alexnet_v2_arg_scope()):
      ...     contrib.slim.conv2d(zeros([1, 4, 4, 3]), 2, 3).shape.as_list()
      [1, 4, 4, 2]
    """
    return plain_arg_scope(weight_decay, _BIASES)
