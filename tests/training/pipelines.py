"""Input pipelines of queues, one a line: what real TensorFlow and this package both build and run.

The value of a line is fetched until it ends: a tensor, a structure of tensors, or a queue, whose
elements are. What 1.15.5 makes of them is stored beside; `differential.py` stores it,
`test_differential.py` compares.

(This file is also read by Python 3.7, the one that real TensorFlow 1.15 runs on, and imports
nothing of ours.)
"""

from __future__ import annotations

import numpy as np

# Their nodes are compared, and what they give, in order.
IN_ORDER = """
T.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
T.string_input_producer(["a", "b"], num_epochs=1, shuffle=False, capacity=5, shared_name="s", name="files")
T.string_input_producer(tf.constant(["a", "b"]), num_epochs=1, shuffle=False)
T.string_input_producer(tf.placeholder_with_default(["a", "b"], [None]), num_epochs=1, shuffle=False)
T.string_input_producer(tf.placeholder_with_default(np.array([], object), [None]), num_epochs=1, shuffle=False)
T.string_input_producer(["x"], num_epochs=3)
T.string_input_producer(("x", "y"), 1, False)
T.string_input_producer(["a", "b", "c"], shuffle=False, capacity=2)
T.string_input_producer(["a"], shuffle=False, num_epochs=1, cancel_op=tf.no_op("stop"))
T.range_input_producer(4, num_epochs=2, shuffle=False)
T.range_input_producer(tf.constant(3), num_epochs=1, shuffle=False, capacity=2, shared_name="shared", name="numbers")
T.range_input_producer(3, shuffle=False)
T.input_producer([[1.0, 2.0], [3.0, 4.0]], num_epochs=1, shuffle=False)
T.input_producer([[1, 2], [3, 4]], num_epochs=1, shuffle=False, name="rows", summary_name="how_full")
T.input_producer(tf.placeholder_with_default([[1, 2]], [None, None]), element_shape=[2], num_epochs=2, shuffle=False)
T.input_producer([5, 6], num_epochs=1, shuffle=False, shared_name="shared", capacity=1)
T.slice_input_producer([[1, 2, 3], ["a", "b", "c"]], num_epochs=2, shuffle=False)
T.slice_input_producer([np.arange(6.0).reshape(3, 2)], num_epochs=1, shuffle=False, name="rows", capacity=2, shared_name="s")
T.slice_input_producer([tf.constant([1, 2]), tf.placeholder_with_default([[1.0], [2.0]], [None, 1])], num_epochs=1, shuffle=False)
T.slice_input_producer(([7, 8], [True, False]), shuffle=False)
T.limit_epochs(tf.constant([1, 2]), num_epochs=2)
T.limit_epochs(tf.constant("x"), num_epochs=1, name="twice")
T.limit_epochs(tf.constant(5), None)
T.batch([numbers(7)], 3)
T.batch([numbers(6), tf.constant([1.0, 2.0])], 2, capacity=5, name="pairs")
T.batch({"n": numbers(4), "c": tf.constant("x")}, 2)
T.batch([numbers(5)], 2, allow_smaller_final_batch=True)
T.batch([numbers(5)], 2, shared_name="batches", num_threads=1)
T.batch([numbers(4)], tf.constant(2))
T.batch([numbers(4)], tf.placeholder_with_default(2, []))
T.batch([numbers(3), tf.constant(1.5)], batch_size=1)
T.batch((numbers(4), numbers(4)), 2)
T.batch([tf.reshape(numbers(4), [1])], 2, enqueue_many=True)
T.batch([tf.stack([numbers(4), tf.constant(7)])], 3, enqueue_many=True)
T.batch([tf.stack([numbers(2), tf.constant(7)]), tf.constant([[1.0], [2.0]])], 2, enqueue_many=True, capacity=7)
T.batch([unknown(numbers(4))], 2, shapes=[[]])
T.batch([unknown(numbers(4))], 2, shapes=[()], allow_smaller_final_batch=True)
T.batch([T.limit_epochs(tf.constant([1, 2]), 2)], 2)
T.batch(T.slice_input_producer([[1, 2, 3, 4], ["a", "b", "c", "d"]], num_epochs=1, shuffle=False), 2)
T.batch([numbers(4)], 0)
T.batch_join([[numbers(4)]], 2)
T.batch_join([(numbers(4), tf.constant("x"))], 2, name="joined")
T.batch_join([{"n": numbers(4)}], 2)
T.batch_join([[numbers(5)]], 2, allow_smaller_final_batch=True, shared_name="s", capacity=9)
T.maybe_batch([numbers(6)], True, 2)
T.maybe_batch([numbers(6)], False, 2)
T.maybe_batch([numbers(4)], 1, 2)
T.maybe_batch_join([[numbers(4)]], True, 2)
T.maybe_batch([tf.stack([numbers(4), tf.constant(7)])], [True, False], 2, enqueue_many=True)
T.maybe_batch([tf.stack([numbers(4), tf.constant(7)])], True, 2, enqueue_many=True)
T.maybe_batch([tf.stack([numbers(4), tf.constant(7)])], tf.constant([False, True]), 2, enqueue_many=True, allow_smaller_final_batch=True)
of_one(numbers(6), lambda n: T.maybe_batch([n], n % 2 < 1, 2))
of_one(numbers(6), lambda n: T.maybe_batch({"n": n, "twice": 2 * n}, tf.greater(n, 1), 2))
of_one(numbers(6), lambda n: T.maybe_batch_join([[n, tf.constant("c")]], tf.greater(n, 1), 2))
of_one(numbers(6), lambda n: T.maybe_batch([tf.stack([n, n + 10])], tf.stack([n > 2, n > 3]), 2, enqueue_many=True))
of_one(numbers(6), lambda n: T.maybe_batch([tf.stack([n, n + 10])], n > 2, 2, enqueue_many=True))
"""  # noqa: E501

