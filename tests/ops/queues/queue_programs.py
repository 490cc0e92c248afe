"""Programs with queues, accumulators, barriers and staging areas: what a TensorFlow makes of them.

Nothing in a program waits for ever. Each takes `tf` and returns steps, (fetches, feeds), which run
in one session. This file runs on real TensorFlow's own Python (3.7 or later), by its path, and
imports nothing of ours. By itself it prints one JSON object: per program its nodes, static
shapes of what is fetched, and values or error of each step. To store what 1.15 says:

    python -m tests.ops.queues.queue_programs "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

import json
import os
import shlex
import subprocess
import sys
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_queues_1_15.json")
PROGRAMS = {}

# What fails while the graph is built; `q` makes a queue of a float and two ints.
BUILD_ERRORS = """
tf.PriorityQueue(10, [F])
tf.PriorityQueue(10, [F], [[]], names=["a"])
tf.PaddingFIFOQueue(10, [F], [[], []])
tf.PaddingFIFOQueue(10, [F], [None])
tf.PaddingFIFOQueue(10, [F], None)
tf.FIFOQueue(10, [F], [[None]])
tf.FIFOQueue(10, [F], [None])
tf.FIFOQueue(10, F, (None, 2))
tf.RandomShuffleQueue(10, 2, [F, I], [[]])
tf.FIFOQueue(10, [F, I], names=["a"])
tf.FIFOQueue(10, [F, I], names="ab")
tf.FIFOQueue(3, [])
q().enqueue([1.0, [1, 2, 3]])
q().enqueue(["a", [1, 2]])
q().enqueue([tf.constant(1), [1, 2]])
q().enqueue({"x": 1.0})
q(names=["a", "b"]).enqueue([1.0, [1, 2]])
q(names=["a", "b"]).enqueue({"a": 1.0, "c": [1, 2]})
q(names=["a", "b"]).enqueue({"a": 1.0})
q().enqueue_many([[1.0], [1, 2]])
q().enqueue_many([[1.0], [[1, 2], [3, 4]]])
tf.FIFOQueue(3, [F], [[]]).enqueue_many(1.0)
tf.FIFOQueue(3, [F]).enqueue_many(1.0)
tf.FIFOQueue(3, [F], [[]]).enqueue(())
tf.FIFOQueue(3, [F], [[2]]).enqueue([1.0, 2.0])
tf.FIFOQueue(3, [F], [[]]).enqueue_many([1.0, 2.0])
tf.FIFOQueue(3, [I, F]).enqueue([1.0])
tf.FIFOQueue(3, [F], names=[])
tf.FIFOQueue(3, [F], names=5).enqueue(1.0)
tf.FIFOQueue(3, [F], names=5).enqueue({"a": 1.0})
tf.PriorityQueue(3, [F], [[]]).enqueue(1.0)
tf.PriorityQueue(3, [F], [[]]).enqueue("a")
q().dequeue_many(-3)
q().dequeue_many(3.0)
tf.QueueBase.from_list(0, [tf.FIFOQueue(3, [F]), tf.FIFOQueue(3, [I])])
tf.QueueBase.from_list(0, [1, 2])
tf.QueueBase.from_list(0, [])
tf.QueueBase.from_list(0, 3)
tf.QueueBase.from_list(0, [tf.FIFOQueue(3, [F], names=["a"]), tf.FIFOQueue(3, [F])])
tf.ConditionalAccumulator(F, shape=[2], reduction_type="MAX")
tf.ConditionalAccumulator(F, shape=[2]).apply_grad([1.0, 2.0, 3.0])
tf.ConditionalAccumulator(F, shape=[2]).apply_grad(tf.constant([1, 2]))
area([F], [[2]]).put([tf.constant([1.0])])
area([F]).put([tf.constant(1)])
area([F]).put({"a": tf.constant(1.0)})
area([F], names=["a"]).put([tf.constant(1.0)])
area([F], names=["a"]).put({"b": tf.constant(1.0)})
area([F], [[], []])
area([F], names=["a", "b"])
"""


def program(function):
    """Note a program."""
    PROGRAMS[function.__name__] = function
    return function


def many(queue, *values):
    return queue.enqueue_many([list(each) for each in values] if len(values) > 1 else [values[0]])


@program
def all_methods(tf):
    q = tf.FIFOQueue(9, [tf.float32, tf.int32], [[], [2]], name="q")
    put, take = q.enqueue([1.0, [1, 2]]), q.dequeue()
    puts = q.enqueue_many([[1.0, 2.0, 3.0], [[1, 2], [3, 4], [5, 6]]])
    two, up_to, size = q.dequeue_many(2), q.dequeue_up_to(7), q.size()
    closed, close = q.is_closed(), q.close()
    return [put, puts, size, take, two, closed, close, closed, up_to, take, two, up_to, put, close]


@program
def named_components(tf):
    q = tf.FIFOQueue(2, [tf.float32, tf.string], [[], []], names=["x", "y"], name="named")
    put, took, both = q.enqueue({"x": 1.0, "y": "a"}), q.dequeue(), q.dequeue_many(1)
    return [put, [took["x"], took["y"]], put, [both["x"], both["y"]]]


@program
def more_than_it_holds(tf):
    q = tf.FIFOQueue(9, tf.int32, [[]])
    return [
        many(q, [1, 2, 3]),
        q.dequeue_many(3),
        q.enqueue_many([[]]),
        q.size(),
        q.dequeue_many(0),
    ]


@program
def elements_without_shapes(tf):
    q = tf.FIFOQueue(9, [tf.float32])
    x = tf.placeholder(tf.float32)
    put, puts, take = q.enqueue([x]), q.enqueue_many([x]), q.dequeue()
    return [
        (put, {x: [1.0, 2.0]}), (put, {x: 3.0}), take, take, (puts, {x: [[1.0, 2.0], [3.0, 4.0]]}),
        take, q.dequeue_many(1), q.dequeue_up_to(1),
    ]  # fmt: skip


@program
def shapes_at_run_time(tf):
    q = tf.FIFOQueue(9, [tf.float32, tf.int32], [[2], []])
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    put, puts = q.enqueue([x, y]), q.enqueue_many([x, y])
    return [
        (put, {x: [1.0, 2.0, 3.0], y: 1}), (put, {x: [1.0, 2.0], y: [1]}),
        (puts, {x: [[1.0, 2.0]], y: [1, 2]}), (puts, {x: [[1.0, 2.0]], y: [1]}), q.size(),
        (puts, {x: [[1.0]], y: [1]}),
    ]  # fmt: skip


@program
def closing_cancels(tf):
    q = tf.FIFOQueue(2, tf.int32, [[]])
    return [many(q, [1, 2]), q.close(cancel_pending_enqueues=True), q.close(True), q.close(),
            q.dequeue_many(3), q.dequeue_up_to(3), q.dequeue_up_to(3),
            q.enqueue_many([[]])]  # fmt: skip


@program
def shuffled(tf):
    q = tf.RandomShuffleQueue(9, 2, [tf.int32], [[]], seed=3, name="shuffled")
    put, one, size = many(q, [1, 2, 3, 4, 5]), q.dequeue(), q.size()
    both = tf.nn.top_k(q.dequeue_up_to(9), 3)[0]
    three = tf.reduce_sum(q.dequeue_many(3)) * 0
    return [put, three, size, put, one.op, q.dequeue().op, size, q.close(), three, size,
            tf.shape(both), one]  # fmt: skip


@program
def orders_of_seeds(tf):
    """One by one, several at a time, across what comes in between, and to the end."""
    tf.set_random_seed(7)
    steps = []
    for shapes in ([[]], None):
        for kept, seed in ((0, 5), (0, -3), (3, None)):
            q = tf.RandomShuffleQueue(300, kept, [tf.int32], shapes, seed=seed)
            one, batch = q.dequeue(), shapes and q.dequeue_many(4)
            first, more = many(q, list(range(10))), many(q, list(range(10, 20)))
            steps += [first, one, one, more, one, *([batch, one, batch] if shapes else [one] * 9),
                      q.enqueue(20), one, one]  # fmt: skip
            if shapes:
                steps += [many(q, list(range(100, 300))), q.dequeue_many(150), one, q.close(),
                          q.dequeue_up_to(99), q.size()]  # fmt: skip
    return steps


@program
def shuffled_without_a_seed(tf):
    tf.set_random_seed(7)
    return [tf.RandomShuffleQueue(9, 2, [tf.int32], [[]]).size(),
            tf.RandomShuffleQueue(9, 2, [tf.int32]).size()]  # fmt: skip


@program
def bad_minimum(tf):
    return [tf.RandomShuffleQueue(3, 5, [tf.int32]).size(),
            tf.RandomShuffleQueue(3, -1, [tf.int32]).size(),
            tf.RandomShuffleQueue(3, 3, [tf.int32]).size(),
            tf.FIFOQueue(0, [tf.int32]).size()]  # fmt: skip


@program
def more_or_fewer_components(tf):
    """Those beyond the queue's own are left out; too few are refused when they come."""
    q = tf.FIFOQueue(9, [tf.float32, tf.int32], [[], []], name="two")
    one = tf.FIFOQueue(9, [tf.float32], [[]], name="one")
    return [q.enqueue([1.0, 2, 3]), q.dequeue(), q.enqueue([1.0]), q.enqueue(1.0),
            q.enqueue_many([[1.0], [2], [3]]), q.enqueue_many([[1.0]]), q.size(),
            one.enqueue([1.0, "a"]), one.enqueue_many(([2.0, 3.0], [4.0])), one.dequeue_many(3),
            tf.PriorityQueue(3, [tf.float32], [[]]).enqueue(1)]  # fmt: skip


