"""Calls of TensorArrays and stacks, for real TensorFlow and for ours: nodes, values, errors.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but the scripts beside it. It prints one JSON object, what comes of every call. To store that,
so that the comparison needs no real TensorFlow:

    python -m tests.ops.tensor_array.tensor_array_calls \\
        "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_tensor_arrays_1_15.json")

if __name__ == "__main__":
    OPS = os.path.dirname(HERE)
    sys.path += [OPS, os.path.join(os.path.dirname(OPS), "graph")]
    from differential import calls, op_defs, plain, static
    from programs import line
else:
    from tests.graph.programs import line
    from tests.ops.differential import calls, op_defs, plain, static

import numpy as np  # noqa: E402

# One expression a line; the names in it are those of `environment`. Compared are the nodes, static
# shapes and values.
NODES = """
TA(F, 3).flow
TA(F, tf.constant(3)).flow
TA("float64", size=3, dynamic_size=True, clear_after_read=False, tensor_array_name="a", name="n").flow
TA(F, 3, infer_shape=False, element_shape=[2]).flow
TA(F, 3, element_shape=[None, 2], name="n").write(0, unknown([[1., 2.]])).read(0)
TA(F, 3).write(0, [1., 2.]).write(1, [3., 4.], name="w").read(1, name="r")
TA(F, 3).write(0, 1).write(1, 2).write(2, 3).stack("s")
TA(F, 3).unstack([[1., 2.], [3., 4.], [5., 6.]]).stack()
TA(F, 3).unstack(tf.constant([1., 2., 3.]), name="u").stack(name="s")
TA(F, 3).unstack(tf.Variable([1., 2., 3.])).size()
TA(F, 0, dynamic_size=True).unstack(unknown([[1., 2.], [3., 4.]], [None, 2])).stack()
TA(F, 3).unstack([1., 2., 3.]).gather([2, 0])
TA(F, 3).unstack([1., 2., 3.]).gather(unknown([2, 0]), name="g")
TA(F, 3).scatter([0, 2], [[1., 2.], [3., 4.]]).gather([2, 0])
TA(F, 2).scatter(unknown([1, 0]), unknown([[1.], [3.]]), name="s").stack()
TA("int32", 3).split([1, 2, 3, 4, 5, 6], [2, 2, 2]).concat()
TA(F, 3, infer_shape=False).split([1, 2, 3], [1, 0, 2]).concat(name="c")
TA(F, 2, infer_shape=False).split(unknown([[1.], [2.], [3.]], [3, 1]), tf.constant([1, 2], tf.int64), name="s").size("z")
TA(F, 3, element_shape=[]).write(0, 1.).stack()
TA(F, 2, element_shape=[3, 2]).read(1)
TA(F, 3, colocate_with_first_write_call=False).write(0, 1.).write(1, 2.).flow
TA(F, 3, name="n").close(name="c")
[TA(F, 3).write(0, 1.).identity().read(0), TA(F, 1).flow]
[TA(F, 3, name="n").grad("source").flow, TA(F, 1).flow]
inside("outer", lambda: TA(F, 3, name="n").write(0, 1., name="w").grad("s", name="g").write(0, 2.).read(0))
on("/cpu:0", lambda: TA(F, 3).write(0, on("/cpu:1", lambda: tf.constant(1.))).write(1, 2.).stack())
on("/cpu:0", lambda: TA(F, 3, colocate_with_first_write_call=False).write(0, 1.).stack())
later(tf.constant(1), lambda: TA(F, 2, name="n").write(0, 1.).read(0))
same(TA(F, 3, dynamic_size=True).write(0, 1.), lambda ta: TA(F, handle=ta.handle, flow=ta.flow, name="x").write(1, 2.).stack())
slope(lambda x: TA(F, 3).unstack(x).stack(), [[1., 2.], [3., 4.], [5., 6.]])
slope(lambda x: TA(F, 3).unstack(x).read(1), [1., 2., 3.])
slope(lambda x: same(TA(F, 2).write(0, x).write(1, x * 2.), lambda ta: ta.read(0) + ta.read(1)), [1., 2.])
slope(lambda x: same(TA(F, 3, clear_after_read=False).split(x, [1, 1, 1]), lambda ta: tf.reduce_sum(ta.concat()) + ta.gather([1, 2])), [1., 2., 3.])
slope(lambda x: TA(F, 3, infer_shape=False).split(x, [1, 0, 2]).concat(), [1., 2., 3.])
slope(lambda x: TA(F, 4, element_shape=[2]).scatter([3, 0], x).gather([0, 3]), [[1., 2.], [3., 4.]])
slope(lambda x: inside("outer", lambda: TA(F, 2).unstack(x).stack()), [1., 2.])
"""  # noqa: E501  one call, one line

# Compared are types, shapes and values, or the class of the error.
VALUES = """
TA("string", 2).write(0, tf.as_string(3)).write(1, tf.string_join(["a", "b"])).stack()
TA("string", 2).write(0, tf.reshape(tf.constant(["a"]), [])).write(1, tf.reduce_join(["x", "y"])).gather([1, 0])
TA("string", 2).write(0, tf.as_string(3)).write(1, "b").read(0)
TA(F, 0, dynamic_size=True).write(5, 1.).size()
TA(F, 0, dynamic_size=True).write(2, 1.).stack()
TA(F, 2).write(0, [1., 2.]).concat()
TA("bool", 2, element_shape=[2]).write(0, [True, True]).stack()
TA("string", 2).unstack(["a", "b"]).stack()
TA("string", 2, infer_shape=False).split(["a", "b", "c"], [1, 2]).concat()
TA("int64", 1).write(0, np.int64(3)).read(0)
TA(F, 0, element_shape=[2, 3]).stack()
TA(F, 0, element_shape=[2, 3]).concat()
TA(F, 0, element_shape=[None, 3]).concat()
TA(F, 2, infer_shape=False).write(0, [1.]).write(1, [2., 3.]).concat()
TA(F, 2, infer_shape=False).write(0, [[1., 2.]]).write(1, [[3., 4.], [5., 6.]]).concat()
TA(F, 2, element_shape=[None]).write(0, [1.]).stack()
raw("TensorArrayConcatV3", *raw("TensorArrayV3", 0, dtype=F), dtype=F, element_shape_except0=[3])
written(lambda ta: ta.gather([0, 0]), clear_after_read=False)
twice(lambda: written(None, clear_after_read=False), lambda ta: ta.read(0))
same(TA(F, 3), lambda ta: later(ta.close(), lambda: ta.size()))
later(TA(F, 1).close(), lambda: tf.constant(1))
back(lambda g: g.write(1, 5.).write(1, 6.).gather([0, 1, 2]))
back(lambda g: g.size())
back(lambda g: g.scatter([0, 2, 0], [1., 2., 3.]).stack())
same(written(None), lambda ta: same(ta.grad("a").write(1, 5.), lambda g: [later(g.flow, lambda: ta.grad("b").read(1)), g.read(1)]))
same(written(None), lambda ta: same(ta.grad("a").write(1, 5.), lambda g: later(g.flow, lambda: ta.grad("a").read(1))))
same(written(None), lambda ta: later(ta.read(0), lambda: ta.grad("s").read(0)))
same(written(None), lambda ta: same(ta.grad("s"), lambda g: later(g.flow, lambda: later(ta.close(), lambda: g.read(0)))))
same(TA(F, 3).write(0, [1., 2.]), lambda ta: ta.grad("s").read(2))
same(TA(F, 3, infer_shape=False).write(1, [1., 2.]), lambda ta: ta.grad("s").read(1))
grown(lambda h, flow: raw("TensorArrayReadV3", h, 0, flow, dtype=F))
grown(lambda h, flow: raw("TensorArrayReadV3", h, 0, raw("TensorArrayWriteV3", h, 0, np.ones((4, 2), np.float32), flow), dtype=F))
in_order(lambda h: [push(h, 1.), push(h, [2., 3.]), pop(h), pop(h)])
in_order(lambda h: [push(h, "a"), push(h, ["b", "c"], swap_memory=True), pop(h, "string"), pop(h, "string")], "string")
in_order(lambda h: [push(h, 1.), push(h, 2.)], F, 1)
in_order(lambda h: [lambda: raw("StackCloseV2", h), push(h, 1.)])
"""  # noqa: E501

# A phrase that the error's message must have, here and there, and the call.
ERRORS = """
already been written to | TA(F, 3).write(0, 1.).write(0, 2.).flow
already been written to | TA(F, 3, dynamic_size=True).write(0, 1.).write(0, 2.).read(0)
already been written to | TA(F, 3).scatter([0, 0], [1., 2.]).flow
already been read | same(written(None), lambda ta: later(ta.read(0), lambda: ta.write(0, 1.).flow))
already been read | same(written(None, clear_after_read=False), lambda ta: later(ta.read(0), lambda: ta.write(0, 1.).flow))
Could not read from TensorArray index 0 | TA(F, 3).read(0)
element shape is not fully defined | TA(F, 3, element_shape=[None]).read(0)
Could not read from TensorArray index 1 | TA(F, 2, infer_shape=False).write(0, [1.]).stack()
type not supported: string | TA("string", 2, element_shape=[]).write(0, "a").stack()
because it was cleared after a previous read | twice(lambda: written(None), lambda ta: ta.read(0))
because it was cleared after a previous read | written(lambda ta: ta.gather([0, 0]))
Tried to write to index 3 but array is not resizeable and size is: 3 | TA(F, 3).write(3, 1.).flow
Tried to write to index -1 but array is not resizeable and size is: 3 | TA(F, 3).write(-1, 1.).flow
Tried to write to index -1 | TA(F, 3, dynamic_size=True).write(-1, 1.).flow
Tried to write to index -1 | TA(F, 3, dynamic_size=True).scatter([0, -1], [1., 2.]).flow
Tried to read from index 3 but array size is: 3 | TA(F, 3).read(3)
Tried to read from index 3 but array size is: 3 | TA(F, 3, dynamic_size=True).read(3)
Tried to read from index -1 but array size is: 3 | written(lambda ta: ta.gather([0, -1]))
 | TA(F, 3).scatter([0, 3], [1., 2.]).flow
