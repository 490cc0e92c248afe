"""Classes drawn by chance; StatelessMultinomial draws the same whenever it gets the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []

STATELESS_MULTINOMIAL = OpDef(
    "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> output: output_dtype "
    "[T: type {real}; Tseed: type = int64 {index}; output_dtype: type = int64 {index}]"
).not_differentiable()


@STATELESS_MULTINOMIAL.shape
def stateless_multinomial_shape(
    logits: Shape, num_samples: Shape, seed: Shape, *, num_samples_value: Any
) -> Shape:
    shapes.require_rank(seed, "seed", 1, 1)
    return drawn_shape(logits, num_samples_value)


def drawn_shape(logits: Shape, num_samples: Any) -> Shape:
    """Return the shape of what is drawn: [batch, samples]."""
    shapes.require_rank(logits, "logits", 2)
    count = None if num_samples is None else int(num_samples)
    return (None if logits is None else logits[0], count)


@STATELESS_MULTINOMIAL.kernel
def stateless_multinomial_kernel(
    logits: Any, num_samples: Any, seed: Any, *, output_dtype: DType
) -> Any:
    if np.shape(seed) != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(np.shape(seed))}")
    draws = np.random.default_rng(seed.astype(np.uint64))
    return drawn_classes(draws, logits, int(num_samples), output_dtype)


def drawn_classes(draws: np.random.Generator, logits: Any, count: int, dtype: DType) -> Any:
    """Return `count` classes for each row of `logits`, as their distributions have them."""
    # adding Gumbel noise to the logits makes the greatest of them a sample of their distribution
    noise = draws.gumbel(size=(len(logits), count, logits.shape[1]))
    return (logits[:, None].astype(float) + noise).argmax(-1).astype(dtype.as_numpy_dtype)
