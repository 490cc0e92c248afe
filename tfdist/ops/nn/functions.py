"""All names of `tf.nn` that ops have, for modules that use many of them: nothing is made here."""

from __future__ import annotations

from tfdist.ops.array.space_to_depth import depth_to_space, space_to_depth
from tfdist.ops.convolution import depthwise, dilated, transposed
from tfdist.ops.convolution import functions as convolutions
from tfdist.ops.convolution.depthwise import *  # noqa: F403
from tfdist.ops.convolution.dilated import *  # noqa: F403
from tfdist.ops.convolution.functions import *  # noqa: F403
from tfdist.ops.convolution.space_to_batch import space_to_batch
from tfdist.ops.convolution.transposed import *  # noqa: F403
from tfdist.ops.math.elementwise import log_sigmoid, sigmoid, tanh
from tfdist.ops.math.top_k import in_top_k, top_k
from tfdist.ops.nn import (
    accidental_hits,
    activations,
    bias,
    candidate_sampling,
    cross_entropy,
    normalization,
    sampled_losses,
    sigmoid_cross_entropy,
)
from tfdist.ops.nn import batch_normalization as batch_normalizations
from tfdist.ops.nn import local_response_normalization as local_normalizations
from tfdist.ops.nn import softmax as softmaxes
from tfdist.ops.nn.accidental_hits import *  # noqa: F403
from tfdist.ops.nn.activations import *  # noqa: F403
from tfdist.ops.nn.batch_normalization import *  # noqa: F403
from tfdist.ops.nn.bias import *  # noqa: F403
from tfdist.ops.nn.candidate_sampling import *  # noqa: F403
from tfdist.ops.nn.cross_entropy import *  # noqa: F403
from tfdist.ops.nn.dropout import dropout
from tfdist.ops.nn.local_response_normalization import *  # noqa: F403
from tfdist.ops.nn.normalization import *  # noqa: F403
from tfdist.ops.nn.sampled_losses import *  # noqa: F403
from tfdist.ops.nn.sigmoid_cross_entropy import *  # noqa: F403
from tfdist.ops.nn.softmax import *  # noqa: F403
from tfdist.ops.pooling import argmax_pooling
from tfdist.ops.pooling import functions as poolings
from tfdist.ops.pooling.argmax_pooling import *  # noqa: F403
from tfdist.ops.pooling.functions import *  # noqa: F403

__all__ = [
    *(name
      for family in (
          accidental_hits, activations, argmax_pooling, batch_normalizations, bias,
          candidate_sampling, convolutions, cross_entropy, depthwise, dilated,
          local_normalizations, normalization, poolings, sampled_losses, sigmoid_cross_entropy,
          softmaxes, transposed,
      )
      for name in family.__all__),
    "depth_to_space", "dropout", "in_top_k", "log_sigmoid", "sigmoid", "space_to_batch",
    "space_to_depth", "tanh", "top_k",
]  # fmt: skip
