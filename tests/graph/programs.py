"""Programs that build graphs, and what a graph exports, as lines: for real TensorFlow and for ours.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. It prints one JSON object, the lines of every program. To store what it says in
`expected_1_15.json`, so that the comparison needs no real TensorFlow:

    python -m tests.graph.programs "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

import json
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_1_15.json")


def arithmetic_names_its_constants(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = 2.0 * x + 1.0
    tf.matmul(y, [[1.0], [2.0], [3.0]], name="product")
    tf.reduce_sum(y, 1)
    -y / 3.0 - x


def integers_and_comparisons(tf):
    i = tf.constant([1, 2, 3], name="i")
    tf.logical_and(i > 1, tf.equal(i, 3))
    tf.cast(i, tf.float32) // 2.0
    i % 2


def one_name_many_nodes(tf):
    for name in ("x", "x", "X", "x_1", "scope/x", "scope/x"):
        tf.constant(1, name=name)


def scopes_nest_and_open_again(tf):
    with tf.name_scope("outer") as outer:
        tf.constant(1, name="a")
        with tf.name_scope("inner"):
            tf.constant(1) + 2
    with tf.name_scope("outer"):
        tf.constant(1, name="a")
    with tf.name_scope(outer):
        tf.constant(1, name="a")
        with tf.name_scope(None):
            tf.constant(1, name="root")


def devices_in_all_spellings(tf):
    with tf.device("/job:ps/task:1"):
        tf.constant(1, name="a")
        with tf.device("/cpu:0"):
            tf.constant(1, name="b")
        with tf.device("/job:worker/gpu:*"):
            tf.constant(1, name="c")
        with tf.device(None):
            tf.constant(1, name="d")
            with tf.device("/gpu:1"):
                tf.constant(1, name="e")
    with tf.device(lambda op: f"/job:{op.name}"), tf.device("/task:3"):
        tf.constant(1, name="f")
    with tf.device("/task:3"), tf.device(lambda op: op.device + "/cpu:1"):
        tf.constant(1, name="g")


def variables_are_four_nodes(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    tf.Variable(0, trainable=False)
    tf.Variable(0, dtype=tf.float64)
    with tf.device("/job:ps/task:0"):
        w = tf.Variable(v.initial_value * 2.0, name="w")
    v.assign_add([1.0, 1.0])
    tf.assign(w, v + w, name="both")
    tf.assign_sub(v, w, use_locking=True)
    tf.global_variables_initializer()


def variables_found_by_name(tf):
    with tf.variable_scope("layer"):
        tf.get_variable("w", [2, 3], initializer=tf.truncated_normal_initializer(stddev=0.1))
        tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    with tf.variable_scope("layer", reuse=True):
        tf.get_variable("w", [2, 3]) + 1.0


def state_in_containers(tf):
    with tf.container("mine"):
        tf.Variable(1.0, name="v")
        tf.FIFOQueue(3, tf.int32, shared_name="shared", name="q")


def queues(tf):
    queue = tf.FIFOQueue(5, [tf.float32, tf.string], shapes=[[2], []], name="q")
    queue.enqueue([[1.0, 2.0], "a"])
    queue.enqueue_many([[[1.0, 2.0]], ["a"]])
    queue.dequeue()
    queue.dequeue_many(2)
    queue.dequeue_up_to(2)
    queue.size()
    queue.is_closed()
    queue.close(cancel_pending_enqueues=True)


def dependencies(tf):
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([a, b]):
        tf.identity(a, name="takes_one_waits_for_the_other")
        d = tf.constant(3, name="d")
        with tf.control_dependencies([d]):
            tf.constant(4, name="waits_for_all")
            tf.identity(d, name="what_was_made_inside_has_waited")
            tf.identity(b, name="waits_for_two")
        with tf.control_dependencies(None):
            tf.constant(5, name="free")
        tf.add(a, 1, name="sum")
    tf.group(a, b, name="both")
    tf.tuple([a, b], name="pair")


def groups_of_several_devices(tf):
    with tf.device("/job:ps/task:0"):
        a = tf.constant(1, name="a")
    with tf.device("/job:ps/task:1"):
        b = tf.constant(1, name="b")
    tf.group(a, b, tf.constant(1, name="c"))


def colocation(tf):
    with tf.device("/job:a"):
        x = tf.constant(1, name="x")
    z = tf.constant(1, name="z")
    with tf.device("/job:b"), tf.colocate_with(x):
        tf.constant(2, name="leaves_its_scope")
    with tf.colocate_with(x), tf.colocate_with(z):
        tf.constant(2, name="two_groups")
    with tf.colocate_with(x), tf.colocate_with(z, ignore_existing=True):
        tf.constant(2, name="one_group")


def shapes_and_pieces(tf):
    x = tf.placeholder(tf.int32, [None], name="x")
    tf.concat([x, x], 0)
    tf.stack([x, x])
    tf.reshape(x, [-1, 2])
    x[1:3]
    tf.shape(x)[0]
    tf.unstack(tf.constant([1, 2]))


def random_values(tf):
    tf.random_normal([2, 2], seed=7)
    tf.random_uniform([2], maxval=9, dtype=tf.int32)
    tf.truncated_normal([2], stddev=0.5)


def printing(tf):
    x = tf.constant([1.0, 2.0])
    tf.Print(x, [x, tf.reduce_sum(x)], message="x is ", summarize=2)


def strings_and_types(tf):
    tf.constant("hello")
    tf.constant(["a", "bc"])
    tf.constant(True)
    tf.constant(2**40)
    tf.constant(1 + 2j)
    tf.zeros([2, 3])
    tf.ones([2], tf.int32)
    tf.fill([2], 7)


def gradient_descent(tf):
    w = tf.Variable(5.0, name="w")
    step = tf.Variable(0, name="step", trainable=False)
    tf.train.GradientDescentOptimizer(0.5).minimize(tf.square(w - 3.0), global_step=step)


def linear_regression(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    w = tf.Variable(tf.zeros([2, 1]), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def parameter_servers(tf):
    cluster = {"ps": ["p0:1", "p1:1"], "worker": ["w0:1", "w1:1"]}
    setter = tf.train.replica_device_setter(
        cluster=tf.train.ClusterSpec(cluster), worker_device="/job:worker/task:1"
    )
    with tf.device(setter):
        w = tf.Variable(tf.zeros([2]), name="w")
        b = tf.Variable(0.0, name="b")
        tf.add(w, b, name="sum")


PROGRAMS = {
    function.__name__: function
    for function in (
        arithmetic_names_its_constants, integers_and_comparisons, one_name_many_nodes,
        scopes_nest_and_open_again, devices_in_all_spellings, variables_are_four_nodes,
        variables_found_by_name, state_in_containers, queues, dependencies,
        groups_of_several_devices, colocation, shapes_and_pieces, random_values, printing,
        strings_and_types, gradient_descent, linear_regression, parameter_servers,
    )
}  # fmt: skip


def lines(tf, program):
    """Return one line per node of the graph that `program` builds, as exported.

    How gradients are computed is not compared: only who takes them.
    """
    graph = tf.Graph()
    with graph.as_default():
        program(tf)
    nodes = [n for n in graph.as_graph_def().node if not n.name.startswith("gradients/")]
    return [re.sub(r"gradients/[^,)]*", "GRADIENT", line(tf, node)) for node in nodes]


def line(tf, node):
    """Return a NodeDef as "name = Op(input, ^control) on DEVICE {attr: value}", controls sorted."""
    attrs = ", ".join(f"{key}: {attr(tf, node.attr[key])}" for key in sorted(node.attr))
    where = f" on {node.device}" if node.device else ""
    inputs = [each for each in node.input if not each.startswith("^")]
    inputs += sorted(each for each in node.input if each.startswith("^"))
    return f"{node.name} = {node.op}({', '.join(inputs)}){where} {{{attrs}}}"


def attr(tf, value):
    """Return an AttrValue as short text; how a tensor is packed does not show."""
    kind = value.WhichOneof("value")
    if kind == "list":
        [(part, values)] = [(f.name, v) for f, v in value.list.ListFields()] or [("i", [])]
        return f"[{', '.join(plain(tf, part, each) for each in values)}]"
    return plain(tf, kind, getattr(value, kind))


def plain(tf, kind, value):
    if kind == "type":
        return tf.as_dtype(value).name
    if kind == "shape":
        return str(tf.TensorShape(value))
    if kind == "tensor":
        array = tf.make_ndarray(value)
        return f"{tf.as_dtype(value.dtype).name}{list(array.shape)} {array.tolist()}"
    return f"{value:.9g}" if kind == "f" else repr(value)


def export(tf):
    """Return the lines of every program."""
    return {name: lines(tf, program) for name, program in PROGRAMS.items()}


def real_lines(command):
    """Return what real TensorFlow exports; `command` runs a Python that has it."""
    words = [*shlex.split(command), os.path.abspath(__file__)]
    done = subprocess.run(words, capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-2000:])
    return json.loads(done.stdout.decode().strip().splitlines()[-1])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with open(EXPECTED, "w") as file:
            json.dump(real_lines(sys.argv[1]), file, indent=1)
            file.write("\n")
    else:
        import tensorflow

        print(json.dumps(export(tensorflow)))
