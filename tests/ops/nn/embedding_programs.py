"""Programs with embeddings that real TensorFlow and ours build and run.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `../variables/part_outcomes.py`. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/nn/embedding_programs.py > tests/ops/nn/expected_embeddings_1_15.json
"""

import os
import sys

import numpy as np

try:
    from tests.ops.variables.part_outcomes import main, split
except ImportError:  # real TensorFlow's Python, by this file's path
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "variables"))
    from part_outcomes import main, split

PROGRAMS = {}


def program(function):
    """Enter `function` into the table of programs: of `tf`, it returns what is to be noted."""
    PROGRAMS[function.__name__] = function
    return function


# embeddings

IDS = [[4, 0], [2, 2]]


def table(parts, rows=5):
    """Return a list of `parts` arrays, which hold `rows` rows of 3 columns together."""
    values = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    return np.array_split(values, parts)


def variables(tf, parts, **more):
    """Return variables that hold the rows of a table."""
    return [tf.Variable(each, name=f"t{i}", **more) for i, each in enumerate(table(parts))]


@program
def looked_up(tf):
    return [tf.nn.embedding_lookup(variables(tf, 1)[0], IDS)]


@program
def looked_up_with_a_handle(tf):
    return [tf.nn.embedding_lookup(variables(tf, 1, use_resource=True)[0], IDS)]


@program
def looked_up_in_a_list_of_one(tf):
    return [tf.nn.embedding_lookup(variables(tf, 1), IDS, name="look")]


@program
def looked_up_in_parts(tf):
    return [tf.nn.embedding_lookup(variables(tf, 2), IDS)]


@program
def looked_up_in_parts_with_handles(tf):
    return [tf.nn.embedding_lookup(variables(tf, 2, use_resource=True), IDS)]


@program
def looked_up_in_parts_by_division(tf):
    return [tf.nn.embedding_lookup(variables(tf, 3), IDS, partition_strategy="div", name="look")]


@program
def looked_up_in_a_partitioned_variable(tf):
    return [tf.nn.embedding_lookup(split(tf), [4, 0, 2], partition_strategy="div")]


@program
def looked_up_in_a_partitioned_variable_with_handles(tf):
    v = split(tf, use_resource=True)
    return [tf.nn.embedding_lookup(v, [4, 0, 2], partition_strategy="div")]


@program
def looked_up_in_a_partitioned_variable_by_the_rest(tf):
    return [tf.nn.embedding_lookup(split(tf), [4, 0, 2])]


@program
def looked_up_in_tensors(tf):
    return [tf.nn.embedding_lookup([tf.constant(each) for each in table(2)], np.int64([4, 0]))]


@program
def looked_up_in_parts_of_unknown_shape(tf):
    parts = [tf.placeholder_with_default(each, None) for each in table(2)]
    return [tf.nn.embedding_lookup(parts, [4, 0], partition_strategy="div")]


@program
def looked_up_with_a_greatest_norm(tf):
    return [tf.nn.embedding_lookup(variables(tf, 1)[0], IDS, max_norm=5.0)]


@program
def looked_up_in_parts_with_a_greatest_norm(tf):
    return [tf.nn.embedding_lookup(variables(tf, 2), IDS, max_norm=5.0)]


@program
def looked_up_nowhere(tf):
    return [tf.nn.embedding_lookup([], IDS)]


@program
def looked_up_in_nothing(tf):
    return [tf.nn.embedding_lookup(None, IDS)]


@program
def looked_up_by_an_unknown_strategy(tf):
    return [tf.nn.embedding_lookup(variables(tf, 2), IDS, partition_strategy="hash")]


@program
def looked_up_outside(tf):
    return [tf.nn.embedding_lookup(variables(tf, 1)[0], [7])]


@program
def gradient_of_a_lookup(tf):
    found = variables(tf, 1)
    sums = tf.reduce_sum(tf.nn.embedding_lookup(found, IDS))
    slices = tf.gradients(sums, found)[0]
    return [type(slices).__name__, slices.indices, slices.values]


@program
def gradient_of_a_lookup_in_parts(tf):
    found = variables(tf, 2)
    sums = tf.reduce_sum(tf.nn.embedding_lookup(found, IDS) * 2.0)
    slices = tf.gradients(sums, found)
    return [each for one in slices for each in (one.indices, one.values)]


@program
def gradient_of_a_lookup_with_a_greatest_norm(tf):
    found = variables(tf, 2)
    sums = tf.reduce_sum(tf.nn.embedding_lookup(found, IDS, max_norm=5.0))
    slices = tf.gradients(sums, found)
    return [each for one in slices for each in (one.indices, one.values)]


@program
def lookups_trained(tf):
    v = split(tf, use_resource=False)
    sums = tf.reduce_sum(tf.nn.embedding_lookup(v, [4, 0, 4], partition_strategy="div"))
    with tf.control_dependencies([tf.train.GradientDescentOptimizer(1.0).minimize(sums)]):
        return [p.read_value() for p in v]


@program
def lookups_trained_with_handles(tf):
    v = split(tf, use_resource=True)
    sums = tf.reduce_sum(tf.nn.embedding_lookup(v, [4, 0, 4], partition_strategy="div"))
    with tf.control_dependencies([tf.train.GradientDescentOptimizer(1.0).minimize(sums)]):
        return [p.read_value() for p in v]