@program
def counts_of_any_rank(tf):
    q = tf.FIFOQueue(9, tf.int32, [[]], names=5)
    put = q.enqueue_many({5: [1, 2, 3, 4]})
    counts = [tf.placeholder_with_default([1], None), tf.placeholder_with_default(-2, None)]
    takes = [q.dequeue_many([1]), q.dequeue_up_to([1]), q.dequeue_up_to(-1)]
    takes += [q.dequeue_many(each) for each in counts]
    return [put, *[each[5] for each in takes]]


@program
def priorities_up_to_the_end(tf):
    q = tf.PriorityQueue(9, [tf.float32], [[]])
    values = [tf.constant([3, 1, 2], tf.int64), [10.0, 20.0, 30.0]]
    return [q.enqueue_many(values), q.close(), q.dequeue_up_to(2), q.dequeue_up_to(2), q.size(),
            q.dequeue_up_to(1), q.dequeue_many(2)]  # fmt: skip


@program
def padded(tf):
    q = tf.PaddingFIFOQueue(9, [tf.float32, tf.string], [[None, None], [None]])
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.string)
    put, three = q.enqueue([x, y]), q.dequeue_many(3)
    empty = np.zeros([0, 2])
    return [
        (put, {x: [[1, 2], [3, 4]], y: ["a"]}), (put, {x: [[1, 2, 3]], y: ["b", "c"]}),
        (put, {x: empty, y: []}), three, (put, {x: [[1]], y: ["a"]}), q.dequeue(),
        (put, {x: [1], y: ["a"]}), (q.enqueue_many([x, y]), {x: [[[1.0]]], y: [["z", "w"]]}),
        q.close(), q.dequeue_up_to(4), q.dequeue_up_to(4), q.dequeue_many(0),
    ]  # fmt: skip


