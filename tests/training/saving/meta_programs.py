"""Programs that are written as MetaGraphs, and what is done once they are read.

This file runs on real TensorFlow 1.15.5 too, by its path, and imports nothing of ours:

    python meta_programs.py write FOLDER    writes NAME.meta for every program
    python meta_programs.py read FOLDER     reads them, and prints as JSON what they give
"""

import json
import os
import sys

PROGRAMS = {}
POINTS = (-1.0, 0.5, 2.0)


def program(use):
    """Note a function that builds a graph, with the one that uses it when it was read."""

    def note(build):
        PROGRAMS[build.__name__] = (build, use)
        return build

    return note


def slopes(tf, session):
    """Return y at some x, and its gradients by x and the variables, made after reading."""
    graph = session.graph
    x, y = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("y:0")
    by = [x] + [each.value() for each in tf.trainable_variables()]
    gradients = tf.gradients(y, by)
    session.run(tf.global_variables_initializer())
    return [session.run([y, *gradients], {x: each}) for each in POINTS]


def trained(tf, session):
    """Return variables before and after two steps of the optimizer that was read."""
    [step] = tf.get_collection("train_op")
    session.run(tf.global_variables_initializer())
    found = [session.run(tf.global_variables())]
    for each in POINTS[:2]:
        session.run(step, {"x:0": each})
        found.append(session.run(tf.global_variables()))
    return found


def trained_later(tf, session):
    """Return variables after a step of an optimizer that is made after reading."""
    loss = tf.square(session.graph.get_tensor_by_name("y:0") - 1.0)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session.run(tf.global_variables_initializer())
    session.run(step, {"x:0": 0.5})
    return session.run(tf.global_variables())


@program(trained_later)
def placed(tf):
    """Variables, devices, colocation, and nodes that only wait."""
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/job:localhost/task:0"), tf.name_scope("layer"):
        w = tf.Variable(3.0, name="w")
        tf.Variable(1, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
    with tf.colocate_with(w.op), tf.control_dependencies([tf.no_op(name="first")]):
        product = tf.multiply(w, x, name="product")
    tf.add(product, [1.0, 2.0][1], name="y")


@program(slopes)
def branches(tf):
    """A cond in a cond."""
    x, v = tf.placeholder(tf.float32, [], name="x"), tf.Variable(3.0, name="v")
    y = tf.cond(
        x > 0, lambda: tf.cond(x > 1, lambda: v * x * 2, lambda: v), lambda: x * x * v, name="outer"
    )
    tf.identity(y, name="y")


@program(slopes)
def rounds(tf):
    """A loop that takes two tensors from outside."""
    x, w = tf.placeholder(tf.float32, [], name="x"), tf.Variable(2.0, name="w")
    _, y = tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * w * x), (0, 1.0), name="loop")
    tf.identity(y, name="y")


@program(slopes)
def bounded_rounds(tf):
    """A cond in a loop that has an end."""
    x = tf.placeholder(tf.float32, [], name="x")

    def body(i, r):
        return i + 1, tf.cond(r > 1, lambda: r * x, lambda: r + x)

    _, y = tf.while_loop(lambda i, r: i < 9, body, (0, 1.0), maximum_iterations=3)
    tf.identity(y, name="y")


@program(slopes)
def rounds_in_rounds(tf):
    """A loop in a loop in a cond."""
    x = tf.placeholder(tf.float32, [], name="x")

    def inner(i, r):
        return i + 1, tf.while_loop(lambda j, s: j < 2, lambda j, s: (j + 1, s * x), (0, r))[1]

    def outer():
        return tf.while_loop(lambda i, r: i < 3, inner, (0, x))[1]

    tf.identity(tf.cond(x > 0, outer, lambda: -x), name="y")


@program(slopes)
def mapped(tf):
    """A loop over a TensorArray."""
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.map_fn(lambda each: each * each * x, tf.constant([1.0, 2.0, 3.0]))
    tf.reduce_sum(y, name="y")