>= 0 | TA(F, -1).flow
size must be scalar | TA(F, unknown([1, 2])).flow
Inconsistent shapes: saw (2,) but expected (1,) | TA(F, 3).write(0, [1.]).write(1, [1., 2.]).flow
Inconsistent shapes: saw (2,) but expected (1,) | TA(F, 3, infer_shape=False, element_shape=[1]).write(0, [1., 2.])
Inconsistent shapes: saw (2,) but expected (3,) | TA(F, 3, element_shape=[3]).scatter([0], [[1., 2.]])
Inconsistent shapes: saw (2, 2) but expected (2, 3) | TA(F, 3, element_shape=[2, 3]).split(np.zeros((6, 2)), [2, 2, 2])
inferred element shape: | TA(F, 3).write(0, unknown([1.])).write(1, unknown([1., 2.])).flow
infer_shape=False | TA(F, 3, element_shape=[1]).write(0, unknown([1., 2.])).flow
inconsistent shapes | TA(F, 2, infer_shape=False).write(0, [1.]).write(1, [2., 3.]).stack()
inconsistent shapes | TA(F, 2, infer_shape=False).write(0, [[1., 2.]]).write(1, [[3., 4., 5.]]).concat()
inconsistent shapes | TA(F, 2, infer_shape=False).write(0, [[1., 2.]]).write(1, [3.]).concat()
 | TA(F, 2).write(0, 1.).write(1, 2.).concat()