@program
def partly_padded(tf):
    q = tf.PaddingFIFOQueue(9, [tf.bool, tf.int64], [[None, 2], []])
    x = tf.placeholder(tf.bool)
    put = q.enqueue([x, tf.constant(5, tf.int64)])
    return [(put, {x: [[True, True]]}), (put, {x: [[True, True], [True, False]]}),
            q.dequeue_many(2), (put, {x: [[True]]})]  # fmt: skip


@program
def by_priority(tf):
    q = tf.PriorityQueue(9, [tf.string, tf.int32], [[], [2]], name="urgent")
    p = tf.placeholder(tf.int64)
    n = [[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]]
    puts = q.enqueue_many([p, list("abcde"), n])
    return [(puts, {p: [3, 1, 2, 1, 3]}), q.dequeue(), q.dequeue_many(3), q.size(),
            (q.enqueue([p, "x", [0, 0]]), {p: [5]}), (q.enqueue([p, "x", [0, 0]]), {p: 2}),
            q.close(), q.dequeue_many(3)]  # fmt: skip


@program
def strings_and_bools(tf):
    q = tf.FIFOQueue(9, [tf.string, tf.bool, tf.int64], [[], [], [1]])
    return [q.enqueue(["a", True, [3]]),
            q.enqueue_many([["b", "c"], [True, False], [[1], [2]]]), q.dequeue(),
            q.dequeue_many(2)]  # fmt: skip