# These need queues that pad.
PADDED = """
T.batch([tf.range(numbers(5))], 2, dynamic_pad=True)
T.batch([tf.range(numbers(5)), tf.constant(1.0)], 2, dynamic_pad=True, allow_smaller_final_batch=True, name="padded")
T.batch({"n": tf.range(numbers(4))}, 2, dynamic_pad=True, shared_name="s")
T.batch_join([[tf.range(numbers(5))]], 2, dynamic_pad=True)
T.maybe_batch([tf.range(numbers(5))], True, 2, dynamic_pad=True)
of_one(numbers(6), lambda n: T.maybe_batch([tf.range(n)], n % 2 < 1, 2, dynamic_pad=True))
T.batch([unknown(tf.range(numbers(4)))], 2, dynamic_pad=True, shapes=[[None]])
"""  # noqa: E501

# Of these the elements are compared in any order: several threads fill them, or chance does.
ANY_ORDER = """
T.string_input_producer(["a", "b", "c"], num_epochs=2)
T.string_input_producer(["a", "b", "c"], num_epochs=1, seed=5)
T.range_input_producer(4, num_epochs=2, seed=3)
T.input_producer([[1.0, 2.0], [3.0, 4.0]], num_epochs=2)
T.slice_input_producer([[1, 2, 3], ["a", "b", "c"]], num_epochs=1)
T.slice_input_producer([[1, 2], [1, 2, 3]])
T.batch([numbers(6)], 2, num_threads=3)
T.batch_join([[numbers(4)], [numbers(4)]], 2)
T.batch_join([{"n": numbers(4)}, {"n": numbers(2)}], 2, allow_smaller_final_batch=True)
T.batch_join([[tf.reshape(numbers(4), [1]), ["a"]], [tf.stack([numbers(2), tf.constant(9)]), ["b", "c"]]], 2, enqueue_many=True)
T.maybe_batch_join([[numbers(4)], [numbers(4)]], True, 2)
"""  # noqa: E501

