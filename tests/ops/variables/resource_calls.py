"""Calls on resource variables that real TensorFlow and ours make: nodes, values, errors.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/ops/variables
    PYTHON_OF_1.15 resource_calls.py > expected_resource_variables_1_15.json
"""

import json
import sys

import numpy as np

# One expression a line. `v` is a vector, `m` a matrix, `n` an integer, `u` of unknown shape, `r` a
# reference variable; what `later(value)` gives is known only when it runs.
CALLS = """
v
v.op.type
v.dtype
v.shape
repr(v)
v.handle
v.initializer
v.initial_value
v.trainable
v.to_proto()
v._shared_name
v.value()
v.read_value()
v + 1.0
1.0 - v
-v
v * v
v.__iadd__(1.0)
v.__isub__(1.0)
v.__imul__(2.0)
v.__itruediv__(2.0)
v.__ipow__(2.0)
bool(v)
v[0]
m[1, ::-1]
v.assign([4.0, 5.0, 6.0])
v.assign([4.0, 5.0, 6.0], name="named")
v.assign([4.0, 5.0, 6.0], read_value=False)
v.assign([4.0, 5.0])
v.assign(later([4.0, 5.0]))
v.assign(n)
u.assign([7.0])
v.assign_add([1.0, 1.0, 1.0])
v.assign_add([1.0, 1.0], name="named")
v.assign_add(later([1.0, 1.0]))
v.assign_add(later(1.0))
v.assign_sub([1.0, 1.0, 1.0], read_value=False)
v.assign(v + 1.0).assign_add([1.0, 1.0, 1.0])
tf.assign(v, [4.0, 5.0, 6.0])
tf.assign_add(v, [1.0, 1.0, 1.0], name="named")
tf.assign_sub(v, [1.0, 1.0, 1.0])
tf.assign_add(v, [1.0, 1.0, 1.0]) + 1.0
v[0].assign(9.0)
v[1:].assign([8.0, 9.0])
m[1, ::-1].assign([8.0, 9.0])
v[1:].assign(later([9.0]))
v.sparse_read([2, 0])
v.sparse_read([[2], [0]], name="named")
v.gather_nd([[2], [0]])
tf.gather(v, [2, 0])
tf.gather(m, [1])
tf.gather(v, later([3]))
tf.gather(v, [0, -1])
tf.gather_nd(m, [[1, 0]])
tf.gather_nd(m, [[2, 0]])
tf.raw_ops.ResourceGather(resource=m.handle, indices=[[0], [1]], dtype=tf.float32, batch_dims=1)
tf.scatter_update(v, [0], [3.0])
tf.scatter_update(v, [0, 3], [3.0, 4.0])
tf.scatter_update(m, [[0, 1]], 5.0)
tf.scatter_add(v, [0, 0], [3.0, 4.0], name="named")
tf.scatter_add(v, later([0, 0]), [3.0])
tf.scatter_add(v, [0, 0], [3.0, 4.0, 5.0])
tf.scatter_add(v, [0, 1], 5.0)
tf.scatter_sub(m, [1], [[1.0, 2.0]])
tf.scatter_mul(v, [1, 1], [3.0, 4.0])
tf.scatter_div(v, [1], [4.0])
tf.scatter_div(tf.Variable([-7, 7], use_resource=True), [0, 1], [2, -2])
tf.scatter_min(v, [0, 1], [9.0, 0.5])
tf.scatter_max(v, [0, 1], [9.0, 0.5])
tf.scatter_nd_update(m, [[0, 1], [1, 0]], [7.0, 8.0])
tf.scatter_nd_add(v, [[0], [0]], [7.0, 8.0])
tf.scatter_nd_sub(m, [[1]], [[7.0, 8.0]])
tf.scatter_nd_add(v, [[0], [3]], [7.0, 8.0])
v.scatter_add(tf.IndexedSlices(tf.constant([3.0]), tf.constant([0])))
v.scatter_sub(tf.IndexedSlices(tf.constant([3.0]), tf.constant([0])), name="named")
v.scatter_update(tf.IndexedSlices(tf.constant([3.0]), tf.constant([0])))
v.scatter_nd_add([[1]], [3.0])
v.scatter_nd_update([[1]], [3.0])
v.is_initialized()
tf.is_variable_initialized(v)
tf.identity(v)
tf.convert_to_tensor(v)
tf.stack([v, v])
v.initialized_value()
tf.Variable(v.initialized_value() * 2.0, name="w", use_resource=True).initializer
tf.global_variables_initializer()
n.count_up_to(7)
tf.count_up_to(n, 5)
v.count_up_to(3)
tf.group(v, v.assign_add([1.0, 1.0, 1.0]))
tf.gradients(v * 2.0, v)
tf.gradients(v * v, v.handle)
tf.gradients(tf.gather(m, [1, 1]), m)
tf.gradients(tf.gather_nd(v, [[1]]), v)
tf.gradients(tf.gather_nd(m, [[1, 0]]), m)
tf.gradients(u * 2.0, u)
tf.gradients(tf.cond(later(True), lambda: v * v, lambda: v), v)
tf.gradients(tf.cond(later(False), lambda: u * u, lambda: tf.constant([1.0])), u)
tf.gradients(tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x * v), (0, v))[1], v)
tf.gradients(v, m)
tf.train.GradientDescentOptimizer(0.5).minimize(v * 2.0)
tf.train.GradientDescentOptimizer(0.5).minimize(tf.gather(m, [1, 1]))
tf.train.GradientDescentOptimizer(later(0.5)).minimize(v * 2.0, global_step=n)
tf.cond(later(True), lambda: v.assign_add([1.0, 1.0, 1.0]), lambda: v)
tf.cond(later(False), lambda: v.assign_add([1.0, 1.0, 1.0]), lambda: v * 2.0)
tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + v[0]), (0, 0.0))
tf.raw_ops.VariableShape(input=m.handle)
tf.raw_ops.VariableShape(input=u.handle, out_type=tf.int64)
tf.raw_ops.DestroyResourceOp(resource=m.handle)
tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.int32)
tf.raw_ops.AssignVariableOp(resource=v.handle, value=[1.0])
tf.raw_ops.AssignVariableOp(resource=v.handle, value=[1, 2, 3])
tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=[2.0, 4.0, 6.0])
tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=later([2.0]))
tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=later([0.5]), delta=[2.0, 4.0, 6.0])
tf.raw_ops.ReadVariableOp(resource=missing(), dtype=tf.float32)
tf.raw_ops.AssignAddVariableOp(resource=missing(), value=1.0)
tf.raw_ops.ResourceGather(resource=missing([2]), indices=[0], dtype=tf.float32)
tf.raw_ops.ResourceScatterAdd(resource=missing([2]), indices=[0], updates=[1.0])
tf.raw_ops.ResourceApplyGradientDescent(var=missing(), alpha=0.5, delta=1.0)
tf.raw_ops.DestroyResourceOp(resource=missing(), ignore_lookup_error=False)
tf.raw_ops.DestroyResourceOp(resource=missing())
tf.raw_ops.VarIsInitializedOp(resource=missing())
tf.Variable([1.0, 2.0], shape=None, use_resource=True).shape
tf.Variable([1.0, 2.0], shape=[None], use_resource=True).shape
tf.Variable([1.0, 2.0], shape=tf.TensorShape(None), use_resource=True).shape
tf.Variable([1.0, 2.0], shape=[2], use_resource=True).shape
tf.Variable([1.0, 2.0], shape=[3], use_resource=True).shape
tf.Variable([1.0, 2.0], validate_shape=False, use_resource=True).shape
tf.Variable([1.0, 2.0], validate_shape=False, shape=[3], use_resource=True).shape
tf.Variable([1.0, 2.0], shape=tf.TensorShape(None), use_resource=True).assign([[1.0]])
tf.Variable([1.0], use_resource=True, unknown=1)
tf.Variable([1.0, 2.0], shape=None, use_resource=False).shape
tf.Variable([1.0, 2.0], shape=[None], use_resource=False).shape
tf.Variable([1.0, 2.0], shape=tf.TensorShape(None), use_resource=False).shape
tf.Variable([1.0, 2.0], shape=[2], use_resource=False).shape
tf.Variable([1.0, 2.0], shape=[3], use_resource=False).shape
tf.Variable([1.0, 2.0], validate_shape=False, use_resource=False).shape
tf.Variable([1.0, 2.0], validate_shape=False, shape=[3], use_resource=False).shape
tf.Variable([1.0], use_resource=False, unknown=1)
tf.Variable(later([1.0, 2.0]), shape=[2], use_resource=True).shape
tf.get_variable("g", [2], use_resource=True, initializer=tf.zeros_initializer())
tf.get_variable("g", initializer=[1.0], use_resource=False)
tf.scatter_mul(r, [0], [3.0])
tf.scatter_div(r, [0], [4.0])
tf.scatter_min(r, [0, 1], [9.0, 0.5])
tf.scatter_max(r, [0, 1], [9.0, 0.5])
tf.scatter_nd_update(r, [[0]], [3.0])
tf.scatter_nd_add(r, [[0], [0]], [3.0, 4.0])
tf.scatter_nd_sub(r, [[0]], [3.0])
r.scatter_add(tf.IndexedSlices(tf.constant([3.0]), tf.constant([0])))
"""


