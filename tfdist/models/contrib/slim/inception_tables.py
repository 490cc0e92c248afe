"""Inception networks of tf.contrib.slim as tables, and what walks them.

A table has a line for each layer or block: its name, a colon, and what it is made of. Branches are
parted by `|`, steps by commas. A step is a name, which ends with the kernel's size, and the output
channels of a convolution; then, where not as usual: `/2` for steps of the window, `v` or `s` after
it for padding "VALID" or "SAME", `=3x3` for a kernel other than the name says, `~0.09` for the
deviation of the weights at first. Two steps with `+` between take the same input, and stand side by
side in the output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tfdist.models.contrib.framework.arg_scope import arg_scope
from tfdist.models.contrib.layers.convolutions import avg_pool2d, conv2d, max_pool2d
from tfdist.models.contrib.layers.layers import dropout, fully_connected, softmax
from tfdist.models.contrib.layers.normalization import batch_norm
from tfdist.models.contrib.slim.plain_nets import trunc_normal
from tfdist.models.layers.initializers import variance_scaling_initializer
from tfdist.models.layers.regularizers import l2_regularizer
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import squeeze
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.variable_scope import variable_scope

Depth = Callable[[int], int]

_STEP = re.compile(
    r"(?P<scope>\w+?_?(?P<height>\d+)x(?P<width>\d+))(?: (?P<depth>\d+))?"
    r"(?: /(?P<stride>\d)(?P<padding>[vs]?))?(?: =(?P<kernel>\d)x\d)?(?: ~(?P<stddev>[\d.]+))?"
)
_PADDINGS = {"v": "VALID", "s": "SAME"}
_POOLS = {"Max": max_pool2d, "Avg": avg_pool2d}


class Line(NamedTuple):
    """A line of a table.

    Attributes:
      name: that of an end point.
      branches: texts; a single layer has one without `|`.
    """

    name: str
    branches: list[str]


def lines(table: str) -> Iterator[Line]:
    """Yield the lines of a table."""
    for line in table.strip().split("\n"):
        name, colon, text = line.partition(": ")
        yield Line(name, text.split(" | ")) if colon else Line(name.split(" ")[0], [line])


def _step(net: Any, text: str, depth: Depth) -> Any:
    """Return the output of one step."""
    found = _STEP.fullmatch(text)
    assert found is not None, text
    size = [int(found["height"]), int(found["width"])]
    given: dict[str, Any] = {"scope": found["scope"]}
    if found["stride"]:
        given["stride"] = int(found["stride"])
    if found["padding"]:
        given["padding"] = _PADDINGS[found["padding"]]
    if found["stddev"]:
        given["weights_initializer"] = trunc_normal(float(found["stddev"]))
    if found["depth"] is None:
        return _POOLS[text[:3]](net, size, **given)
    kernel = [int(found["kernel"])] * 2 if found["kernel"] else size
    return conv2d(net, depth(int(found["depth"])), kernel, **given)


def _branch(net: Any, text: str, depth: Depth) -> Any:
    for step in text.split(", "):
        sides = [_step(net, side, depth) for side in step.split(" + ")]
        net = sides[0] if len(sides) == 1 else concat(sides, axis=3)
    return net


def _block(net: Any, line: Line, depth: Depth) -> Any:
    with variable_scope(line.name):
        outputs = []
        for number, text in enumerate(line.branches):
            with variable_scope(f"Branch_{number}"):
                outputs.append(_branch(net, text, depth))
        return concat(outputs, axis=3)


def walked(
    net: Any, table: str, final_endpoint: str, end_points: dict[str, Any], depth: Depth = int
) -> Any:
    """Return the output of a table's lines up to `final_endpoint`, None if that is not in it.

    Args:
      net: the input.
      table: see the module.
      final_endpoint: name of the last line.
      end_points: gets the outputs by their names.
      depth: function of the table's channels to how many there are.
    """
    if final_endpoint in end_points:
        return end_points[final_endpoint]
    for line in lines(table):
        is_layer = len(line.branches) == 1
        net = _step(net, line.branches[0], depth) if is_layer else _block(net, line, depth)
        end_points[line.name] = net
        if line.name == final_endpoint:
            return net
    return None


def windows(stride: int, padding: str) -> Any:
    """Return an `arg_scope` of how windows move."""
    return arg_scope([conv2d, max_pool2d, avg_pool2d], stride=stride, padding=padding)


def deepened(depth_multiplier: float, min_depth: int) -> Depth:
    """Return the function from a table's channels to how many there are.

    Raises:
      ValueError: `depth_multiplier` is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda channels: max(int(channels * depth_multiplier), min_depth)


def window_within(net: Any, size: int) -> list[int]:
    """Return the height and width of a window, no larger than what it moves over."""
    known = net.plain_shape
    if known is None or None in known[1:3]:
        return [size, size]
    return [min(known[1], size), min(known[2], size)]


def classified(net: Any, num_classes: int, spatial_squeeze: bool, scope: str, **given: Any) -> Any:
    """Return logits: a convolution of one place, whose height and width may be taken away."""
    logits = conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope, **given
    )
    return squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


def inception_arg_scope(
    weight_decay: float, batch_norm_var_collection: str, use_batch_norm: bool = True, **given: Any
) -> Any:
    """Return the arguments of an Inception network's layers.

    Args:
      weight_decay: factor of the weights' regularization.
      batch_norm_var_collection: collection of the averages.
      use_batch_norm: whether batches are normalized.
      **given: other arguments of `batch_norm`.
    """
    averages = [batch_norm_var_collection]
    parameters = {
        "decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS, **given,
        "variables_collections": {
            "beta": None, "gamma": None, "moving_mean": averages, "moving_variance": averages,
        },
    }  # fmt: skip
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope(
            [conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=nn.relu,
            normalizer_fn=batch_norm if use_batch_norm else None,
            normalizer_params=parameters if use_batch_norm else {},
        ) as found,
    ):  # fmt: skip
        return found


def training(is_training: Any) -> Any:
    """Return an `arg_scope` of whether batch norm and dropout are those of training."""
    return arg_scope([batch_norm, dropout], is_training=is_training)


PREDICT = softmax