@program
def chosen_from_a_list(tf):
    i = tf.placeholder(tf.int32, [])
    queues = [tf.FIFOQueue(9, [tf.float32], [[2]]) for _ in range(2)]
    both = tf.QueueBase.from_list(i, queues)
    sizes = [each.size() for each in queues]
    put = both.enqueue([[1.0, 2.0]])
    return [(put, {i: 1}), sizes, (put, {i: 0}), (put, {i: 0}), sizes, (both.size(), {i: 0}),
            (both.dequeue(), {i: 1}), sizes, (both.size(), {i: 2})]  # fmt: skip


@program
def one_shared_name(tf):
    one = tf.FIFOQueue(3, [tf.float32], [[]], shared_name="c")
    with tf.container("elsewhere"):
        apart = tf.FIFOQueue(3, [tf.float32], [[]], shared_name="c", name="apart")
    make = tf.FIFOQueue
    return [
        one.enqueue(1.0), make(3, [tf.float32], [[]], shared_name="c").size(), apart.size(),
        make(3, [tf.int32], [[]], shared_name="c").size(),
        make(3, [tf.float32, tf.int32], [[], []], shared_name="c").size(),
        make(3, [tf.float32], [[2]], shared_name="c").size(),
        make(3, [tf.float32], shared_name="c").size(),
        make(4, [tf.float32], [[]], shared_name="c").size(),
        make(-1, [tf.float32], [[]], shared_name="c").size(),
        tf.RandomShuffleQueue(3, 1, [tf.float32], [[]], shared_name="c").size(),
        tf.PaddingFIFOQueue(3, [tf.float32], [[]], shared_name="c").size(),
    ]  # fmt: skip


@program
def one_shared_shuffled_name(tf):
    def made(least=1, **more):
        return tf.RandomShuffleQueue(9, least, [tf.float32], [[]], shared_name="c", **more)

    return [made(seed=2).size(), made(seed=2).size(), made(2, seed=2).size(), made(seed=3).size(),
            made().size()]  # fmt: skip


@program
def the_older_ops(tf):
    raw = tf.raw_ops
    q = raw.FIFOQueue(component_types=[tf.float32], shapes=[[]], capacity=3, name="old")
    put = raw.QueueEnqueue(handle=q, components=[tf.constant(1.5)])
    puts = raw.QueueEnqueueMany(handle=q, components=[tf.constant([2.5, 3.5])])
    take = raw.QueueDequeue(handle=q, component_types=[tf.float32])
    takes = raw.QueueDequeueMany(handle=q, n=1, component_types=[tf.float32])
    up_to = raw.QueueDequeueUpTo(handle=q, n=5, component_types=[tf.float32])
    return [put, puts, raw.QueueSize(handle=q), take, takes, raw.QueueClose(handle=q),
            raw.QueueIsClosed(handle=q), up_to]  # fmt: skip


@program
def wrong_types_in_a_graph(tf):
    q = tf.FIFOQueue(3, [tf.float32, tf.float32], [[], []])
    raw, handle = tf.raw_ops, q.queue_ref
    return [raw.QueueEnqueueV2(handle=handle, components=[tf.constant(1)]),
            raw.QueueDequeueV2(handle=handle, component_types=[tf.int32]),
            raw.QueueDequeueManyV2(
                handle=handle, n=1, component_types=[tf.int32, tf.float32])]  # fmt: skip


@program
def accumulated(tf):
    a = tf.ConditionalAccumulator(tf.float32, shape=[2], name="mean")
    g, at = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    add, count, one, two = a.apply_grad(g, at), a.num_accumulated(), a.take_grad(1), a.take_grad(2)
    return [
        (add, {g: [1, 2], at: 0}), (add, {g: [3, 6], at: 0}), count, one, count,
        (add, {g: [5, 5], at: 0}), count, (add, {g: [1, 1], at: 1}), (add, {g: [2, 3], at: 5}), two,
        a.set_global_step(10), (add, {g: [1, 1], at: 9}), count, (add, {g: [1, 1], at: 10}), count,
        a.set_global_step(5), (add, {g: [3, 3], at: 10}), count, a.take_grad(0),
        (add, {g: [1, 2, 3], at: 20}), (add, {g: 3.0, at: 20}), two,
    ]  # fmt: skip


