"""Sampling by how often each class was true until now.

Each node counts for itself, as long as its session lives; every class begins at 1.

Source: TF 1.15 API documentation, tf.nn.learned_unigram_candidate_sampler.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.room import check_room
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.session_handles import store
from tfdist.ops.nn.candidate_draws import sampled, sampler_shape
from tfdist.ops.nn.candidate_numbers import numbers
from tfdist.ops.nn.candidate_sampling import public_sampler

__all__ = ["learned_unigram_candidate_sampler"]


def _learns(name: str) -> OpDef:
    """Define a sampler that counts."""
    op_def = OpDef(
        f"{name}(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, "
        "sampled_expected_count: float [num_true: int >=1; num_sampled: int >=1; unique: bool; "
        "range_max: int >=1; seed: int = 0; seed2: int = 0] !"
    ).not_differentiable()
    op_def.checked_shape(sampler_shape)

    @op_def.kernel
    def kernel(
        ctx: Any, true_classes: Any, *, num_sampled: int, unique: bool, range_max: int, seed: int,
        seed2: int,
    ) -> Any:  # fmt: skip
        if ((true_classes < 0) | (true_classes >= range_max)).any():
            raise InvalidArgumentError(f"true_classes must be in [0, {range_max})")
        check_room([range_max], np.int64)
        counts = store(ctx).find(ctx.node_name, lambda: np.ones(range_max, np.int64))
        ends, source = np.cumsum(counts), numbers(ctx, num_sampled, seed, seed2)
        found = sampled(
            ctx, true_classes, num_sampled, unique, lambda count: source.weighted(ends, count),
            lambda classes: counts[classes] / ends[-1], range_max,
        )  # fmt: skip
        np.add.at(counts, true_classes.reshape(-1), 1)
        return found

    return op_def


LEARNED_UNIGRAM = _learns("LearnedUnigramCandidateSampler")
THREAD_UNSAFE_UNIGRAM = _learns("ThreadUnsafeUnigramCandidateSampler")

learned_unigram_candidate_sampler = public_sampler(
    LEARNED_UNIGRAM, "of how often it was true until now", "learned_unigram_candidate_sampler"
)
