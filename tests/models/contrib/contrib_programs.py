"""What remains of tf.contrib.framework and layers, and renormalized batches: as `programs`.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `tests/models/programs.py`. To store what 1.15.5 says:

    cd tests/models/contrib && PYTHON_OF_1.15 contrib_programs.py > expected_contrib_1_15.json
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import programs

# One expression a line, each in a graph of its own: `framework` and `layers` are those of
# tf.contrib; the other names are those of `programs.environment`.
FRAMEWORK = """
framework.argsort(a)
framework.argsort(a, 0, "DESCENDING", name="mine")
framework.argsort(tf.constant([[3, 1, 2]]), -2, "ASCENDING", True)
framework.argsort(a, direction="x")
framework.argsort(tf.constant(1.0))
framework.sort(a)
framework.sort(tf.constant(a), 0, "DESCENDING", name="mine")
framework.sort(cube, 1)
framework.sort(tf.constant([5, 3, 9]), direction="DESCENDING")
framework.sort(a, axis=tf.placeholder(tf.int32, []))
framework.is_tensor(tf.constant(1.0)), framework.is_tensor(tf.Variable(1.0)), framework.is_tensor(1)
framework.is_tensor(sparse), framework.is_tensor(a), framework.is_tensor("x")
framework.smart_cond(True, lambda: tf.constant(1), lambda: tf.constant(2))
framework.smart_cond(tf.constant(False), lambda: tf.constant(1), lambda: tf.constant(2))
framework.smart_cond(yes, lambda: tf.constant(1), lambda: tf.constant(2), name="mine")
framework.smart_cond(True, 3, lambda: 1)
framework.smart_cond("x", lambda: 3, lambda: 1)
framework.smart_cond(1, lambda: tf.constant(1), lambda: tf.constant(2))
framework.smart_constant_value(True), framework.smart_constant_value(tf.constant(False))
framework.smart_constant_value(yes)
framework.smart_constant_value(3)
framework.smart_case([(True, lambda: tf.constant(1))], lambda: tf.constant(2))
framework.smart_case([(False, lambda: tf.constant(1)), (no, lambda: f(3))], lambda: f(2))
framework.smart_case([(False, lambda: f(1))], lambda: f(2))
framework.smart_case({no: lambda: f(1)}, default=lambda: f(2), exclusive=True)
framework.smart_case([(no, 1)], lambda: f(2))
framework.smart_case(1)
framework.with_shape([2, 3], tf.constant(a))
framework.with_shape([2, 3], tf.placeholder_with_default(a, [None, 3]))
framework.with_shape([2, 3], tf.placeholder_with_default(a, None))
framework.with_shape(f(2, 3), tf.constant(a))
framework.with_shape(tf.placeholder_with_default([2, 3], [2]), tf.constant(a))
framework.with_shape([3, 3], tf.constant(a))
framework.with_shape([3], tf.constant(a))
framework.with_shape([3, 3], tf.placeholder_with_default(a, None))
framework.with_shape([2.0], tf.constant(a))
framework.with_same_shape(tf.constant(a), tf.constant(b))
framework.with_same_shape(tf.placeholder_with_default(a, None), tf.constant(b))
framework.assert_scalar(tf.constant(1.0))
framework.assert_scalar(tf.constant(a))
framework.assert_scalar_int(tf.constant(1))
framework.assert_scalar_int(tf.constant(1.0))
framework.assert_same_float_dtype([tf.constant(a), None])
framework.assert_same_float_dtype([tf.constant(1)])
framework.assert_same_float_dtype([tf.constant(a)], tf.float64)
framework.assert_same_float_dtype(), framework.assert_same_float_dtype(dtype=tf.float16)
framework.reduce_sum_n([tf.constant(a), tf.constant(b)])
framework.reduce_sum_n([tf.constant(a)])
framework.reduce_sum_n([tf.constant(a), cube], name="mine")
framework.reduce_sum_n([])
framework.remove_squeezable_dimensions(tf.constant([[1], [2]]), tf.constant([1, 2]))
framework.remove_squeezable_dimensions(f(1, 2), tf.placeholder_with_default([1, 2], None))
framework.convert_to_tensor_or_sparse_tensor([1, 2])
framework.convert_to_tensor_or_sparse_tensor(sparse) is sparse
framework.convert_to_tensor_or_sparse_tensor(sparse, tf.float32)
framework.py_func(lambda x, y: x + y, [a], {"y": b}, tf.float32)
framework.py_func(lambda x: {"p": x, "q": [x * 2]}, [a], None, {"p": tf.float32, \
"q": [tf.float32]}, {"p": [2, 3], "q": [None]})["q"]
framework.py_func(lambda: a, output_types=tf.float32, output_shapes=[2, 3], stateful=False, \
name="mine")
framework.get_name_scope(), scope("x/y", framework.get_name_scope)
framework.prepend_name_scope("a/b", "x"), framework.prepend_name_scope("loc:@a", "x/y")
framework.prepend_name_scope("^a/b", "x"), framework.prepend_name_scope("a", None)
framework.strip_name_scope("x/a/b", "x"), framework.strip_name_scope("y/a", "x")
framework.strip_name_scope("^x/a", "x"), framework.strip_name_scope("loc:@x/a", "x"), \
framework.strip_name_scope("a", None)
[each.name for each in framework.get_placeholders((tf.placeholder(tf.int32, name="p"), \
tf.get_default_graph())[1])]
framework.get_placeholders(3)
framework.get_graph_from_inputs([tf.constant(1)]) is tf.get_default_graph()
framework.get_graph_from_inputs([tf.constant(1)], tf.Graph())
framework.get_graph_from_inputs(3)
framework.get_variable_full_name(tf.get_variable("v", [2]))
framework.get_variable_full_name(list(within("x", lambda: tf.get_variable("v", [4]), \
partitioner=halves))[0])
framework.assert_or_get_global_step()
framework.assert_or_get_global_step(tf.train.create_global_step()) is tf.train.get_global_step()
[framework.VariableDeviceChooser(n)(tf.Variable(1.0).op) for n in (0, 2)]
each_of(framework.VariableDeviceChooser(2, "p", "GPU", 1, 3))
framework.assign_from_values({"v": a})
assigned(framework.assign_from_values, {"x/weights": [[1.0, 2.0]] * 3})
assigned(framework.assign_from_values, {"x/weights": [[1.0, 2.0]]})
framework.nest.flatten({"b": [1, (2,)], "a": 3}), framework.nest.flatten(1)
framework.nest.pack_sequence_as({"b": [1, (2,)], "a": 3}, [4, 5, 6])
framework.nest.pack_sequence_as([1, 2], [3])
framework.nest.pack_sequence_as([1, 2], 3)
framework.nest.map_structure(lambda x, y: x + y, [1, (2, 3)], [4, (5, 6)])
framework.nest.map_structure(lambda x, y: x + y, [1, 2], (4, 5))
framework.nest.map_structure(lambda x, y: x + y, [1, 2], (4, 5), check_types=False)
framework.nest.map_structure(lambda: 1)
framework.nest.map_structure(3, [1])
framework.nest.assert_same_structure([1, [2]], [1, 2])
framework.nest.assert_same_structure([1, 2], (1, 2))
framework.nest.assert_same_structure([1, 2], (1, 2), check_types=False)
framework.nest.assert_same_structure([1, (2, 3)], (1, [2, 3]), check_types=False)
framework.nest.is_sequence([1]), framework.nest.is_sequence("x"), framework.nest.is_nested({}), \
framework.nest.is_sequence(a)
framework.nest.flatten_up_to([1, [2]], [[3, 4], [[5]]])
framework.nest.flatten_up_to([1, 2], [3])
framework.nest.flatten_up_to([1, 2], 3)
framework.nest.flatten_up_to({"a": 1}, {"a": [3, 4]})
framework.nest.flatten_up_to({"a": 1}, {"b": [3, 4]})
framework.nest.assert_shallow_structure([1, 2], [[3], 4])
framework.nest.assert_shallow_structure([1, 2], (3, 4))
framework.nest.map_structure_up_to([1, 2], lambda x, y: [x, y], [[1], [2]], [3, 4])
framework.nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d"))})
framework.nest.flatten_dict_items({(4, 5): "a"})
framework.nest.flatten_dict_items([1])
framework.nest.yield_flat_paths({"a": [3, \
{"b": 4}]}) and list(framework.nest.yield_flat_paths({"a": [3, {"b": 4}]}))
framework.nest.flatten_with_joined_string_paths({"a": [3, {"b": 4}]})
framework.nest.flatten_with_joined_string_paths({"a": [3]}, separator=".")
framework.nest.flatten_with_tuple_paths([3, (4,)])
framework.nest.map_structure_with_paths(lambda path, x: (path, x), {"a": [3, 4]})
framework.nest.map_structure_with_tuple_paths(lambda path, x, y: (path, x + y), [1, 2], [3, 4])
framework.nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), [1, [2], (3, 4)])
framework.nest.flatten(sparse, expand_composites=True)
repr(framework.TensorSpec([2, None], tf.int32, "x")), \
framework.TensorSpec([2]) == framework.TensorSpec([2])
framework.TensorSpec.from_tensor(tf.constant(a, name="x")), framework.TensorSpec([None, \
3]).is_compatible_with(tf.constant(a))
framework.TensorSpec([3]).is_compatible_with(tf.constant(a)), framework.TensorSpec([2], \
"float32").dtype
framework.BoundedTensorSpec([2], tf.int32, 0, [1, 2])
framework.BoundedTensorSpec([2], tf.int32, 0, [1, 2, 3])
framework.BoundedTensorSpec.from_spec(framework.BoundedTensorSpec([2], tf.float32, -1, 1, "x"))
"""

LAYERS = """
layers.group_norm(wide)
layers.group_norm(wide, groups=2)
layers.group_norm(tf.transpose(wide, [0, 3, 1, 2]), 4, channels_axis=-3, reduction_axes=[-2, \
-1], scope="mine")
layers.group_norm(wide, 2, center=False, scale=False, activation_fn=tf.nn.relu, \
outputs_collections="o")
layers.group_norm(wide, 3)
layers.group_norm(wide, 9)
layers.group_norm(wide, 2, -1, [-1, -2])
layers.group_norm(wide, 2, param_initializers={"beta": ones}, mean_close_to_zero=True)
layers.group_norm(tf.placeholder(tf.float32), 2)
layers.group_norm(tf.placeholder(tf.float32, [2, 3, 4, None]), 2)
layers.instance_norm(image)
layers.instance_norm(image, scale=False, epsilon=0.1, scope="mine", variables_collections=["v"])
layers.instance_norm(tf.transpose(image, [0, 3, 1, 2]), data_format="NCHW")
layers.instance_norm(image, data_format="x")
layers.instance_norm(tf.placeholder(tf.float32))
layers.maxout(a, 1)
layers.maxout(wide, 4, scope="mine")
layers.maxout(image, 5, axis=1)
layers.maxout(a, 2)
layers.spatial_softmax(image)
layers.spatial_softmax(image, temperature=2.0)
layers.spatial_softmax(tf.transpose(image, [0, 3, 1, 2]), data_format="NCHW", name="mine", \
variables_collections=["v"])
layers.spatial_softmax(image, data_format="x")
layers.gdn(tf.constant(image))
layers.gdn(tf.constant(image), inverse=True, gamma_init=0.2, name="mine")
layers.gdn(tf.constant(cube))
layers.gdn(tf.constant(image), data_format="x")
layers.GDN()(image)
layers.conv2d_in_plane(tf.constant(image), 2, weights_initializer=ones)
layers.conv2d_in_plane(tf.constant(image), [2, 1], [1, 1], "VALID", activation_fn=None, \
biases_initializer=None, weights_initializer=ones, scope="mine", outputs_collections="o")
layers.convolution2d_in_plane(tf.constant(image), [1, 2], 2, weights_initializer=ones, \
variables_collections=["v"])
layers.convolution3d_transpose(tf.expand_dims(image, 0), 2, 2, 2, weights_initializer=ones)
layers.conv3d_transpose(tf.expand_dims(image, 0), 2, 2, 2, weights_initializer=ones)
indexed(layers.dense_to_sparse(tf.constant([[1, 0, 2], [3, 4, 0]])))
indexed(layers.dense_to_sparse(tf.constant([[1, 5], [3, 4]]), eos_token=5, scope="mine"))
layers.images_to_sequence(image)
layers.images_to_sequence(tf.transpose(image, [0, 3, 1, 2]), data_format="NCHW", \
outputs_collections="o", scope="mine")
layers.images_to_sequence(image, data_format="x")
layers.sequence_to_images(cube, 2)
layers.sequence_to_images(cube, 2, "channels_first", scope="mine")
layers.bow_encoder([[0, 1], [2, 0]], 3, 2, initializer=ones)
layers.bow_encoder([[0, 1], [2, 0]], 3, 2, sparse_lookup=False, initializer=ones, scope="mine")
layers.bow_encoder(tf.constant([[1, 1]], tf.int64), 3, 2, initializer=ones, \
regularizer=tf.nn.l2_loss, trainable=False)
layers.embedding_lookup_unique(tf.constant(a), tf.constant([[0, 1], [1, 1]]))
layers.embedding_lookup_unique([tf.constant(a), tf.constant(b)], tf.constant([3, 0]), name="mine")
layers.embedding_lookup_unique(None, tf.constant([3, 0]))
layers.safe_embedding_lookup_sparse([tf.constant(a)], ids)
layers.safe_embedding_lookup_sparse([tf.constant(a)], ids, default_id=1, combiner="sum")
layers.safe_embedding_lookup_sparse([tf.constant(a)], ids, weights, combiner="sqrtn", name="mine")
layers.safe_embedding_lookup_sparse([tf.constant(a), tf.constant(b)], ids, \
partition_strategy="mod", max_norm=1.0, combiner="mean")
layers.safe_embedding_lookup_sparse([], ids)
gradients(lambda x: layers.scale_gradient(x, tf.constant(3.0)) * 2.0, tf.constant(2.0))
layers.legacy_fully_connected(a, 2, weight_init=ones)
layers.legacy_fully_connected(cube, 2, tf.nn.relu, ones, ones, "mine", \
weight_regularizer=tf.nn.l2_loss)
layers.legacy_fully_connected(a, 2, weight_init=ones, bias_init=None, output_collections="o")
layers.legacy_linear(a, 2, weight_init=ones)
layers.legacy_relu(a, 2, weight_init=ones)
layers.legacy_relu(a, 2, activation_fn=None, weight_init=ones)
layers.legacy_fully_connected(tf.placeholder(tf.float32), 2)
layers.rev_block(tf.constant(a), tf.constant(b), scaled, scaled, 2)
layers.rev_block(tf.constant(a), tf.constant(b), scaled, scaled, 2, is_training=False)
gradients(lambda x: tf.reduce_sum(tf.add_n(layers.rev_block(x, tf.square(x), scaled, scaled, \
2))), tf.constant(a), variables=True)
gradients(lambda x: tf.reduce_sum(layers.GDN()(x)), tf.constant(image), variables=True)
gradients(lambda x: layers.recompute_grad(lambda y: tf.square(y) * 3.0)(x), tf.constant(a))
gradients(lambda x: tf.reduce_sum(layers.recompute_grad(weighted)(x)), tf.constant(a), \
variables=True)
"""

RENORMALIZED = """
tf.layers.batch_normalization(a, training=True, renorm=True)
tf.layers.batch_normalization(a, training=True, renorm=True, renorm_clipping=clipping, \
renorm_momentum=0.5)
tf.layers.batch_normalization(a, training=yes, renorm=True, renorm_clipping=clipping, momentum=0.5)
tf.layers.batch_normalization(a, training=no, renorm=True)
tf.layers.batch_normalization(a, renorm=True, name="mine")
tf.layers.batch_normalization(image, training=True, renorm=True, renorm_clipping={"rmax": 1.5})
tf.layers.batch_normalization(image, training=yes, renorm=True, momentum=0.9, \
renorm_clipping={"dmax": tf.constant(0.1)})
tf.layers.batch_normalization(image, training=True, renorm=True, fused=True, renorm_momentum=0.8)
tf.layers.batch_normalization(image, training=True, renorm=True, fused=False, momentum=0.5)
tf.layers.batch_normalization(cube, axis=1, training=True, renorm=True)
tf.layers.batch_normalization(a, training=True, renorm=True, renorm_clipping={"x": 1.0})
tf.layers.batch_normalization(four, training=True, virtual_batch_size=2)
tf.layers.batch_normalization(four, training=yes, virtual_batch_size=2, momentum=0.5)
tf.layers.batch_normalization(four, virtual_batch_size=2, name="mine")
tf.layers.batch_normalization(image, training=True, virtual_batch_size=1)
tf.layers.batch_normalization(image, training=True, virtual_batch_size=1, fused=True)
tf.layers.batch_normalization(four, training=True, virtual_batch_size=2, renorm=True)
tf.layers.batch_normalization(a, training=True, adjustment=adjust)
tf.layers.batch_normalization(a, training=yes, adjustment=adjust, scale=False)
tf.layers.batch_normalization(image, training=True, adjustment=adjust)
tf.layers.batch_normalization(a, training=False, adjustment=adjust)
layers.batch_norm(a, renorm=True)
layers.batch_norm(a, renorm=True, renorm_clipping=clipping, renorm_decay=0.5, decay=0.5, \
updates_collections=None)
layers.batch_norm(image, renorm=True, fused=False, scale=True, is_training=yes)
layers.batch_norm(a, adjustment=adjust)
layers.batch_norm(a, zero_debias_moving_mean=True)
layers.batch_norm(a, decay=0.5, zero_debias_moving_mean=True, updates_collections=None, scope="bn")
layers.batch_norm(image, zero_debias_moving_mean=True, scale=True, is_training=yes)
layers.batch_norm(image, zero_debias_moving_mean=True, fused=False, updates_collections="mine")
layers.batch_norm(cube, zero_debias_moving_mean=True, is_training=yes, updates_collections=None)
layers.batch_norm(a, zero_debias_moving_mean=True, is_training=False)
layers.batch_norm(a, zero_debias_moving_mean=True, batch_weights=[1.0, 3.0])
layers.batch_norm(a, renorm=True, batch_weights=[1.0, 2.0])
layers.batch_norm(a, batch_weights=[1.0, 2.0])
layers.batch_norm(a, batch_weights=[1.0, 0.0], scale=True, is_training=yes, decay=0.5)
layers.batch_norm(a, batch_weights=tf.constant([1.0, 2.0]), is_training=False, center=False)
layers.batch_norm(a, batch_weights=[1.0, 3.0], updates_collections=None, fused=True)
layers.batch_norm(a, batch_weights=[1.0, 3.0], updates_collections=None, is_training=yes)
layers.batch_norm(image, batch_weights=[1.0, 3.0], scope="mine")
layers.batch_norm(image, batch_weights=[1.0, 3.0], data_format="NCHW", scale=True)
layers.batch_norm(image, batch_weights=[1.0, 3.0], data_format="NCHW", \
is_training=yes, updates_collections="mine")
layers.batch_norm(a, batch_weights=[1.0, 2.0, 3.0])
layers.batch_norm(a, batch_weights=[[1.0], [2.0]])
layers.batch_norm(tf.placeholder_with_default(a, [None, 3]), batch_weights=[1.0, 2.0])
layers.batch_norm(tf.placeholder_with_default(a, None), batch_weights=[1.0, 2.0])
layers.batch_norm(tf.placeholder_with_default(a, None))
layers.batch_norm(a, batch_weights=[1.0, 2.0], data_format="NHC")
layers.batch_norm(a, data_format="NHC")
layers.batch_norm(a, data_format="NHC", fused=False)
tf.layers.batch_normalization(four, training=True, virtual_batch_size=0)
tf.layers.batch_normalization(four, training=True, virtual_batch_size=2, adjustment=adjust)
within("x", lambda: tf.layers.batch_normalization(a, training=yes, renorm=True, momentum=0.5), \
use_resource=True)
"""

TABLES = {"framework": FRAMEWORK, "layers": LAYERS, "renormalized": RENORMALIZED}


def environment(tf, line):
    """Return the names that expressions use."""
    names = programs.environment(tf, "contrib.framework.get" if "assigned" in line else "")
    ones = tf.ones_initializer()

    def scope(name, make):
        with tf.name_scope(name):
            return make()

    def each_of(chooser):
        ops = tf.Variable(1.0).op, tf.constant(1.0).op, tf.Variable(2.0).op
        return [chooser(op) for op in ops]

    def assigned(assign, given):
        arrays = {key: programs.np.array(given[key], "float32") for key in given}
        operation, feeds = assign(arrays)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(operation, feeds)
            return operation.name, [session.run(v).tolist() for v in tf.global_variables()]

    def indexed(made):
        return [made.indices, made.values, made.dense_shape]

    def gradients(function, x, variables=False):
        with tf.variable_scope("net", use_resource=True):
            y = function(x)
        slopes = tf.gradients(y, [x, *(tf.trainable_variables() if variables else [])])
        return [tf.identity(each, name="slope") for each in slopes]

    def weighted(x):
        return x * tf.get_variable("w", [3], initializer=ones)

    names.update(
        framework=tf.contrib.framework, layers=tf.contrib.layers, scope=scope, each_of=each_of,
        assigned=assigned, indexed=indexed, gradients=gradients, weighted=weighted,
        scaled=lambda x: x * tf.get_variable("s", [], initializer=ones) * 0.5,
        clipping={"rmax": 1.5, "rmin": 0.5, "dmax": 0.25},
        wide=tf.constant(programs.np.tile(programs.IMAGE, [1, 1, 1, 16]) ** 2),
        four=tf.constant(programs.np.concatenate([programs.A, programs.B])),
        adjust=lambda shape: (tf.fill([shape[0], 1], 2.0), tf.constant(0.5)),
        ids=tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0, 1, -1], tf.int64), [3, 2]),
        weights=tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1.0, 2.0, 3.0], [3, 2]),
    )  # fmt: skip
    return names


def outcome(tf, line):
    """Return what an expression gives; see `programs.outcome`."""
    return programs.outcome(tf, line, environment)


if __name__ == "__main__":
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.FATAL)
    said = {
        name: {line: outcome(tensorflow, line) for line in programs.lines(text)}
        for name, text in TABLES.items()
    }
    json.dump(said, sys.stdout, indent=0)