@program
def accumulated_sums_of_any_shape(tf):
    a = tf.ConditionalAccumulator(tf.float64, reduction_type="SUM")
    g = tf.placeholder(tf.float64)
    add = a.apply_grad(g, local_step=3)
    part = tf.ConditionalAccumulator(tf.float32, shape=[None, 2])
    return [(add, {g: [1, 2]}), (add, {g: [1, 2, 3]}), (add, {g: [1, 2]}), a.take_grad(2),
            part.apply_grad([[1.0, 2.0]]), part.take_grad(1)]  # fmt: skip


@program
def accumulated_rows(tf):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2], name="rows")
    i, v = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    add, whole = a.apply_grad(i, v), a.apply_grad(i, v, [4, 2])
    other = a.apply_grad(i, v, [5, 2], local_step=5)
    count, take = a.num_accumulated(), a.take_grad(2)
    row = [[1.0, 1.0]]
    return [
        (add, {i: [0, 2], v: [[1, 1], [2, 2]]}), (whole, {i: [2, 3], v: [[4, 4], [3, 3]]}), count,
        list(take), a.set_global_step(5), (add, {i: [0], v: row}), count,
        (a.apply_grad(i, v, local_step=5), {i: [0], v: [1.0]}), a.set_global_step(0),
        (a.apply_grad(i, v, local_step=5), {i: [7], v: row}),
        (a.apply_grad(i, v, local_step=5), {i: [0, 1], v: row}),
        (a.apply_grad(i, v, local_step=5), {i: [[0]], v: row}),
        (a.apply_grad(i, v, local_step=5), {i: [0], v: [[1.0, 1.0, 1.0]]}),
        (other, {i: [0], v: row}),
    ]  # fmt: skip


@program
def accumulated_slices(tf):
    a = tf.SparseConditionalAccumulator(tf.float32, reduction_type="SUM")
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 5], tf.int64))
    add, take = a.apply_indexed_slices_grad(slices), a.take_indexed_slices_grad(2)
    return [add, add, [take.indices, take.values, take.dense_shape]]


@program
def staged(tf):
    a = tf.contrib.staging.StagingArea([tf.float32, tf.int32], [[], [2]], capacity=3)
    put = a.put([tf.constant(1.0), tf.constant([1, 2])])
    other = a.put([tf.constant(2.0), tf.constant([3, 4])])
    return [put, other, a.size(), a.peek(1), a.get(), a.size(), put, a.clear(), a.size()]


@program
def staged_by_name(tf):
    a = tf.contrib.staging.StagingArea(
        [tf.float32, tf.int32], names=["a", "b"], shared_name="x", memory_limit=8
    )
    put, get = a.put({"a": tf.constant(1.0), "b": tf.constant(2)}, name="foo"), a.get(name="bar")
    large = a.put({"a": tf.constant([1.0, 2.0]), "b": tf.constant(2)})
    return [put, [get["a"], get["b"]], large]


@program
def staged_by_key(tf):
    raw, k = tf.raw_ops, tf.placeholder(tf.int64)
    shared = {"dtypes": [tf.float32, tf.int32], "shared_name": "m"}
    x = tf.constant(1.0)
    part = raw.OrderedMapStage(key=k, indices=[0], values=[x], **shared)
    rest = raw.OrderedMapStage(key=k, indices=[1], values=[tf.constant(7)], **shared)
    sizes = [raw.OrderedMapSize(**shared), raw.OrderedMapIncompleteSize(**shared)]
    get = raw.OrderedMapUnstage(key=k, indices=[0, 1], **shared)
    least = raw.OrderedMapUnstageNoKey(indices=[0, 1], **shared)
    return [
        (part, {k: 3}), sizes, (rest, {k: 3}), sizes, (part, {k: 9}), (part, {k: 9}),
        (raw.OrderedMapPeek(key=k, indices=[0, 1], **shared), {k: 3}), (rest, {k: 9}),
        list(flat(least)), (get, {k: 9}), sizes, (part, {k: 1}),
        raw.OrderedMapClear(**shared), sizes,
    ]  # fmt: skip


