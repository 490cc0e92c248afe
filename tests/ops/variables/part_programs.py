"""Programs with partitioned variables that real TensorFlow and ours build and run.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `part_outcomes.py` beside it. To store what 1.15.5 says:

    cd tests/ops/variables && PYTHON_OF_1.15 part_programs.py > expected_parts_1_15.json
"""

import numpy as np

try:
    from tests.ops.variables.part_outcomes import info, main, numbers, split
except ImportError:  # real TensorFlow's Python, by this file's path
    from part_outcomes import info, main, numbers, split

PROGRAMS = {}


def program(function):
    """Enter `function` into the table of programs: of `tf`, it returns what is to be noted."""
    PROGRAMS[function.__name__] = function
    return function


# partitioned variables


@program
def rows_in_two_parts(tf):
    v = split(tf)
    return [v, v.name, v.dtype, v.get_shape(), repr(type(v).__name__), [p.name for p in v],
            [info(p) for p in v]]  # fmt: skip


@program
def rows_in_two_parts_with_handles(tf):
    v = split(tf, use_resource=True)
    return [v, v.name, v.dtype, v.get_shape(), [p.name for p in v], [info(p) for p in v]]


@program
def columns_in_three_parts(tf):
    v = split(tf, shape=(2, 7), parts=3, axis=1)
    return [v, v.as_tensor(), [p.shape.as_list() for p in v], [info(p) for p in v]]


@program
def one_part(tf):
    v = split(tf, parts=1)
    return [v, v.as_tensor(), [p.name for p in v], [info(p) for p in v]]


@program
def one_part_with_handles(tf):
    v = split(tf, parts=1, use_resource=True)
    return [v, v.as_tensor(), tf.identity(v)]


@program
def a_vector(tf):
    v = split(tf, shape=(7,), parts=4)
    return [v, [info(p) for p in v]]


@program
def what_a_partitioned_variable_tells(tf):
    v = split(tf)
    parts = list(v)
    return [len(v), v._get_partitions(), v._get_variable_list() == parts, v._partition_axes(),
            v.dtype, v.shape, [hasattr(v, name) for name in ("op", "eval", "initializer")]
            ]  # fmt: skip


@program
def collections(tf):
    v = split(tf)
    names = sorted(tf.get_default_graph().get_all_collection_keys())
    return [names, [[each.name for each in tf.get_collection(key)] for key in names], v.name]


@program
def without_training(tf):
    v = split(tf, trainable=False, collections=["mine", "local_variables"])
    names = sorted(tf.get_default_graph().get_all_collection_keys())
    return [names, [[each.name for each in tf.get_collection(key)] for key in names], v.name]


@program
def a_scope_with_a_partitioner(tf):
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2)) as scope:
        v = tf.get_variable("v", [4, 3], initializer=numbers)
        with tf.variable_scope("b"):
            w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
        one = tf.get_variable("one", [1, 2], initializer=tf.ones_initializer())
    return [v, w, one, v.name, scope.partitioner is not None]


@program
def a_scope_entered_again(tf):
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2)) as scope:
        v = tf.get_variable("v", [4, 3], initializer=numbers)
    with tf.variable_scope(scope, reuse=True):
        again = tf.get_variable("v", [4, 3])
    return [v, v is again, [a is b for a, b in zip(v, again)], again.as_tensor()]  # noqa: B905


@program
def a_partitioner_that_is_set(tf):
    with tf.variable_scope("a") as scope:
        scope.set_partitioner(tf.fixed_size_partitioner(3))
        v = tf.get_variable("v", [5], initializer=numbers)
        scope.set_partitioner(None)
        w = tf.get_variable("w", [5], initializer=numbers)
    return [v, w]


@program
def a_scalar_in_a_scope_with_a_partitioner(tf):
    with tf.variable_scope("a", partitioner=lambda shape, dtype: [1] * max(len(shape), 1)):
        return [tf.get_variable("v", [], initializer=tf.zeros_initializer())]


@program
def used_as_a_tensor(tf):
    v = split(tf, shape=(3, 2))
    one = tf.constant(1.0)
    return [one + v, tf.multiply(v, 2.0), tf.matmul(tf.ones([1, 3]), v), tf.convert_to_tensor(v)]


@program
def without_operators(tf):
    return [split(tf) + 1.0]


@program
def converted_to_another_type(tf):
    return [tf.convert_to_tensor(split(tf), tf.float64)]


@program
def converted_twice(tf):
    v = split(tf, shape=(3, 2))
    return [tf.identity(v), tf.identity(v), v.as_tensor()]


@program
def in_a_name_scope(tf):
    with tf.name_scope("n"), tf.variable_scope("s"):
        v = split(tf, shape=(3, 2))
        return [v, tf.identity(v)]