def calls():
    """Return the lines of the table."""
    return [line for line in CALLS.splitlines() if line]


def outcome(tf, source):
    """Return what a call gives: nodes, what it says, values before and after, or an error."""
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        names = environment(tf)
        session.run([names[each].initializer for each in "vmnur"])
        before = len(graph.get_operations())
        try:
            result = eval(source, names)
        except Exception as error:
            return {"error": type(error).__name__}
        found = {"nodes": [node(op) for op in graph.get_operations()[before:]]}
        try:
            found["value"] = plain(tf, session, result)
        except tf.errors.OpError as error:
            found["run_error"] = [type(error).__name__, error.message.split("\n")[0]]
            return found
        if source.startswith("tf.raw_ops.Destroy"):
            return found
        found["after"] = [listed(each) for each in session.run([names[each] for each in "vmnur"])]
        return found


def environment(tf):
    """Return the names that the calls use."""

    def later(value):
        array = np.asarray(value)
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
        return tf.placeholder_with_default(array, None)

    def missing(shape=()):
        return tf.raw_ops.VarHandleOp(shared_name="missing", dtype=tf.float32, shape=shape)

    def variable(value, name, **more):
        return tf.Variable(value, name=name, use_resource=True, **more)

    return {
        "tf": tf, "np": np, "later": later, "missing": missing,
        "v": variable([1.0, 2.0, 3.0], "v"),
        "m": variable([[1.0, 2.0], [3.0, 4.0]], "m"),
        "n": variable(5, "n", trainable=False),
        "u": variable(later([1.0, 2.0]), "u", validate_shape=False, trainable=False),
        "r": tf.Variable([1.0, 2.0], name="r", use_resource=False, trainable=False),
    }  # fmt: skip


def node(op):
    """Return name, type and inputs of a node."""
    inputs = [tensor.name for tensor in op.inputs] + ["^" + each.name for each in op.control_inputs]
    return " ".join([op.name, op.type, *inputs])


def plain(tf, session, result):
    """Return the value of a result as JSON has it, or the text of what is in no graph."""
    if isinstance(result, (list, tuple)):
        return [plain(tf, session, each) for each in result]
    if isinstance(result, tf.IndexedSlices):
        return [listed(each) for each in session.run([result.values, result.indices])]
    if isinstance(result, tf.Tensor) and result.dtype == tf.resource:
        return "handle " + result.name
    if isinstance(result, (tf.Tensor, tf.Operation, tf.Variable)):
        return listed(session.run(result))
    return str(result)


def listed(value):
    """Return type, shape and elements of an array."""
    if value is None:
        return None
    value = np.asarray(value)
    return [value.dtype.name, list(value.shape), value.ravel().tolist()]


if __name__ == "__main__":
    import tensorflow

    found = {source: outcome(tensorflow, source) for source in calls()}
    lines = [json.dumps(source) + ": " + json.dumps(value) for source, value in found.items()]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")