but | TA("int32", 2).write(0, 1.5).flow
trying to write dtype int32 | TA(F, 2).write(0, tf.constant(1)).flow
trying to write dtype int32 | TA(F, 2).scatter([0], tf.constant([1])).flow
float32 | TA(F, 1).split(tf.constant([1]), [1]).flow
requested dtype int32 | written(lambda ta: raw("TensorArrayReadV3", ta.handle, 0, ta.flow, dtype="int32"))
requested dtype int32 | written(lambda ta: raw("TensorArrayGatherV3", ta.handle, [0], ta.flow, dtype="int32"))
requested dtype int32 | written(lambda ta: raw("TensorArrayConcatV3", ta.handle, ta.flow, dtype="int32"))
element_shape | written(lambda ta: raw("TensorArrayGatherV3", ta.handle, [0], ta.flow, dtype=F, element_shape=[2]))
has size zero | TA(F, 0).stack()
has size zero | TA(F, 0, element_shape=[None, 3]).stack()
has size zero | TA(F, 0).concat()
vector | TA(F, 2).scatter([0], unknown(1.)).flow
vector | TA(F, 2).scatter(unknown([[0]]), unknown([1.])).flow
 | TA(F, 2).scatter([0, 1], unknown([1.])).flow
 | TA(F, 2).scatter([0, 1], [1.])
 | TA(F, 2).scatter([0], 1.)
vector | written(lambda ta: ta.gather(unknown(0)))
 | TA(F, 2).gather([[0]])