@program
def changed(tf):
    v = split(tf, shape=(3, 2))
    value = tf.constant([[9.0, 9.0], [8.0, 8.0], [7.0, 7.0]])
    with tf.control_dependencies(v.assign(value, name="named")):
        return [p.read_value() for p in v]


@program
def changed_by_an_array(tf):
    return [split(tf, shape=(3, 2)).assign(np.ones([3, 2], np.float32))]


@program
def changed_by_a_list_of_another_length(tf):
    return [split(tf, shape=(3, 2)).assign([[9.0, 9.0], [8.0, 8.0], [7.0, 7.0]])]


@program
def changed_in_columns(tf):
    return [split(tf, shape=(2, 3), axis=1).assign_add(tf.ones([2, 3]))]


@program
def raised(tf):
    v = split(tf, shape=(3, 2))
    return [v.assign_add(tf.ones([3, 2])), v.assign_sub(2.0 * tf.ones([3, 2]))]


@program
def changed_with_handles(tf):
    v = split(tf, shape=(3, 2), use_resource=True)
    return [v.assign(tf.ones([3, 2]))]


@program
def parts_assigned_from_a_list(tf):
    v = split(tf, shape=(3, 2))
    return v.assign([tf.ones([2, 2]), tf.zeros([1, 2])])


@program
def created_parts(tf):
    parts = tf.create_partitioned_variables([5, 3], [2, 1], numbers, name="v")
    return [parts, [info(p) for p in parts], tf.concat(parts, 0)]


@program
def created_parts_without_a_name(tf):
    with tf.variable_scope("s"):
        return [tf.create_partitioned_variables([4], [2], tf.ones_initializer()),
                tf.create_partitioned_variables([4], [2], tf.ones_initializer())]  # fmt: skip


@program
def created_parts_of_a_value(tf):
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    return [tf.create_partitioned_variables([2, 3], [1, 3], tf.constant(value), name="v")]


@program
def created_parts_for_nobody(tf):
    parts = tf.create_partitioned_variables(
        [4], [2], tf.ones_initializer(), trainable=False, collections=["mine"], name="v"
    )
    return [parts, tf.get_collection("mine") == parts, len(tf.trainable_variables())]


@program
def created_parts_found_again(tf):
    parts = tf.create_partitioned_variables([4], [2], tf.ones_initializer(), name="v")
    again = tf.create_partitioned_variables([4], [2], tf.ones_initializer(), name="v", reuse=True)
    return [a is b for a, b in zip(parts, again)]  # noqa: B905


@program
def created_in_two_axes(tf):
    return [tf.create_partitioned_variables([4, 4], [2, 2], tf.ones_initializer(), name="v")]


@program
def created_in_more_parts_than_rows(tf):
    return [tf.create_partitioned_variables([2, 4], [3, 1], tf.ones_initializer(), name="v")]


@program
def created_with_a_wrong_rank(tf):
    return [tf.create_partitioned_variables([2, 4], [2], tf.ones_initializer(), name="v")]


@program
def with_a_value(tf):
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    v = tf.get_variable("v", initializer=tf.constant(value),
                        partitioner=tf.fixed_size_partitioner(2))  # fmt: skip
    return [v]


@program
def with_a_value_and_handles(tf):
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    v = tf.get_variable("v", initializer=tf.constant(value), use_resource=True,
                        partitioner=tf.fixed_size_partitioner(2))  # fmt: skip
    return [v]


@program
def with_a_shape_and_a_value(tf):
    return [split(tf, shape=(3, 2), initializer=tf.ones([3, 2]))]


@program
def with_a_usual_initializer(tf):
    with tf.variable_scope("s", initializer=tf.constant_initializer(3.0)):
        return [tf.get_variable("v", [3, 2], partitioner=tf.fixed_size_partitioner(2))]


@program
def with_a_constant_array(tf):
    initializer = tf.constant_initializer(np.arange(6, dtype=np.float32).reshape(3, 2))
    return [split(tf, shape=(3, 2), initializer=initializer)]


@program
def with_a_lambda(tf):
    return [split(tf, shape=(3, 2), initializer=lambda shape, dtype: tf.ones(shape, dtype))]


