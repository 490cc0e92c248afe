"""What a client can wait for, of each kind of resource; it is killed there, another stands behind.

Each case is one sentence and a function that makes its nodes, in the graph of whoever asks: the
client that will be killed, and the bench. By the name that it takes both find the same resource.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tfdist as tf
from tfdist.ops.queues.barriers import Barrier


class Case(NamedTuple):
    """Nodes that are run one after the other.

    Attributes:
      before: what the bench does first.
      dead: what a client waits in, and is killed.
      behind: what another client waits in, which came later.
      give: what the bench does then, so that `behind` goes on.
      got: what `behind` then returns.
      rest: what the bench fetches in the end.
      left: what that is.
    """

    before: list[Any]
    dead: Any
    behind: Any
    give: list[Any]
    got: Any
    rest: Any
    left: Any


def fifo_part(name: str) -> Case:
    """FIFOQueue: dies with 2 of 3 elements in hand, which go to the next in line."""
    queue = tf.FIFOQueue(9, tf.int32, shapes=[[]], shared_name=name)
    return _part(queue, [[1, 2]], [[3, 4]], [1, 2, 3])


def fifo_room(name: str) -> Case:
    """FIFOQueue: dies waiting for room; its element never comes."""
    queue = tf.FIFOQueue(2, tf.int32, shapes=[[]], shared_name=name)
    return _room(queue, [1, 2], 13, 4, left=[2, 4])


def fifo_chunk(name: str) -> Case:
    """FIFOQueue: dies in the middle of a chunk, of which no more comes."""
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], shared_name=name)
    dead = queue.enqueue_many([[2, 3, 13, 13]])
    return Case(
        [queue.enqueue_many([[1]])], dead, queue.enqueue([4]),
        [queue.dequeue()], None, queue.dequeue_many(queue.size()), [2, 3, 4],
    )  # fmt: skip


def shuffle_minimum(name: str) -> Case:
    """RandomShuffleQueue: dies waiting for more than must stay inside."""
    queue = tf.RandomShuffleQueue(9, 2, tf.int32, shapes=[[]], shared_name=name, seed=1)
    behind = queue.dequeue()
    inside = tf.group(queue.enqueue_many([[1, 2]]))
    return Case([inside], queue.dequeue(), behind > 0, [queue.enqueue([3])], True, queue.size(), 2)


def shuffle_part(name: str) -> Case:
    """RandomShuffleQueue: dies with 2 of 3 elements in hand, which go to the next in line."""
    queue = tf.RandomShuffleQueue(9, 0, tf.int32, shapes=[[]], shared_name=name, seed=1)
    behind = tf.reduce_sum(queue.dequeue_many(3))
    give = [queue.enqueue([4])]
    return Case(
        [queue.enqueue_many([[1, 2]])], queue.dequeue_many(3), behind, give, 7, queue.size(), 0
    )


def shuffle_room(name: str) -> Case:
    """RandomShuffleQueue: dies waiting for room; its element never comes."""
    queue = tf.RandomShuffleQueue(2, 0, tf.int32, shapes=[[]], shared_name=name, seed=1)
    return _room(queue, [5, 5], 13, 4, left=9, of=tf.reduce_sum)


def padding_part(name: str) -> Case:
    """PaddingFIFOQueue: dies with a short element in hand, which goes to the next in line."""
    queue = tf.PaddingFIFOQueue(9, tf.int32, shapes=[[None]], shared_name=name)
    return Case(
        [queue.enqueue([[1]])], queue.dequeue_many(2), queue.dequeue_many(2),
        [queue.enqueue([[2, 3]])], [[1, 0], [2, 3]], queue.size(), 0,
    )  # fmt: skip


def padding_room(name: str) -> Case:
    """PaddingFIFOQueue: dies waiting for room; its element never comes."""
    queue = tf.PaddingFIFOQueue(2, tf.int32, shapes=[[None]], shared_name=name)
    return _room(queue, [[1, 1], [2, 2]], [13], [4], left=[[2, 2], [4, 0]])


def priority_part(name: str) -> Case:
    """PriorityQueue: dies with one of 2 elements in hand, which then goes in its turn."""
    queue = tf.PriorityQueue(9, tf.int32, shapes=[[]], shared_name=name)
    take = queue.dequeue_many(2)
    return Case(
        [queue.enqueue([_number(5), 50])], take, queue.dequeue_many(2),
        [queue.enqueue([_number(3), 30])], [[3, 5], [30, 50]], queue.size(), 0,
    )  # fmt: skip


def priority_room(name: str) -> Case:
    """PriorityQueue: dies waiting for room, with what would come first."""
    queue = tf.PriorityQueue(1, tf.int32, shapes=[[]], shared_name=name)
    return Case(
        [queue.enqueue([_number(5), 50])], queue.enqueue([_number(1), 13]),
        queue.enqueue([_number(7), 70]), [queue.dequeue()], None, queue.dequeue(), [7, 70],
    )  # fmt: skip


def barrier_part(name: str) -> Case:
    """Barrier: dies waiting for 2 whole elements, one of which is there."""
    barrier = Barrier([tf.int32, tf.int32], shapes=[[], []], shared_name=name)
    behind = barrier.take_many(2)
    return Case(
        [barrier.insert_many(0, ["a", "b"], [1, 2]), barrier.insert_many(1, ["a"], [10])],
        barrier.take_many(2).keys, list(behind.values), [barrier.insert_many(1, ["b"], [20])],
        [[1, 2], [10, 20]], [barrier.ready_size(), barrier.incomplete_size()], [0, 0],
    )  # fmt: skip


def accumulator(name: str) -> Case:
    """ConditionalAccumulator: dies waiting for 2 gradients, one of which is there."""
    total = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name=name)
    return Case(
        [total.apply_grad(2.0)], total.take_grad(2), total.take_grad(2),
        [total.apply_grad(4.0)], 3.0, total.num_accumulated(), 0,
    )  # fmt: skip


def sparse_accumulator(name: str) -> Case:
    """SparseConditionalAccumulator: dies waiting for 2 gradients, one of which is there."""
    total = tf.SparseConditionalAccumulator(tf.float32, shape=[3], shared_name=name)
    mean = total.take_indexed_slices_grad(2)
    return Case(
        [total.apply_grad([1], [2.0])], total.take_grad(2).values, [mean.indices, mean.values],
        [total.apply_grad([1, 2], [4.0, 5.0])], [[1, 2], [3.0, 5.0]], total.num_accumulated(), 0,
    )  # fmt: skip


def staging_take(name: str) -> Case:
    """StagingArea: dies waiting for an element."""
    area = tf.contrib.staging.StagingArea([tf.int32], shapes=[[]], shared_name=name)
    return Case([area.size()], area.get(), area.get(), [area.put([7])], [7], area.size(), 0)


def staging_index(name: str) -> Case:
    """StagingArea: dies waiting to look at the second element."""
    area = tf.contrib.staging.StagingArea([tf.int32], shapes=[[]], shared_name=name)
    put = area.put([7])
    return Case([put], area.peek(1), area.peek(1), [area.put([8])], [8], area.size(), 2)


def staging_room(name: str) -> Case:
    """StagingArea: dies waiting for room; its element never comes."""
    area = tf.contrib.staging.StagingArea([tf.int32], shapes=[[]], shared_name=name, capacity=1)
    dead = area.put([13])
    return Case([area.put([1])], dead, area.put([4]), [area.get()], None, area.get(), [4])


def staging_bytes(name: str) -> Case:
    """StagingArea: dies waiting until there are fewer bytes; its element never comes."""
    area = tf.contrib.staging.StagingArea(
        [tf.int32], shapes=[[2]], shared_name=name, memory_limit=8
    )
    dead = area.put([[13, 13]])
    return Case(
        [area.put([[1, 1]])], dead, area.put([[4, 4]]), [area.get()], None, area.get(), [[4, 4]]
    )


def map_key(name: str) -> Case:
    """MapStagingArea: dies waiting for a key."""
    area = _map(name)
    get = area.get(_number(1))[1]
    return Case(
        [area.put(_number(2), [20], [0])], get, area.get(_number(1))[1],
        [area.put(_number(1), [10], [0])], [10], area.size(), 1,
    )  # fmt: skip


def map_any(name: str) -> Case:
    """MapStagingArea: dies waiting for an element of any key."""
    area = _map(name)
    give = [area.put(_number(1), [10], [0])]
    return Case([area.size()], area.get()[1], list(area.get()), give, [1, [10]], area.size(), 0)


def map_room(name: str) -> Case:
    """MapStagingArea: dies waiting for room; its element never comes."""
    area = _map(name, capacity=1)
    return Case(
        [area.put(_number(1), [10], [0])], area.put(_number(3), [13], [0]),
        area.put(_number(2), [20], [0]), [area.get(_number(1))], None, list(area.get()), [2, [20]],
    )  # fmt: skip


def _part(queue: Any, inside: Any, more: Any, got: Any) -> Case:
    wanted = len(got)
    return Case(
        [queue.enqueue_many(inside)], queue.dequeue_many(wanted), queue.dequeue_many(wanted),
        [queue.enqueue_many(more)], got, queue.size(), len(inside[0]) + len(more[0]) - wanted,
    )  # fmt: skip


def _room(queue: Any, full: Any, dead: Any, behind: Any, left: Any, of: Any = tf.identity) -> Case:
    before = [queue.enqueue([each]) for each in full]
    give, rest = [queue.dequeue()], of(queue.dequeue_many(queue.size()))
    return Case(before, queue.enqueue([dead]), queue.enqueue([behind]), give, None, rest, left)


def _map(name: str, capacity: int = 0) -> Any:
    return tf.contrib.staging.MapStagingArea(
        [tf.int32], shapes=[[]], shared_name=name, ordered=True, capacity=capacity
    )


def _number(value: int) -> Any:
    return tf.constant(value, tf.int64)


CASES: dict[str, Callable[[str], Case]] = {
    each.__name__: each
    for each in (
        fifo_part, fifo_room, fifo_chunk, shuffle_minimum, shuffle_part, shuffle_room,
        padding_part, padding_room, priority_part, priority_room, barrier_part, accumulator,
        sparse_accumulator, staging_take, staging_index, staging_room, staging_bytes, map_key,
        map_any, map_room,
    )
}  # fmt: skip