# These need queues that shuffle.
SHUFFLED = """
T.shuffle_batch([numbers(9)], 3, capacity=10, min_after_dequeue=4)
T.shuffle_batch([numbers(9), tf.constant("x")], 3, capacity=10, min_after_dequeue=4, num_threads=2, seed=7, name="mixed")
T.shuffle_batch([numbers(4)], 3, capacity=10, min_after_dequeue=4, allow_smaller_final_batch=True, shared_name="s")
T.shuffle_batch({"n": numbers(4)}, 2, 10, 2)
T.shuffle_batch([tf.stack([numbers(4), tf.constant(7)])], 2, 10, 2, enqueue_many=True)
T.shuffle_batch([unknown(numbers(4))], 2, 10, 2, shapes=[[]])
T.shuffle_batch_join([[numbers(4)], [numbers(4)]], 2, 10, 2)
T.shuffle_batch_join([{"n": numbers(4)}], 2, 10, 2, seed=1, name="mixed", shared_name="s", allow_smaller_final_batch=True)
T.maybe_shuffle_batch([numbers(6)], 2, 10, 2, True)
of_one(numbers(6), lambda n: T.maybe_shuffle_batch([n], 2, 10, 2, n > 1))
of_one(numbers(6), lambda n: T.maybe_shuffle_batch_join([[n]], 2, 10, 2, n > 1, seed=4))
T.shuffle_batch(T.slice_input_producer([np.arange(12).reshape(6, 2), np.arange(6)], num_epochs=1), 2, 10, 2)
"""  # noqa: E501

# These need sparse tensors.
SPARSE = """
T.batch([sparse(numbers(4))], 2)
T.batch([numbers(4), sparse(tf.constant(3))], 2)
T.batch({"s": sparse(numbers(4))}, 2, allow_smaller_final_batch=True)
T.batch([sparse(numbers(4))], 2, enqueue_many=True)
T.batch_join([[sparse(numbers(4)), 1]], 2)
T.maybe_batch([sparse(numbers(4))], True, 2)
of_one(numbers(6), lambda n: T.maybe_batch([sparse(n)], n > 1, 2))
of_one(numbers(6), lambda n: T.maybe_batch([sparse(n)], n > 2, 2, enqueue_many=True))
of_one(numbers(6), lambda n: T.maybe_batch([sparse(n)], tf.stack([n > 2]), 2, enqueue_many=True))
T.maybe_batch([sparse(numbers(4))], [True], 2, enqueue_many=True)
T.maybe_batch([sparse(numbers(4))], True, 2, enqueue_many=True)
T.maybe_batch([sparse(numbers(4))], 1, 2)
T.batch([text(numbers(4)), sparse(numbers(4))], 2, name="both")
T.batch([vector(numbers(4))], 2)
T.batch([unknown_rank(numbers(4))], 2)
T.batch([sparse(numbers(4)), numbers(4)], 2, shapes=[[1], []])
T.batch([sparse(numbers(4)), tf.range(numbers(4))], 2, dynamic_pad=True)
T.batch([sparse(numbers(3))], 2, allow_smaller_final_batch=True, shared_name="s")
T.batch([tf.parse_single_example(example(numbers(4)), {"n": tf.VarLenFeature(tf.int64)})["n"]], 2)
T.batch(tf.parse_example(tf.reshape(example(numbers(4)), [1]), {"n": tf.VarLenFeature(tf.int64), "one": tf.FixedLenFeature([], tf.int64)}), 2, enqueue_many=True)
of_one(T.batch([text(numbers(4))], 2), lambda s: tf.sparse_tensor_to_dense(s, "?"))
of_one(T.batch([text(numbers(4)), 5], 2), lambda s: [tf.sparse_tensor_to_dense(s[0], "?"), s[1] + 1])
"""  # noqa: E501