@program(trained)
def optimizer(tf):
    """A loss behind a loop and a cond, and its optimizer."""
    x, w = tf.placeholder(tf.float32, [], name="x"), tf.Variable(2.0, name="w")
    step = tf.Variable(0, trainable=False, name="global_step")
    tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, step)
    _, y = tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * w), (0, x))
    loss = tf.cond(x > 0, lambda: tf.square(y - 1.0), lambda: tf.abs(y))
    tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)


def dequeued(tf, session):
    """Return what the threads of a queue runner that was read put into its queue."""
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    found = session.run("taken:0")
    coordinator.request_stop()
    coordinator.join(threads)
    return found


@program(dequeued)
def queue(tf):
    """A queue and its runner."""
    queue = tf.FIFOQueue(3, tf.float32, [[]], name="queue")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.5)]))
    tf.identity(queue.dequeue_many(2), name="taken")


def batches(tf, session):
    """Return the batches of a dataset that was read."""
    return [session.run("batch:0") for _ in range(2)]


@program(batches)
def dataset(tf):
    """A dataset, whose function is in the library."""
    dataset = tf.data.Dataset.range(4).map(lambda each: each * each).batch(2)
    tf.identity(dataset.make_one_shot_iterator().get_next(), name="batch")


def summarized(tf, session):
    """Return the summaries that the collection has."""
    return tf.Summary.FromString(session.run(tf.summary.merge_all())).value[0].tag


@program(summarized)
def summaries(tf):
    """A summary, and collections of every kind."""
    tf.summary.scalar("one", tf.constant(1.0))
    v = tf.Variable([1.0], name="v")
    for name, value in (
        ("integers", 3), ("large", 2**40), ("truths", True), ("floats", 1.5), ("texts", "abc"),
        ("bytes", b"abc"), ("tensors", v.value()), ("operations", v.initializer),
        ("variable", v), ("objects", object()), ("lists", [1, 2]), (("a", "tuple"), 3),
        ("nothing", None),
    ):  # fmt: skip
        tf.add_to_collection(name, value)
    for value in (3, 2.5):
        tf.add_to_collection("integers and floats", value)


def collections(tf):
    """Return what is in the collections of the default graph, as kinds and names."""
    graph = tf.get_default_graph()
    return {
        key: [[_kind(tf, each), str(getattr(each, "name", each))] for each in values]
        for key in sorted(graph.get_all_collection_keys())
        if not key.endswith("_context")
        for values in [graph.get_collection(key)]
    }


def _kind(tf, value):
    return "Variable" if isinstance(value, tf.Variable) else type(value).__name__


def nodes(tf):
    """Return the nodes of the default graph, but for those of the saver that 1.15.5 adds."""
    return [
        [op.name, op.type, op.device, [each.name for each in op.inputs],
         [each.name for each in op.control_inputs],
         [each.decode() for each in op.colocation_groups()]]
        for op in tf.get_default_graph().get_operations() if not op.name.startswith("save/")
    ]  # fmt: skip


def write(tf, folder):
    """Write every program."""
    for name, (build, _) in PROGRAMS.items():
        with tf.Graph().as_default():
            build(tf)
            tf.train.export_meta_graph(os.path.join(folder, name + ".meta"))


def read(tf, folder, name):
    """Return what a program gives that was written."""
    with tf.Graph().as_default():
        tf.train.import_meta_graph(os.path.join(folder, name + ".meta"))
        found = {"nodes": sorted(nodes(tf)), "collections": collections(tf)}
        with tf.Session() as session:
            found["value"] = PROGRAMS[name][1](tf, session)
        return json.loads(json.dumps(found, default=lambda each: each.tolist()))


if __name__ == "__main__":
    import tensorflow

    if sys.argv[1] == "write":
        write(tensorflow, sys.argv[2])
    else:
        print(json.dumps({name: read(tensorflow, sys.argv[2], name) for name in PROGRAMS}))
