"""Samples of the examples: accepted by chance, in wanted proportions, or several times.

Source: TF 1.15 API documentation, tf.contrib.training.rejection_sample and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.checks.assertions import assert_less, assert_less_equal, assert_non_negative
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_max, reduce_mean, reduce_sum
from tfdist.ops.random.distributions import random_poisson
from tfdist.ops.random.random_ops import random_uniform
from tfdist.ops.variables import state_ops
from tfdist.ops.variables.variable import Variable
from tfdist.training.input_queues.batching import batch, maybe_batch

__all__ = ["rejection_sample", "resample_at_rate", "stratified_sample", "weighted_resample"]


def rejection_sample(
    tensors: Any,
    accept_prob_fn: Callable[[list[Any]], Any],
    batch_size: Any,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Return batches of examples, each of which is accepted with a probability of its own.

    Args:
      tensors: list of tensors: one example, or several with `enqueue_many`.
      accept_prob_fn: from an example's tensors to a probability [].
      batch_size: examples in a batch.
      queue_threads: how many threads fill the queue.
      enqueue_many: whether the first axis of `tensors` counts examples.
      prebatch_capacity: of the queue that takes several examples apart.
      prebatch_threads: how many threads fill that one.
      runtime_checks: whether it is an error if a probability is not from 0 to 1.
      name: of the nodes' scope.

    Example:
      >>> number = train.range_input_producer(6, shuffle=False).dequeue()
      >>> even = lambda each: cast(equal(each[0] % 2, 0), float32)
      >>> [numbers] = contrib.training.rejection_sample([number], even, 3)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     threads = train.start_queue_runners(session)
      ...     session.run(numbers).tolist()
      [0, 2, 4]
    """
    with name_scope(name, "rejection_sample", tensors):
        examples = [convert_to_tensor(each) for each in tensors]
        if enqueue_many:
            examples = _one_by_one(examples, prebatch_threads, prebatch_capacity)
        probability = convert_to_tensor(accept_prob_fn(examples))
        if runtime_checks:
            in_range = [assert_non_negative(probability), assert_less_equal(probability, 1.0)]
            probability = with_dependencies(in_range, probability)
        return _accepted(examples, probability, batch_size, queue_threads)


def _one_by_one(tensors: list[Any], threads: int, capacity: int) -> list[Any]:
    """Return single examples of tensors that have several."""
    return _listed(
        batch(tensors, 1, threads, capacity, True), lambda each: raw.Squeeze(each, squeeze_dims=[0])
    )


def _listed(batches: Any, function: Callable[[Any], Any]) -> list[Any]:
    return [function(each) for each in (batches if isinstance(batches, list) else [batches])]


def _accepted(tensors: list[Any], probability: Any, batch_size: Any, threads: int) -> list[Any]:
    keep = raw.Less(random_uniform([]), probability)
    return _listed(maybe_batch(tensors, keep, batch_size, threads), lambda each: each)


def stratified_sample(
    tensors: Any,
    labels: Any,
    target_probs: Any,
    batch_size: Any,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Any], Any]:
    """Return batches in which classes have wanted proportions; other examples are dropped.

    Args:
      tensors: list of tensors: one example, or several with `enqueue_many`.
      labels: integers [], or [n]: the class of each example.
      target_probs: [classes], the wanted proportions.
      batch_size: examples in a batch.
      init_probs: [classes], the proportions in the data; by default they are estimated.
      enqueue_many: whether the first axis of `tensors` counts examples.
      queue_capacity: of the queue of all examples.
      threads_per_queue: how many threads fill each queue.
      name: of the nodes' scope.

    Returns:
      A list of tensors [batch_size, ...], and the labels [batch_size].

    Raises:
      ValueError: `tensors` is no list, proportions are none, or a class is wanted that never comes.
      InvalidArgumentError: when it runs and a label is no class.
    """
    if not isinstance(tensors, list | tuple):
        raise ValueError(f"tensors must be a list of tensors, got {tensors!r}")
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        examples = [convert_to_tensor(each) for each in tensors]
        labels = convert_to_tensor(labels)
        wanted = _proportions("target_probs", target_probs)
        _check_labels(labels, examples, enqueue_many)
        count = wanted.plain_shape[0]
        labels = with_dependencies(
            [assert_non_negative(labels), assert_less(labels, cast(count, labels.dtype))], labels
        )
        if init_probs is None:
            labels, given = _counted(labels, count)
        else:
            given = _proportions("init_probs", init_probs)
            _check_possible(given, wanted)
        accept = _acceptance(given, wanted)
        both = [*examples, labels]
        if enqueue_many:
            both = _one_by_one(both, threads_per_queue, queue_capacity)
        else:
            many = [expand_dims(each, 0) for each in both]
            both = _one_by_one(many, threads_per_queue, queue_capacity)
        made = _accepted(both, gather(accept, both[-1]), batch_size, threads_per_queue)
        return made[:-1], made[-1]