# These need sparse tensors, and shuffle them, or fill the queue from several sides.
SPARSE_SHUFFLED = """
T.batch_join([[sparse(numbers(4))], [sparse(numbers(4))]], 2)
T.batch_join([{"s": text(numbers(4)), "n": 1}, {"s": text(numbers(4)), "n": 2}], 2, enqueue_many=False, name="joined")
T.maybe_batch_join([[sparse(numbers(4))], [sparse(numbers(4))]], True, 2)
T.shuffle_batch([sparse(numbers(4))], 2, 10, 2)
T.shuffle_batch_join([[sparse(numbers(4)), 1.5], [sparse(numbers(4)), 2.5]], 2, 10, 2)
T.maybe_shuffle_batch([sparse(numbers(6))], 2, 10, 2, True)
T.maybe_shuffle_batch_join([[text(numbers(6))]], 2, 10, 2, True, enqueue_many=True)
"""  # noqa: E501

# What is wrong with sparse tensors, and how that is said.
SPARSE_WRONG = """
T.batch_join([[sparse(numbers(4))], [numbers(4)]], 2)
T.batch_join([[numbers(4)], [sparse(numbers(4))]], 2)
T.batch_join([[sparse(numbers(4))], [vector(numbers(4))]], 2)
T.maybe_batch([sparse(numbers(4))], False, 2)
"""

# What is wrong, and how that is said.
WRONG = """
T.shuffle_batch([numbers(4)], 2, 5, 5)
T.string_input_producer([])
T.string_input_producer(["a"], num_epochs=0)
T.string_input_producer(["a"], num_epochs=-1)
T.input_producer(tf.placeholder(tf.float32))
T.input_producer(tf.placeholder(tf.float32, [None, None]))
T.slice_input_producer([])
T.limit_epochs(tf.constant(1), 0)
T.limit_epochs(tf.constant(1), -2)
T.batch([], 2)
T.batch({}, 2)
T.batch([numbers(4)], 2, num_threads=0)
T.batch([numbers(4)], 2, num_threads=-1)
T.batch([unknown(numbers(4))], 2)
T.batch([tf.placeholder(tf.float32, [None])], 2)
T.batch([unknown(numbers(4))], 2, dynamic_pad=True)
T.batch_join([], 2)
T.batch_join([[numbers(4)], [tf.constant("x")]], 2)
T.batch_join([{"a": numbers(4)}, {"b": numbers(4)}], 2)
T.maybe_batch([numbers(4)], [True], 2)
T.maybe_batch([numbers(4)], tf.placeholder(tf.bool), 2)
T.maybe_batch([tf.reshape(numbers(4), [1])], [[True]], 2, enqueue_many=True)
T.shuffle_batch([], 2, 10, 2)
T.shuffle_batch([unknown(numbers(4))], 2, 10, 2)
T.shuffle_batch([numbers(4)], 2, 5, 6)
T.shuffle_batch_join([], 2, 10, 2)
T.shuffle_batch_join([[numbers(4)], ["a"]], 2, 10, 2)
T.QueueRunner()
T.QueueRunner(tf.FIFOQueue(1, [tf.float32]))
T.QueueRunner(tf.FIFOQueue(1, [tf.float32]), [])
T.QueueRunner(None, [tf.no_op()])
"""

