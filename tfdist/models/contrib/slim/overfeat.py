"""tf.contrib.slim.nets.overfeat: OverFeat, the fast model.

Source: Sermanet and others, "OverFeat: Integrated Recognition, Localization and Detection", 2014.
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

__all__ = ["overfeat", "overfeat_arg_scope", "trunc_normal"]

_ROWS = (
    Row("conv1", 64, [11, 11], 4, "VALID"), Row("pool1", None, [2, 2]),
    Row("conv2", 256, [5, 5], padding="VALID"), Row("pool2", None, [2, 2]),
    Row("conv3", 512, [3, 3]), Row("conv4", 1024, [3, 3]), Row("conv5", 1024, [3, 3]),
    Row("pool5", None, [2, 2]),
)  # fmt: skip
_HEAD = Head(
    (Row("fc6", 3072, [6, 6], padding="VALID", keep=True), Row("fc7", 4096, [1, 1], keep=True)),
    {
        "weights_initializer": trunc_normal(0.005),
        "biases_initializer": constant_initializer(0.1),
    },
    {"biases_initializer": ZEROS},
)

overfeat = plain_net("overfeat", 231, _ROWS, _HEAD, lambda scope: f"{scope.name}_end_points")


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Return the arguments of OverFeat's layers, for an `arg_scope`.

    Args:
      weight_decay: factor of the weights' regularization.

    Example:
      >>> from tfdist.api.contrib.slim.nets import overfeat
      >>> with contrib.slim.arg_scope(overfeat.overfeat_arg_scope()):
      ...     contrib.slim.conv2d(zeros([1, 4, 4, 3]), 2, 3).shape.as_list()
      [1, 4, 4, 2]
    """
    return plain_arg_scope(weight_decay)