def _proportions(what: str, given: Any) -> Any:
    """Return proportions as a tensor; ValueError if they are known and are none."""
    tensor = convert_to_tensor(given, dtypes.float32)
    if tensor.plain_shape is None or len(tensor.plain_shape) != 1:
        raise ValueError(f"{what} must be a vector, got shape {tensor.shape}")
    known = constant_value(tensor)
    if known is not None and ((known < 0).any() or abs(known.sum() - 1.0) > 1e-2):
        raise ValueError(f"{what} must be proportions that sum to one, got {known.tolist()}")
    return tensor


def _check_labels(labels: Any, tensors: list[Any], enqueue_many: bool) -> None:
    rank = 1 if enqueue_many else 0
    if labels.plain_shape is not None and len(labels.plain_shape) != rank:
        raise ValueError(f"labels must have rank {rank}, got shape {labels.shape}")
    if enqueue_many:
        for each in tensors:
            each.shape[:1].assert_is_compatible_with(labels.shape)


def _check_possible(given: Any, wanted: Any) -> None:
    values = constant_value(given), constant_value(wanted)
    if values[0] is not None and values[1] is not None:
        never = np.flatnonzero((values[0] == 0) & (values[1] > 0))
        if never.size:
            raise ValueError(
                f"Some initial probability class has nonzero target probability: {never.tolist()}"
            )


def _acceptance(given: Any, wanted: Any) -> Any:
    """Return with which probability an example of each class is accepted."""
    ratio = raw.DivNoNan(wanted, given)
    return raw.DivNoNan(ratio, reduce_max(ratio))


def _counted(labels: Any, count: int) -> tuple[Any, Any]:
    """Return the labels, which are counted as they come, and the proportions so far."""
    seen = Variable(np.ones(count, np.int64), trainable=False, name="class_count")
    new = reduce_sum(reshape(one_hot(labels, count, dtype=dtypes.int64), [-1, count]), 0)
    labels = with_dependencies([state_ops.assign_add(seen, new)], labels)
    counts = cast(seen.read_value(), dtypes.float32)
    return labels, counts / reduce_sum(counts)


def resample_at_rate(
    inputs: Sequence[Any],
    rates: Any,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Any]:
    """Return each element of the batch as often as chance says.

    Args:
      inputs: list of tensors [batch, ...].
      rates: [batch], how often each element comes on average.
      scope: of the nodes.
      seed: of the chance.
      back_prop: whether gradients flow through the choice; taken and not needed.

    Returns:
      A list of tensors [n, ...].

    Example:
      >>> [found] = contrib.training.resample_at_rate([constant([5, 6])], [0.0, 0.0])
      >>> Session().run(found).tolist()
      []
    """
    with name_scope(scope, "resample_at_rate", list(inputs)):
        rates = convert_to_tensor(rates, name="rates")
        times = cast(random_poisson(rates, [], rates.dtype, seed=seed), dtypes.int32)
        chosen = raw.StopGradient(_repeated(times))
        return [gather(convert_to_tensor(each), chosen) for each in inputs]


def _repeated(times: Any) -> Any:
    """Return each position as often as `times` says: [0, 0, 2] for [2, 0, 1]."""
    ends = cumsum(times)
    places = raw.Range(0, reduce_sum(times), 1)
    behind = raw.LessEqual(expand_dims(ends, 0), expand_dims(places, 1))
    return reduce_sum(cast(behind, dtypes.int32), 1)


def weighted_resample(
    inputs: Sequence[Any],
    weights: Any,
    overall_rate: float,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Any], Any]:
    """Return elements of the batch by chance, in proportion to their weights.

    Args:
      inputs: list of tensors [batch, ...].
      weights: [batch].
      overall_rate: how often an element comes on average.
      scope: of the nodes.
      mean_decay: of the moving mean of the weights.
      seed: of the chance.

    Returns:
      A list of tensors [n, ...], and the rate of each element that is there [n].
    """
    with name_scope(scope, "weighted_resample", list(inputs)):
        weights = convert_to_tensor(weights, dtypes.float32, name="weights")
        mean: Any = reduce_mean(weights)
        average = Variable(0.0, trainable=False, name="weights_mean", use_resource=True)
        count = Variable(0.0, trainable=False, name="weights_count", use_resource=True)
        step = (mean - average) * (1.0 - mean_decay)
        moved = average.assign_add(step)
        counted = count.assign_add(1.0)
        # averages that begin with 0 show it
        known = raw.DivNoNan(moved, 1.0 - raw.Pow(mean_decay, counted))
        rates = weights * overall_rate / known
        *found, kept = resample_at_rate([*inputs, rates], rates, seed=seed)
        return found, kept