# What is wrong too; it is said in the words of what finds it.
MISFITS = """
T.batch([unknown(tf.range(numbers(4)))], 2, dynamic_pad=True)
T.shuffle_batch(numbers(9), 3, 10, 4)
T.batch(unknown(numbers(4)), 2, shapes=[[]])
T.batch({"n": unknown(numbers(4))}, 2, shapes={"n": []})
T.batch(numbers(6), 2)
T.string_input_producer([1, 2])
T.string_input_producer("alone")
T.string_input_producer(["a"], num_epochs="x")
T.range_input_producer([1, 2])
T.range_input_producer("a")
T.input_producer(5)
T.input_producer(tf.placeholder(tf.float32, [None, 2]), element_shape=[3])
T.slice_input_producer([5])
T.slice_input_producer(5)
T.batch(5, 2)
T.batch([numbers(4)], -2)
T.batch([numbers(4)], 2.5)
T.batch([numbers(4)], 2, shapes=[[2]])
T.batch([numbers(4)], 2, shapes=[[], []])
T.batch([numbers(4)], 2, enqueue_many=True)
T.batch([tf.constant([1]), tf.constant([1, 2])], 2, enqueue_many=True)
T.batch([numbers(4)], 2, capacity=0)
T.batch_join([[]], 2)
T.batch_join([numbers(4)], 2)
T.batch_join(5, 2)
T.batch_join([{"a": numbers(4)}, [numbers(4)]], 2)
T.batch_join([[tf.constant([1])], [tf.constant([1, 2])]], 2)
T.maybe_batch([tf.reshape(numbers(4), [1])], [True, False], 2, enqueue_many=True)
T.shuffle_batch([numbers(4)], 2, 10)
T.QueueRunner(tf.FIFOQueue(1, [tf.float32]), [tf.no_op()], queue_closed_exception_types=tf.errors.OutOfRangeError)
T.QueueRunner(tf.FIFOQueue(1, [tf.float32]), [tf.no_op()], queue_closed_exception_types=())
T.QueueRunner(tf.FIFOQueue(1, [tf.float32]), [tf.no_op()], queue_closed_exception_types=(5,))
T.QueueRunner(queue_runner_def=5)
"""  # noqa: E501

TABLES = {
    "IN_ORDER": IN_ORDER, "PADDED": PADDED, "ANY_ORDER": ANY_ORDER, "SHUFFLED": SHUFFLED,
    "SPARSE": SPARSE, "SPARSE_SHUFFLED": SPARSE_SHUFFLED, "SPARSE_WRONG": SPARSE_WRONG,
    "WRONG": WRONG, "MISFITS": MISFITS,
}  # fmt: skip


def lines(*tables):
    """Return the lines of tables; of all if none is named."""
    chosen = [TABLES[name] for name in tables or TABLES]
    return [line for table in chosen for line in table.splitlines() if line]


def environment(tf):
    """Return the names that the lines use."""

    def numbers(count):
        """Return a tensor that is 0, 1, ..., count - 1 and then ends."""
        return tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()

    def unknown(tensor):
        """Return `tensor` without its static shape."""
        return tf.placeholder_with_default(tensor, None)

    def sparse(number):
        """Return a sparse tensor [1, 3] with one element."""
        return tf.SparseTensor([[0, 1]], tf.reshape(number, [1]), [1, 3])

    def text(number):
        """Return a sparse tensor of strings."""
        return tf.SparseTensor([[0, 1]], tf.reshape(tf.as_string(number), [1]), [1, 3])

    def vector(number):
        """Return a sparse tensor of rank 1."""
        return tf.SparseTensor([[1]], tf.reshape(number, [1]), [4])

    def unknown_rank(number):
        """Return a sparse tensor whose rank nobody knows before it runs."""
        indices, shape = tf.constant([[0, 1]], tf.int64), tf.constant([1, 3], tf.int64)
        return tf.SparseTensor(unknown(indices), tf.reshape(number, [1]), unknown(shape))

    def example(number):
        """Return a serialized Example whose "n" has `number` values, and whose "one" has one."""
        return tf.gather([serialized(count) for count in range(6)], number)

    def serialized(count):
        found = tf.train.Example()
        found.features.feature["n"].int64_list.value.extend(range(count))
        found.features.feature["one"].int64_list.value.append(count)
        return found.SerializeToString(deterministic=True)

    def of_one(tensor, function):
        """Return what `function` makes of one tensor; both its nodes see one element."""
        return function(tensor)

    return {
        "tf": tf, "T": tf.train, "np": np,
        "numbers": numbers, "unknown": unknown, "sparse": sparse, "of_one": of_one,
        "text": text, "vector": vector, "unknown_rank": unknown_rank, "example": example,
    }  # fmt: skip
