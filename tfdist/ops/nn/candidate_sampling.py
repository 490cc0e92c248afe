"""Candidate samplers: classes drawn by chance from a distribution over [0, range_max)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.room import check_room
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.session_handles import store
from tfdist.ops.nn.candidate_draws import sampled, sampler_shape
from tfdist.ops.nn.candidate_numbers import AliasTable, alias_table, numbers
from tfdist.ops.random.random_ops import get_seed

__all__ = [
    "all_candidate_sampler", "fixed_unigram_candidate_sampler", "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]  # fmt: skip

_OUTPUTS = (
    "(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float, "
    "sampled_expected_count: float [num_true: int >=1; num_sampled: int >=1; unique: bool; "
)
_SEEDS = "seed: int = 0; seed2: int = 0] !"


def _ranged(name: str, draw: Callable[..., Any], chance: Callable[..., Any]) -> OpDef:
    """Define a sampler of a distribution that the number of classes tells.

    Args:
      name: of the op.
      draw: takes a source of numbers, a number and range_max.
      chance: takes classes and range_max.
    """
    op_def = OpDef(f"{name}{_OUTPUTS}range_max: int >=1; {_SEEDS}").not_differentiable()
    op_def.checked_shape(sampler_shape)

    @op_def.kernel
    def kernel(
        ctx: Any, true_classes: Any, *, num_sampled: int, unique: bool, range_max: int, seed: int,
        seed2: int,
    ) -> Any:  # fmt: skip
        source = numbers(ctx, num_sampled, seed, seed2)
        return sampled(
            ctx, true_classes, num_sampled, unique, lambda count: draw(source, count, range_max),
            lambda classes: chance(classes, range_max), range_max,
        )  # fmt: skip

    return op_def


UNIFORM = _ranged(
    "UniformCandidateSampler",
    lambda source, count, classes: source.below(classes, count),
    lambda values, classes: np.full(values.shape, 1 / classes),
)
# Zipf's law, nearly: P(k) = log((k + 2) / (k + 1)) / log(classes + 1)
LOG_UNIFORM = _ranged(
    "LogUniformCandidateSampler",
    lambda source, count, classes: np.minimum(
        np.exp(source.doubles(count) * np.log(classes + 1)).astype(np.int64) - 1, classes - 1
    ),
    lambda values, classes: np.log1p(1 / (values + 1.0)) / np.log(classes + 1),
)
ALL = OpDef(f"AllCandidateSampler{_OUTPUTS}{_SEEDS}").not_differentiable()
ALL.checked_shape(sampler_shape)


@ALL.kernel
def all_candidate_sampler_kernel(true_classes: Any, *, num_sampled: int) -> list[Any]:
    check_room([num_sampled], np.int64)
    ones = np.ones(true_classes.shape, np.float32), np.ones(num_sampled, np.float32)
    return [np.arange(num_sampled), *ones]


FIXED_UNIGRAM = OpDef(
    f"FixedUnigramCandidateSampler{_OUTPUTS}range_max: int >=1; vocab_file: string = ''; "
    "distortion: float = 1.0; num_reserved_ids: int = 0; num_shards: int = 1 >=1; "
    f"shard: int = 0 >=0; unigrams: list(float) = []; {_SEEDS}"
).not_differentiable()
FIXED_UNIGRAM.checked_shape(sampler_shape)


@FIXED_UNIGRAM.kernel
def fixed_unigram_candidate_sampler_kernel(
    ctx: Any, true_classes: Any, *, num_sampled: int, unique: bool, range_max: int,
    vocab_file: bytes, distortion: float, num_reserved_ids: int, num_shards: int, shard: int,
    unigrams: Any, seed: int, seed2: int,
) -> list[Any]:  # fmt: skip
    def prepare() -> tuple[Any, AliasTable, int]:
        weights = _weights(vocab_file, unigrams, num_reserved_ids, range_max)
        weights = weights.astype(np.float32) ** np.float32(distortion)
        weights[:num_reserved_ids] = 0
        own = np.zeros_like(weights)
        own[shard::num_shards] = weights[shard::num_shards]
        return (
            weights / weights.sum(dtype=np.float64).astype(np.float32),
            alias_table(own),
            int(np.count_nonzero(own)),
        )

    total, table, drawable = store(ctx).find(ctx.node_name, prepare)
    source = numbers(ctx, num_sampled, seed, seed2)
    return sampled(
        ctx, true_classes, num_sampled, unique, lambda count: source.aliased(table, count),
        lambda classes: total[classes], drawable,
    )  # fmt: skip


def _weights(vocab_file: bytes, unigrams: Any, reserved: int, classes: int) -> Any:
    """Return the weight of each class: from a list, or the last column of a file."""
    if bool(vocab_file) == bool(unigrams):
        raise InvalidArgumentError("Must provide one of: vocab_file, unigrams; and not both")
    values = list(unigrams)
    if vocab_file:
        values = _last_column(vocab_file.decode())
    weights = np.array([0.0] * reserved + values)
    if len(weights) != classes:
        raise InvalidArgumentError(
            f"range_max is {classes}, but {len(weights)} weights are there, {reserved} of them "
            "reserved ids"
        )
    return weights


def _last_column(path: str) -> list[float]:
    try:
        with open(path, encoding="utf-8") as file:
            return [float(line.rstrip().rpartition(",")[2]) for line in file if line.strip()]
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise InvalidArgumentError(f"{path}: the last column is the weight: {error}") from None


def public_sampler(op_def: OpDef, formula: str, title: str) -> Callable[..., Any]:
    """Return the public function of a sampler over a range.

    Args:
      op_def: the op.
      formula: how likely class k is.
      title: of the function.
    """

    def function(
        true_classes: Any,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        one, two = get_seed(seed)
        return op_def(
            true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
            range_max=range_max, seed=one, seed2=two, name=name,
        )  # fmt: skip

    function.__name__ = function.__qualname__ = title
    function.__doc__ = f"""Return classes drawn by chance, class k with probability {formula}.

    Args:
      true_classes: int64 [batch, num_true].
      num_true: how many true classes each example has.
      num_sampled: how many to draw, for the whole batch.
      unique: whether all must be different.
      range_max: how many classes there are.
      seed: of the draws; see `set_random_seed`.
      name: of the node.

    Returns:
      The classes, int64 [num_sampled]; how often each true class is to be expected among them,
      [batch, num_true]; the same for those that were drawn.

    Example: all of them, in some order.
      >>> drawn, _, expected = nn.{title}([[0]], 1, 3, True, 3)
      >>> sorted(Session().run(drawn).tolist())
      [0, 1, 2]
    """
    return function


uniform_candidate_sampler = public_sampler(UNIFORM, "1 / range_max", "uniform_candidate_sampler")
log_uniform_candidate_sampler = public_sampler(
    LOG_UNIFORM,
    "log((k + 2) / (k + 1)) / log(range_max + 1)",
    "log_uniform_candidate_sampler",
)


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return classes drawn by chance, by given weights.

    Args:
      true_classes: int64 [batch, num_true].
      num_true: how many true classes each example has.
      num_sampled: how many to draw, for the whole batch.
      unique: whether all must be different.
      range_max: how many classes there are.
      vocab_file: a file with a line for each class, whose last column is its weight.
      distortion: exponent of the weights.
      num_reserved_ids: how many classes in front have no weight, and are never drawn.
      num_shards: of how many samplers this is one, for all of the range.
      shard: which one.
      unigrams: the weights, instead of a file.
      seed: of the draws; see `set_random_seed`.
      name: of the node.

    Returns:
      The classes and the two expected counts, as of `uniform_candidate_sampler`.

    Example:
      >>> drawn = nn.fixed_unigram_candidate_sampler(
      ...     [[0]], 1, 2, False, 3, unigrams=[0.0, 1.0, 0.0]
      ... )[0]
      >>> Session().run(drawn)
      array([1, 1])
    """
    one, two = get_seed(seed)
    return FIXED_UNIGRAM(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
        range_max=range_max, vocab_file=vocab_file, distortion=distortion,
        num_reserved_ids=num_reserved_ids, num_shards=num_shards, shard=shard,
        unigrams=list(unigrams), seed=one, seed2=two, name=name,
    )  # fmt: skip


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return all classes, as a sampler that leaves none out.

    Args:
      true_classes: int64 [batch, num_true].
      num_true: how many true classes each example has.
      num_sampled: how many classes there are.
      unique: taken and not needed.
      seed: taken and not needed.
      name: of the node.

    Example:
      >>> Session().run(nn.all_candidate_sampler([[0]], 1, 3, True)[0])
      array([0, 1, 2])
    """
    one, two = get_seed(seed)
    return ALL(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, seed=one,
        seed2=two, name=name,
    )  # fmt: skip