index must be scalar | TA(F, 2).write(unknown([0]), 1.).flow
index must be scalar | TA(F, 2).read(unknown([0]))
 | TA(F, 2).read([0])
sum of lengths | TA(F, 2).split([1., 2., 3.], [1, 1]).flow
size is not equal to the size of lengths (2 vs. 3) | TA(F, 2).split([1., 2., 3.], [1, 1, 1]).flow
size is not equal to the size of lengths (2 vs. 1) | TA(F, 2, dynamic_size=True).split([1., 2., 3.], [3]).flow
vector | TA(F, 1).split(unknown(1.), [1]).flow
has already been closed | same(TA(F, 2), lambda ta: later(ta.close(), lambda: ta.write(0, 1.).flow))
has already been closed | same(TA(F, 2), lambda ta: later(ta.close(), lambda: ta.read(0)))
has already been closed | same(TA(F, 2), lambda ta: later(ta.close(), lambda: ta.concat()))
has already been closed | same(TA(F, 1), lambda ta: later(ta.close(), lambda: ta.grad("s").flow))
a handle and size | same(TA(F, 3), lambda ta: TA(F, 3, handle=ta.handle, flow=ta.flow))
a handle and dynamic_size | same(TA(F, 3), lambda ta: TA(F, handle=ta.handle, flow=ta.flow, dynamic_size=False))
a handle and element_shape | same(TA(F, 3), lambda ta: TA(F, handle=ta.handle, flow=ta.flow, element_shape=[2]))
handle | same(TA(F, 3), lambda ta: TA(F, handle=ta.handle, flow=ta.flow, tensor_array_name="x"))
flow | same(TA(F, 3), lambda ta: TA(F, handle=ta.handle))
Size must be | TA(F)
 | TA(F, 3.5)
 | TA(F, tf.constant(3, tf.int64))