def bags(tf, values=(4, 0, 2, 2), indices=((0, 0), (0, 1), (1, 0), (3, 2))):
    """Return a sparse tensor of ids: the rows of a batch are bags of them."""
    return tf.SparseTensor(list(map(list, indices)), np.int64(values), [4, 3])


def weights(tf, values=(1.0, 2.0, 0.5, -1.0)):
    """Return weights for the ids of `bags`."""
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]], np.float32(values), [4, 3])


def bag_program(combiner, weighed, parts=1, **more):
    """Enter a program that looks bags up, and takes the gradient."""
    name = f"bags_by_{combiner}{'_with_weights' * weighed}_in_{parts}"
    name += "_".join(["", *sorted(more)])

    def function(tf):
        found = variables(tf, parts)
        sums = tf.nn.embedding_lookup_sparse(
            found, bags(tf), weights(tf) if weighed else None, combiner=combiner, **more
        )
        factors = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
        slices = tf.gradients(tf.reduce_sum(sums * factors), found)
        return [sums] + [each for one in slices for each in (one.indices, one.values)]

    PROGRAMS[name] = function


for _combiner in ("mean", "sqrtn", "sum"):
    for _weighed in (False, True):
        bag_program(_combiner, _weighed)
bag_program("mean", True, 2)
bag_program("sum", False, 2, partition_strategy="div")
bag_program("sqrtn", False, 1, max_norm=5.0)
bag_program("mean", True, 1, name="look")


@program
def bags_with_the_default_combiner(tf):
    return [tf.nn.embedding_lookup_sparse(variables(tf, 1), bags(tf), None)]


@program
def bags_with_an_unknown_combiner(tf):
    return [tf.nn.embedding_lookup_sparse(variables(tf, 1), bags(tf), None, combiner="max")]


@program
def bags_of_dense_ids(tf):
    return [tf.nn.embedding_lookup_sparse(variables(tf, 1), IDS, None, combiner="sum")]


@program
def bags_with_dense_weights(tf):
    return [tf.nn.embedding_lookup_sparse(variables(tf, 1), bags(tf), [1.0], combiner="sum")]


@program
def bags_in_a_partitioned_variable(tf):
    v = split(tf)
    return [tf.nn.embedding_lookup_sparse(v, bags(tf), None, "div", combiner="sum")]


@program
def safe_bags(tf):
    return [tf.nn.safe_embedding_lookup_sparse(variables(tf, 1), bags(tf))]


@program
def safe_bags_with_weights(tf):
    return [tf.nn.safe_embedding_lookup_sparse(variables(tf, 1), bags(tf), weights(tf))]


@program
def safe_bags_with_a_default(tf):
    return [tf.nn.safe_embedding_lookup_sparse(
        variables(tf, 1), bags(tf, (4, -1, 2, 2)), combiner="sum", default_id=1)]  # fmt: skip


@program
def safe_bags_in_parts(tf):
    return [tf.nn.safe_embedding_lookup_sparse(
        split(tf), bags(tf), weights(tf), "sqrtn", partition_strategy="mod", name="safe"
    )]  # fmt: skip


@program
def safe_bags_nowhere(tf):
    return [tf.nn.safe_embedding_lookup_sparse([], bags(tf))]


# what these are made of


@program
def rows_filled(tf):
    filled, empty = tf.sparse_fill_empty_rows(bags(tf), np.int64(7), name="fill")
    return [filled.indices, filled.values, filled.dense_shape, empty]


@program
def rows_filled_with_a_number(tf):
    sparse = tf.SparseTensor([[1, 0]], [2.5], [3, 2])
    filled, empty = tf.sparse_fill_empty_rows(sparse, 7.0)
    return [filled.indices, filled.values, filled.dense_shape, empty]


@program
def gradient_of_rows_filled(tf):
    values, default = tf.constant([1.0, 2.0]), tf.constant(5.0)
    sparse = tf.SparseTensor([[0, 1], [2, 0]], values, [4, 3])
    filled, _ = tf.sparse_fill_empty_rows(sparse, default)
    factors = tf.constant([2.0, 3.0, 4.0, 5.0])
    return tf.gradients(filled.values * factors, [values, default])


@program
def values_retained(tf):
    kept = tf.sparse_retain(bags(tf), [True, False, True, False])
    return [kept.indices, kept.values, kept.dense_shape]


def segments_program(kind):
    """Enter programs that reduce segments of gathered rows, and take the gradient."""

    def function(tf):
        data = tf.constant(table(1)[0])
        reduce = getattr(tf, "sparse_segment_" + kind)
        indices, ids = tf.constant([4, 0, 2, 2]), tf.constant([0, 0, 1, 3])
        found = reduce(data, indices, ids, name="plain")
        more = reduce(data, indices, ids, num_segments=6, name="more")
        factors = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
        return [found, more, tf.gradients(found * factors, data)[0], tf.gradients(more, data)[0]]

    PROGRAMS["segments_by_" + kind] = function


for _kind in ("sum", "mean", "sqrt_n"):
    segments_program(_kind)


if __name__ == "__main__":
    main(PROGRAMS)
