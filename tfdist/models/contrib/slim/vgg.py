"""tf.contrib.slim.nets.vgg: the networks of 11, 16 and 19 layers.

Source: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
Recognition", 2014, configurations A, D and E.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.models.contrib.slim.plain_nets import Head, Row, plain_arg_scope, plain_net

__all__ = ["vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e"]

_DEPTHS = (64, 128, 256, 512, 512)
_HEAD = Head(
    (Row("fc6", 4096, [7, 7], padding="VALID", keep=True), Row("fc7", 4096, [1, 1], keep=True)),
    {},
    {},
)


def _vgg(name: str, times: tuple[int, ...], collection_of: Callable[[Any], str]) -> Any:
    """Return a network with so many convolutions before each pool."""
    rows = []
    for place, (depth, count) in enumerate(zip(_DEPTHS, times, strict=True), 1):
        rows += [Row(f"conv{place}", depth, [3, 3], times=count), Row(f"pool{place}", None, [2, 2])]
    network = plain_net(name, 224, rows, _HEAD, collection_of)
    network.default_image_size = 224  # type: ignore[attr-defined]
    return network


vgg_a = _vgg("vgg_a", (1, 1, 2, 2, 2), lambda scope: f"{scope.original_name_scope}_end_points")
vgg_16 = _vgg("vgg_16", (2, 2, 3, 3, 3), lambda scope: f"{scope.original_name_scope}_end_points")
vgg_19 = _vgg("vgg_19", (2, 2, 4, 4, 4), lambda scope: f"{scope.name}_end_points")
vgg_d, vgg_e = vgg_16, vgg_19


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Return the arguments of VGG's layers, for an `arg_scope`.

    Args:
      weight_decay: factor of the weights' regularization.

    Example:
      >>> from tfdist.api.contrib.slim.nets import vgg
      >>> with contrib.slim.arg_scope(vgg.vgg_arg_scope()):
      ...     contrib.slim.conv2d(zeros([1, 4, 4, 3]), 2, 3).shape.as_list()
      [1, 4, 4, 2]
    """
    return plain_arg_scope(weight_decay, pools=False)
