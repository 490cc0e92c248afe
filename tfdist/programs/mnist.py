"""The tutorials' `mnist`: a network of two hidden layers for digits, piece by piece.

Source: TF 1.x tutorial "TensorFlow Mechanics 101", the names and shapes of its functions.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import zeros
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_mean, reduce_sum
from tfdist.ops.math.top_k import in_top_k
from tfdist.ops.nn.activations import relu
from tfdist.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from tfdist.ops.random.random_ops import truncated_normal
from tfdist.ops.variables.variable import Variable
from tfdist.training.optimizers.gradient_descent import GradientDescentOptimizer

__all__ = [
    "IMAGE_PIXELS", "IMAGE_SIZE", "NUM_CLASSES", "evaluation", "inference", "loss", "training",
]  # fmt: skip

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Tensor:
    """Return the logits [batch, 10] of images [batch, 784].

    Args:
      images: float32.
      hidden1_units: of the first hidden layer.
      hidden2_units: of the second one.
    """
    hidden = relu(_layer("hidden1", convert_to_tensor(images), IMAGE_PIXELS, hidden1_units))
    hidden = relu(_layer("hidden2", hidden, hidden1_units, hidden2_units))
    return _layer("softmax_linear", hidden, hidden2_units, NUM_CLASSES)


def _layer(name: str, inputs: Tensor, size: int, units: int) -> Tensor:
    with name_scope(name):
        start = truncated_normal([size, units], stddev=1 / math.sqrt(size))
        weights = Variable(start, name="weights")
        biases = Variable(zeros([units]), name="biases")
        logits: Tensor = raw.AddV2(matmul(inputs, weights), biases, name="add")
        return logits


def loss(logits: Any, labels: Any) -> Tensor:
    """Return the mean cross entropy of logits [batch, 10] and labels [batch]."""
    labels = cast(labels, dtypes.int64)
    each = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
    return reduce_mean(each, name="xentropy_mean")


def training(loss: Any, learning_rate: Any) -> Operation:
    """Return an operation that does one step of gradient descent, and counts it."""
    global_step = Variable(0, name="global_step", trainable=False)
    optimizer = GradientDescentOptimizer(learning_rate)
    trained: Operation = optimizer.minimize(loss, global_step=global_step)
    return trained


def evaluation(logits: Any, labels: Any) -> Tensor:
    """Return how many images of the batch were known, int32."""
    return reduce_sum(cast(in_top_k(logits, labels, 1), dtypes.int32))