@program
def with_the_default_initializer(tf):
    v = tf.get_variable("v", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    return [v.name, [p.initial_value.op.type for p in v]]


@program
def with_integers(tf):
    v = tf.get_variable("v", [4], tf.int32, partitioner=tf.fixed_size_partitioner(2))
    return [v]


@program
def with_a_regularizer(tf):
    v = split(tf, shape=(3, 2), regularizer=lambda value: tf.reduce_sum(value + 1.0, name="sum"))
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return [v, losses, [each.name for each in losses]]


@program
def with_a_custom_getter(tf):
    seen = []

    def getter(getter, *arguments, **more):
        seen.append(sorted(more))
        return getter(*arguments, **more)

    with tf.variable_scope("s", custom_getter=getter):
        v = split(tf, shape=(3, 2))
    return [v, ["partitioner" in each for each in seen]]


@program
def found_again(tf):
    v = split(tf)
    with tf.variable_scope("", reuse=True):
        w = split(tf)
    return [v is w, [a is b for a, b in zip(v, w)]]  # noqa: B905


@program
def found_again_when_allowed(tf):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        v, w = split(tf), split(tf)
    return [v is w, [a is b for a, b in zip(v, w)]]  # noqa: B905


@program
def made_twice(tf):
    split(tf)
    return [split(tf)]


@program
def not_there(tf):
    with tf.variable_scope("", reuse=True):
        return [split(tf)]


@program
def found_again_in_other_parts(tf):
    split(tf)
    with tf.variable_scope("", reuse=True):
        return [split(tf, parts=3)]


@program
def found_again_with_another_shape(tf):
    split(tf)
    with tf.variable_scope("", reuse=True):
        return [split(tf, shape=(6, 3))]


@program
def found_again_with_another_type(tf):
    split(tf)
    with tf.variable_scope("", reuse=True):
        return [split(tf, dtype=tf.float64)]


@program
def found_again_whole(tf):
    split(tf)
    with tf.variable_scope("", reuse=True):
        return [tf.get_variable("v", [5, 3])]


@program
def whole_found_again_in_parts(tf):
    tf.get_variable("v", [5, 3])
    with tf.variable_scope("", reuse=True):
        return [split(tf)]


@program
def a_part_found_by_its_name(tf):
    v = split(tf)
    with tf.variable_scope("", reuse=True):
        part = tf.get_variable("v/part_1", [2, 3])
    return [part is list(v)[1]]


@program
def a_whole_beside_parts(tf):
    split(tf)
    return [tf.get_variable("v", [5, 3], initializer=tf.ones_initializer())]


@program
def parts_beside_a_whole(tf):
    tf.get_variable("v", [5, 3], initializer=tf.ones_initializer())
    return [split(tf)]


@program
def found_again_whole_with_another_shape(tf):
    split(tf)
    with tf.variable_scope("", reuse=True):
        return [tf.get_variable("v", [7, 3])]


@program
def found_again_whole_when_allowed(tf):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        v = split(tf)
        return [v is tf.get_variable("v", [5, 3])]


@program
def a_scalar_with_a_partitioner(tf):
    return [tf.get_variable("v", [], tf.int32, partitioner=lambda shape, dtype: [])]


@program
def a_scalar_with_a_fixed_partitioner(tf):
    return [split(tf, shape=(), initializer=tf.zeros_initializer())]


@program
def with_an_array(tf):
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    return [tf.get_variable("v", initializer=value, partitioner=tf.fixed_size_partitioner(2))]


@program
def with_a_class(tf):
    return [split(tf, shape=(3, 2), initializer=tf.ones_initializer)]


@program
def with_an_array_for_a_list_of_parts(tf):
    return [tf.create_partitioned_variables([4], [2], np.arange(4, dtype=np.float32), name="v")]


@program
def with_a_shape_that_is_partly_known(tf):
    return [tf.get_variable("v", [None, 2], partitioner=tf.fixed_size_partitioner(2))]


@program
def with_a_caching_device(tf):
    return [split(tf, shape=(3, 2), caching_device="/cpu:0")]


@program
def in_more_parts_than_rows(tf):
    return [split(tf, shape=(2, 3), parts=4)]


@program
def in_more_parts_than_rows_by_another_partitioner(tf):
    return [tf.get_variable("v", [2, 3], partitioner=lambda shape, dtype: [3, 1])]


@program
def with_scaled_initializers(tf):
    made = []
    glorot, variance = (
        tf.glorot_uniform_initializer(seed=1),
        tf.variance_scaling_initializer(seed=1),
    )
    for initializer in (glorot, variance, tf.uniform_unit_scaling_initializer(seed=1)):
        v = split(tf, f"v{len(made)}", (40, 20), 4, initializer=initializer)
        made.append(v.name)
    return [op.outputs[0] for op in tf.get_default_graph().get_operations()
            if op.name.split("/")[-1] in ("min", "max", "stddev")]  # fmt: skip


@program
def no_shape(tf):
    return [tf.get_variable("v", partitioner=tf.fixed_size_partitioner(2))]


@program
def a_partitioner_that_is_no_function(tf):
    return [tf.get_variable("v", [4], partitioner=[2])]


@program
def a_partitioner_that_gives_no_list(tf):
    return [tf.get_variable("v", [4], partitioner=lambda shape, dtype: 2)]


@program
def a_partitioner_of_another_rank(tf):
    return [tf.get_variable("v", [4, 2], partitioner=lambda shape, dtype: [2])]


@program
def a_partitioner_that_gives_zero(tf):
    return [tf.get_variable("v", [4, 2], partitioner=lambda shape, dtype: [0, 1])]


@program
def a_partitioner_of_two_axes(tf):
    return [tf.get_variable("v", [4, 2], partitioner=lambda shape, dtype: [2, 2])]


@program
def what_a_partitioner_is_given(tf):
    seen = []

    def partitioner(shape, dtype):
        seen.append([repr(shape), repr(dtype)])
        return [2, 1]

    tf.get_variable("v", [4, 2], partitioner=partitioner)
    return seen


@program
def what_an_initializer_is_given(tf):
    seen = []

    def initializer(shape, dtype, partition_info):
        seen.append([list(shape), repr(dtype), partition_info.full_shape, partition_info.var_offset,
                     partition_info.single_offset(shape), partition_info.single_slice_dim(shape)]
                    )  # fmt: skip
        return tf.zeros(shape, dtype)

    split(tf, shape=(5, 3), initializer=initializer)
    return seen


@program
def partitioners(tf):
    shape = tf.TensorShape
    axis = tf.variable_axis_size_partitioner
    least = tf.min_max_variable_partitioner
    return [
        tf.fixed_size_partitioner(3)(shape=shape([7, 2]), dtype=tf.float32),
        tf.fixed_size_partitioner(3, 1)(shape=shape([7, 2]), dtype=tf.float32),
        tf.fixed_size_partitioner(3)(shape=shape([2, 2]), dtype=tf.float32),
        axis(64)(shape=shape([10, 4]), dtype=tf.float32),
        axis(64, axis=1)(shape=shape([10, 4]), dtype=tf.float32),
        axis(64, max_shards=2)(shape=shape([100, 4]), dtype=tf.float32),
        axis(1000)(shape=shape([4, 4]), dtype=tf.float64),
        axis(1)(shape=shape([4, 4]), dtype=tf.float64),
        axis(64)(shape=shape([10]), dtype=tf.string),
        axis(64, bytes_per_string_element=32)(shape=shape([10]), dtype=tf.string),
        least(max_partitions=4)(shape=shape([1 << 20]), dtype=tf.float32),
        least(max_partitions=16, min_slice_size=1024)(shape=shape([64, 64]), dtype=tf.float32),
        least(max_partitions=3, min_slice_size=1024)(shape=shape([64, 64]), dtype=tf.float32),
        least(max_partitions=16, axis=1, min_slice_size=64)(shape=shape([8, 64]), dtype=tf.float32),
        least(max_partitions=16, min_slice_size=1)(shape=shape([5, 64]), dtype=tf.float32),
        least(max_partitions=4, bytes_per_string_element=4, min_slice_size=8)(
            shape=shape([9]), dtype=tf.string
        ),
    ]


@program
def a_partitioner_of_too_little(tf):
    return [tf.variable_axis_size_partitioner(0)]


@program
def a_partitioner_of_no_shards(tf):
    return [
        tf.variable_axis_size_partitioner(64, max_shards=0)(
            shape=tf.TensorShape([9]), dtype=tf.float32
        )
    ]


@program
def a_partitioner_of_no_parts(tf):
    return [
        tf.min_max_variable_partitioner(max_partitions=0)(
            shape=tf.TensorShape([9]), dtype=tf.float32
        )
    ]


@program
def a_partitioner_of_no_slice(tf):
    return [
        tf.min_max_variable_partitioner(min_slice_size=0)(
            shape=tf.TensorShape([9]), dtype=tf.float32
        )
    ]


@program
def on_servers_in_turn(tf):
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        v = split(tf, shape=(6, 2), parts=3)
        w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        tensor = tf.convert_to_tensor(v)
    return [[p.device for p in v], w.device, tensor.device, tensor]


@program
def trained(tf):
    v = split(tf, shape=(3, 2))
    step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(v)))
    with tf.control_dependencies([step]):
        return [p.read_value() for p in v]


@program
def trained_with_the_whole_named(tf):
    v = split(tf, shape=(3, 2))
    return tf.gradients(tf.reduce_sum(tf.square(v)), list(v))


@program
def a_part_as_a_message(tf):
    message = list(split(tf))[1].to_proto()
    again = tf.Variable.from_proto(message)
    return [info(again), str(message.save_slice_info_def)]


@program
def a_part_with_a_handle_as_a_message(tf):
    message = list(split(tf, use_resource=True))[1].to_proto()
    again = tf.Variable.from_proto(message)
    return [info(again), str(message.save_slice_info_def)]


@program
def trained_with_handles(tf):
    v = split(tf, shape=(3, 2), use_resource=True)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(v)))
    with tf.control_dependencies([step]):
        return [p.read_value() for p in v]


if __name__ == "__main__":
    main(PROGRAMS)