@program
def behind_a_barrier(tf):
    raw = tf.raw_ops
    types = [tf.float32, tf.int32]
    b = raw.Barrier(component_types=types, shapes=[[], [2]], name="whole")
    keys = tf.placeholder(tf.string)
    numbers, pairs = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    first = raw.BarrierInsertMany(handle=b, keys=keys, values=numbers, component_index=0)
    second = raw.BarrierInsertMany(handle=b, keys=keys, values=pairs, component_index=1)
    sizes = [raw.BarrierReadySize(handle=b), raw.BarrierIncompleteSize(handle=b)]

    def take(count, small=False):
        return list(flat(raw.BarrierTakeMany(
            handle=b, num_elements=count, component_types=types,
            allow_small_batch=small)))  # fmt: skip

    one = [[5, 5]]
    return [
        (first, {keys: ["a", "b", "c"], numbers: [1, 2, 3]}), sizes,
        (second, {keys: ["b", "a"], pairs: [[1, 1], [2, 2]]}), sizes, take(2),
        (second, {keys: ["c"], pairs: one}), (second, {keys: ["x"], pairs: one}),
        (second, {keys: ["x"], pairs: one}), sizes, (first, {keys: ["x"], numbers: [9]}), take(2),
        (first, {keys: ["p", "q"], numbers: [1, 2]}), raw.BarrierClose(handle=b),
        (first, {keys: ["r"], numbers: [1]}), (second, {keys: ["q"], pairs: one}), sizes,
        take(5, True), take(5),
        raw.BarrierClose(handle=b, cancel_pending_enqueues=True), sizes,
        (second, {keys: ["p"], pairs: one}), take(1), take(1, True), raw.BarrierClose(handle=b),
    ]  # fmt: skip


def flat(nested):
    for each in nested:
        if isinstance(each, (list, tuple)):
            yield from flat(each)
        else:
            yield each


# running them


def told(tf, function):
    """Return nodes, static shapes and outcomes of a program."""
    with tf.Graph().as_default() as graph:
        steps = [step if is_fed(step) else (step, {}) for step in function(tf)]
        with tf.Session() as session:
            outcomes = [outcome(session, *step) for step in steps]
    return {
        "nodes": [node_line(node) for node in graph.as_graph_def().node],
        "shapes": [[static(each) for each in tensors(fetches)] for fetches, _ in steps],
        "outcomes": outcomes,
    }


def is_fed(step):
    return isinstance(step, tuple) and len(step) == 2 and isinstance(step[1], dict)


def tensors(fetches):
    listed = flat(fetches) if isinstance(fetches, (list, tuple)) else [fetches]
    return [each for each in listed if hasattr(each, "dtype")]


def static(tensor):
    return [tensor.dtype.name, None if tensor.shape.ndims is None else tensor.shape.as_list()]


def node_line(node):
    """Return name, op, inputs and attributes of a node, without the values of constants."""
    attrs = {
        key: " ".join(str(value).split())
        for key, value in node.attr.items()
        if key not in ("value", "T", "SrcT", "DstT", "Truncate")
    }
    return [node.name, node.op, list(node.input), dict(sorted(attrs.items()))]


def outcome(session, fetches, feeds):
    """Return what a step gives: plain values, or the class and the first line of its error."""
    try:
        values = session.run(fetches, feeds)
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error).split("\n")[0]}
    return plain(values)


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    if value is None:
        return None
    return plain(value.tolist()) if hasattr(value, "tolist") else value


def build_error(tf, source):
    """Return the class of what a line of BUILD_ERRORS raises, and its text."""
    names = {
        "tf": tf, "F": tf.float32, "I": tf.int32, "area": tf.contrib.staging.StagingArea,
        "q": lambda **more: tf.FIFOQueue(3, [tf.float32, tf.int32], [[], [2]], **more),
    }  # fmt: skip
    with tf.Graph().as_default():
        try:
            eval(source, names)
        except Exception as error:
            return [type(error).__name__, str(error).split("\n")[0]]
    return None


def everything(tf):
    lines = BUILD_ERRORS.strip().split("\n")
    return {
        "programs": {name: told(tf, function) for name, function in PROGRAMS.items()},
        "errors": {source: build_error(tf, source) for source in lines},
    }


def main():
    """Write what this Python's TensorFlow makes of everything."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    warnings.filterwarnings("ignore")
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    json.dump(everything(tf), sys.stdout)


def store(command):
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    done = subprocess.run(script, stdout=subprocess.PIPE, check=True, text=True)
    said = json.loads(done.stdout)
    parts = []
    for part, rows in said.items():
        lines = [f"{json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items()]
        parts.append(json.dumps(part) + ": {\n" + ",\n".join(lines) + "\n}")
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        store(sys.argv[1])
    else:
        main()