Could not read index 1 twice | back(lambda g: twice(lambda: g, lambda ta: ta.read(1)))
already been read | back(lambda g: later(g.read(1), lambda: g.write(1, 1.).flow))
inferred element shape: | back(lambda g: g.write(1, 1.).write(1, unknown([1.])).flow)
Could not aggregate | back(lambda g: g.write(1, 1.).write(1, unknown([1.])).flow, infer_shape=False)
Could not aggregate | back(lambda g: g.write(1, unknown([1.])).flow, infer_shape=False)
Tried to write to index 5 | back(lambda g: g.write(5, 1.).flow, dynamic_size=True)
Could not read from TensorArray index 2 | same(TA(F, 3, infer_shape=False).write(0, 1.), lambda ta: ta.grad("s").read(2))
Tried to write to index 5 | same(written(None, dynamic_size=True), lambda ta: later(ta.grad("s").flow, lambda: ta.write(5, 1.).flow))
type not supported: string | same(TA("string", 1).write(0, "a"), lambda ta: ta.grad("s").write(0, "b").write(0, "c").flow)
is empty | in_order(lambda h: [pop(h)])
closed | in_order(lambda h: [push(h, 1.), lambda: raw("StackCloseV2", h), pop(h)])
closed | in_order(lambda h: [lambda: raw("StackCloseV2", h), push(h, 1.), pop(h)])
must be a scalar | in_order(lambda h: [push(h, 1.)], F, unknown([1]))
"""  # noqa: E501

# An error there, a value of this shape here.
MORE_HERE = {
    # TensorFlow looks at the attribute of the op that reads, not at what the array itself knows
    'same(TA(F, 0, element_shape=[2]), lambda ta: raw("TensorArrayGatherV3", ta.handle, '
    "np.zeros(0, np.int32), ta.flow, dtype=F))": "[0, 2]",
    'raw("TensorArrayConcatV3", *raw("TensorArrayV3", 0, dtype=F, element_shape=[None, 2]), '
    "dtype=F)[0]": "[0, 2]",
    "slope(lambda x: TA(F, 0, element_shape=[2]).unstack(x).stack(), np.zeros([0, 2]))": "[0, 2]",
    # ... and shapes when the array of gradients is made, not when they are needed
    'same(TA(F, 1), lambda ta: same(ta.grad("s"), lambda g: later(g.flow, lambda: '
    "later(ta.write(0, [1., 2.]).flow, lambda: g.read(0)))))": "[2]",
    # ... and has no gradients of gradients
    "slope(lambda x: slope(lambda z: TA(F, 2).unstack(z).gather([0, 1]) ** 3., x), [1., 2.])":
        "[2]",
}  # fmt: skip


def cases():
    """Yield (call, phrase of its error) of all."""
    for source in calls(NODES) + calls(VALUES) + list(MORE_HERE):
        yield source, ""
    for row in calls(ERRORS):
        phrase, _, source = row.partition(" | ")
        yield source, phrase


def environment(tf):
    """Return the names that the calls use."""

    def unknown(value, shape=None):
        value = np.asarray(value)
        defaults = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}
        value = value.astype(defaults.get(value.dtype, value.dtype))
        return tf.placeholder_with_default(value, shape)

    def raw(name, *inputs, **attrs):
        function = getattr(tf.raw_ops, name)
        if hasattr(function, "signature"):
            return function(*inputs, **attrs)
        names = [arg.name for arg in op_defs()[name].input_arg]
        return function(**dict(zip(names, inputs)), **attrs)  # noqa: B905  Python 3.7

    def inside(scope, function):
        with tf.name_scope(scope):
            return function()

    def on(device, function):
        with tf.device(device):
            return function()

    def later(first, function):
        with tf.control_dependencies([first]):
            return function()

    def slope(function, value):
        x = value if hasattr(value, "graph") else tf.constant(np.asarray(value, np.float32))
        return tf.gradients(function(x), x)[0]

    def same(value, function):
        return function(value)

    def written(function, **arguments):
        array = tf.TensorArray("float32", 3, **arguments).unstack([1.0, 2.0, 3.0])
        return function(array) if function else array

    def twice(make, function):
        array = make()
        return later(function(array), lambda: function(array))

    def back(function, **arguments):
        return function(written(None, **arguments).grad("source"))

    def grown(function):
        array = tf.TensorArray("float32", 2, element_shape=[2])
        handle, flow = raw("TensorArrayGradWithShape", array.handle, array.flow, [4], source="s")
        return function(handle, flow)

    def in_order(function, dtype="float32", size=-1):
        done = []
        for each in function(raw("StackV2", size, elem_type=dtype)):
            with tf.control_dependencies(done[-1:]):
                done.append(each())
        return done

    def push(handle, value, **attrs):
        return lambda: raw("StackPushV2", handle, value, **attrs)

    def pop(handle, dtype="float32"):
        return lambda: raw("StackPopV2", handle, elem_type=dtype)

    return dict(locals(), np=np, TA=tf.TensorArray, F="float32")


def outcome(tf, source, phrase):
    """Return what a call gives: nodes and outputs, or the error, and whether its message fits."""
    graph = tf.Graph()
    config = tf.ConfigProto(device_count={"CPU": 2})
    with graph.as_default():
        key = "error"
        try:
            result = eval(source, environment(tf))
            results = list(result) if isinstance(result, (list, tuple)) else [result]
            found = {
                "nodes": list(nodes(tf, graph)),
                "outputs": [static(each) for each in results if hasattr(each, "dtype")],
            }
            key = "run_error"
            with tf.Session(graph=graph, config=config) as session:
                session.run(tf.global_variables_initializer())
                values = session.run(results)
        except Exception as error:
            return {key: type(error).__name__, "phrase": phrase in str(error)}
    for output, value in zip(found["outputs"], [v for v in values if v is not None]):  # noqa: B905
        output += plain(value)
    return found


def nodes(tf, graph):
    """Yield a line per node; of those of gradients, only names, and only where arrays are."""
    for node in graph.as_graph_def().node:
        if "gradients/" not in node.name:
            yield line(tf, node)
        elif node.op.startswith("TensorArray"):
            yield node.name + " " + node.attr["source"].s.decode()


def export(tf):
    """Return what comes of every call."""
    return {source: outcome(tf, source, phrase) for source, phrase in cases()}


def real(command):
    """Return what real TensorFlow makes of every call; `command` runs a Python that has it."""
    words = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005  Python 3.7
    done = subprocess.run(words, capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-2000:])
    return json.loads(done.stdout.decode().strip().splitlines()[-1])


def main():
    """Store what the command says, or say it."""
    if len(sys.argv) > 1:
        rows = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in real(sys.argv[1]).items())
        with open(EXPECTED, "w") as file:
            file.write("{\n" + rows + "\n}\n")
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    print(json.dumps(export(tf.compat.v1)))


if __name__ == "__main__":
    main()
