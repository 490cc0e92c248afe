"""Programs for several replicas that real TensorFlow and ours build: where nodes go, and which.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/replicas && PYTHON_OF_1.15 replica_programs.py > expected_replicas_1_15.json
"""

import json
import sys
import threading

import numpy as np

PROGRAMS = {}
CLUSTER = {"ps": ["p0:1", "p1:1"], "worker": ["w0:1", "w1:1", "w2:1"]}


def program(function):
    """Enter `function` into the table of programs: of `tf`, it returns what is to be noted."""
    PROGRAMS[function.__name__] = function
    return function


# where nodes go

SETTERS = {
    "a_number_of_servers": {"ps_tasks": 2},
    "one_server": {"ps_tasks": 1},
    "no_servers": {"ps_tasks": 0},
    "a_cluster": {"cluster": CLUSTER},
    "a_cluster_without_servers": {"cluster": {"worker": ["w:1"]}},
    "a_certain_worker": {"ps_tasks": 2, "worker_device": "/job:worker/task:7"},
    "a_worker_with_a_gpu": {"ps_tasks": 2, "worker_device": "/job:worker/task:0/gpu:1"},
    "any_worker": {"ps_tasks": 2, "worker_device": ""},
    "no_worker": {"ps_tasks": 2, "worker_device": None},
    "another_job_and_a_device": {"ps_tasks": 2, "ps_device": "/job:p/cpu:0"},
    "a_certain_server": {"ps_tasks": 2, "ps_device": "/job:ps/task:1"},
    "any_server": {"ps_tasks": 2, "ps_device": ""},
    "servers_of_a_cluster_with_a_device": {
        "cluster": CLUSTER, "ps_device": "/job:ps/cpu:0", "worker_device": "/job:worker/task:1"},
    "other_ops": {"ps_tasks": 2, "ps_ops": ["Add", "AddV2"]},
    "no_ops": {"ps_tasks": 2, "ps_ops": []},
    "a_strategy": {"ps_tasks": 3, "ps_strategy": lambda op: len(op.name) % 3},
}  # fmt: skip


def placed(tf, merge, arguments, inner=None, outer=None):
    """Build some nodes inside a device setter."""
    setter = tf.train.replica_device_setter(merge_devices=merge, **arguments)
    with tf.device(outer or ""), tf.device(setter), tf.device(inner or ""):
        a = tf.Variable(1.0, name="a")
        b = tf.get_variable("b", [2], use_resource=True, initializer=tf.zeros_initializer())
        with tf.device("/cpu:1"):
            c = tf.Variable(1.0, name="c")
            tf.add(a, c, name="pinned")
        with tf.device("/job:other/task:4"):
            tf.Variable(1.0, name="d")
        with tf.device(None):
            tf.no_op(name="free")
        tf.FIFOQueue(1, tf.int32, name="queue")
        tf.add(b, 1.0, name="total")
        with tf.colocate_with(a):
            tf.no_op(name="beside")
    return []


for _name, _arguments in SETTERS.items():
    PROGRAMS["setter_with_" + _name] = lambda tf, arguments=_arguments: placed(tf, True, arguments)
    if _name != "no_worker":
        PROGRAMS["setter_that_does_not_merge_with_" + _name] = lambda tf, arguments=_arguments: (
            placed(tf, False, arguments)
        )
for _merge in (True, False):
    for _number, (_inner, _outer) in enumerate([
        ("/cpu:0", None), ("/job:ps/task:5", None), ("/job:other", None), ("/task:1", None),
        (None, "/job:outer/task:2"), (None, "/cpu:0"), ("/gpu:0", "/job:outer"),
    ]):  # fmt: skip
        PROGRAMS[f"setter_{'merging' if _merge else 'leading'}_among_others_{_number}"] = (
            lambda tf, merge=_merge, inner=_inner, outer=_outer: placed(
                tf, merge, {"ps_tasks": 2}, inner, outer
            )
        )


@program
def setter_around_a_loop(tf):
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        a = tf.Variable(1.0, name="a")
        b = tf.Variable(1.0, name="b", use_resource=True)
        tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * a + b), (0, 0.0))
        tf.cond(tf.less(a, 1.0), lambda: a + 1.0, lambda: b + 2.0)
    return []


@program
def setter_around_a_whole_model(tf):
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [3, 2])
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
        y = tf.matmul(tf.ones([4, 3]), w) + b
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        optimizer.minimize(tf.reduce_sum(y), global_step=step)
    return [step.device, w.device, b.device]


@program
def setter_with_a_strategy_that_is_no_function(tf):
    tf.train.replica_device_setter(ps_tasks=1, ps_strategy=3)
    return []


@program
def setter_for_no_cluster(tf):
    tf.train.replica_device_setter(cluster=3)
    return []


@program
def setter_for_no_worker_without_merging(tf):
    return placed(tf, False, {"ps_tasks": 2, "worker_device": None})


def chosen(tf, strategy, shapes=((100,), (1,), (1,), (50,), (10, 10), (3,), (3,))):
    """Return the servers that a strategy chooses for variables."""
    with tf.device(tf.train.replica_device_setter(ps_tasks=3, ps_strategy=strategy)):
        return [tf.get_variable(f"v{i}", shape).device for i, shape in enumerate(shapes)]


@program
def greedy_by_bytes(tf):
    contrib = tf.contrib.training
    return chosen(tf, contrib.GreedyLoadBalancingStrategy(3, contrib.byte_size_load_fn))


@program
def greedy_by_name(tf):
    strategy = tf.contrib.training.GreedyLoadBalancingStrategy(3, lambda op: int(op.name[1:]))
    return chosen(tf, strategy)


@program
def greedy_by_the_same(tf):
    return chosen(tf, tf.contrib.training.GreedyLoadBalancingStrategy(3, lambda op: 1))


@program
def greedy_with_handles(tf):
    contrib = tf.contrib.training
    with tf.variable_scope("", use_resource=True):
        return chosen(tf, contrib.GreedyLoadBalancingStrategy(3, contrib.byte_size_load_fn))


@program
def bytes_of_variables(tf):
    load = tf.contrib.training.byte_size_load_fn
    return [load(tf.get_variable("a", [3, 4]).op), load(tf.Variable(1, name="b").op),
            load(tf.get_variable("d", [3], tf.float64).op), load(tf.ones([2, 2]).op)]  # fmt: skip


@program
def bytes_of_an_unknown_shape(tf):
    return [tf.contrib.training.byte_size_load_fn(tf.placeholder(tf.float32).op)]


@program
def bytes_of_several_outputs(tf):
    return [tf.contrib.training.byte_size_load_fn(tf.unstack(tf.ones([2, 3]))[0].op)]


@program
def random_strategy(tf):
    strategy = tf.contrib.training.RandomStrategy(3)
    ops = [tf.no_op(name=f"n{number}") for number in range(100)]
    return [sorted({strategy(op) for op in ops}), strategy(ops[0]) == strategy(ops[0])]


# synchronous replicas


def model(tf, sparse=False, resource=False):
    """Return the global step, and a loss of two variables."""
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("", use_resource=resource):
        w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
    rows = tf.gather(w, [0, 2]) if sparse else w
    return step, tf.reduce_sum(rows * 2.0) + tf.reduce_sum(b * 3.0)


def built(tf, to_aggregate, total=None, sparse=False, resource=False, **more):
    """Return what a graph with a SyncReplicasOptimizer has besides nodes."""
    step, loss = model(tf, sparse, resource)
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.1), to_aggregate, total, **more
    )
    given = optimizer.compute_gradients(loss)
    train = optimizer.apply_gradients(given, global_step=step)
    return facts(tf, optimizer, train)


def facts(tf, optimizer, train):
    """Return names of what an optimizer made."""
    runner = optimizer.get_chief_queue_runner()
    keys = [key for key in tf.get_default_graph().get_all_collection_keys() if key[:2] != "__"]
    return [
        train.name, type(train).__name__, runner.name,
        [op.name for op in runner.enqueue_ops],
        optimizer.get_init_tokens_op().name, optimizer.chief_init_op.name,
        optimizer.local_step_init_op.name, optimizer.ready_for_local_init_op.name,
        optimizer.get_name(), optimizer.get_slot_names(),
        {key: [getattr(each, "name", str(each)) for each in tf.get_collection(key)]
         for key in sorted(keys)},
    ]  # fmt: skip


@program
def synced(tf):
    return built(tf, 2)


@program
def synced_with_spare_replicas(tf):
    return built(tf, 2, 3)


@program
def synced_with_fewer_replicas(tf):
    return built(tf, 4, 2)


@program
def synced_with_handles(tf):
    return built(tf, 2, 2, resource=True)


@program
def synced_with_rows(tf):
    return built(tf, 2, 2, sparse=True)


@program
def synced_with_locking_and_a_name(tf):
    return built(tf, 2, 2, use_locking=True, name="together")


@program
def synced_on_servers(tf):
    with tf.device(tf.train.replica_device_setter(cluster=CLUSTER)):
        return built(tf, 2, 2)


@program
def synced_on_servers_with_handles(tf):
    with tf.device(tf.train.replica_device_setter(
        cluster=CLUSTER, worker_device="/job:worker/task:1"
    )):  # fmt: skip
        return built(tf, 2, 2, resource=True)


@program
def synced_by_minimize(tf):
    step, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
    return facts(tf, optimizer, optimizer.minimize(loss, global_step=step))


@program
def synced_with_averages(tf):
    step, loss = model(tf)
    averages = tf.train.ExponentialMovingAverage(0.9, step)
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 2, variable_averages=averages,
        variables_to_average=tf.trainable_variables(),
    )  # fmt: skip
    return facts(tf, optimizer, optimizer.minimize(loss, global_step=step))


@program
def synced_with_slots(tf):
    step, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 2)
    found = facts(tf, optimizer, optimizer.minimize(loss, global_step=step))
    slots = [optimizer.get_slot(v, "momentum").name for v in tf.trainable_variables()]
    return [found, slots, [v.name for v in optimizer.variables()]]


@program
def synced_without_a_gradient(tf):
    step, loss = model(tf)
    tf.get_variable("unused", [2])
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
    return facts(tf, optimizer, optimizer.minimize(loss, global_step=step))


@program
def synced_with_more_tokens(tf):
    step, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    optimizer.minimize(loss, global_step=step)
    return [optimizer.get_init_tokens_op(num_tokens=7).name]


@program
def synced_with_no_tokens(tf):
    step, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    optimizer.minimize(loss, global_step=step)
    return [optimizer.get_init_tokens_op(num_tokens=0).name]


@program
def synced_with_too_few_tokens(tf):
    step, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 5, 2)
    optimizer.minimize(loss, global_step=step)
    return [optimizer.get_init_tokens_op(num_tokens=1).name]


@program
def hooks(tf):
    step, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    optimizer.minimize(loss, global_step=step)
    found = []
    for chief in (True, False):
        hook = optimizer.make_session_run_hook(chief)
        hook.begin()
        found.append([hook._local_init_op.name, hook._ready_for_local_init_op.name,
                      hook._q_runner and hook._q_runner.name,
                      hook._init_tokens_op and hook._init_tokens_op.name])  # fmt: skip
    return [isinstance(hook, tf.train.SessionRunHook), found]


@program
def hook_too_early(tf):
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    hook = optimizer.make_session_run_hook(True)
    hook.begin()
    return []


@program
def queue_runner_too_early(tf):
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    return [optimizer.get_chief_queue_runner()]


@program
def tokens_too_early(tf):
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    return [optimizer.get_init_tokens_op()]


@program
def synced_without_gradients(tf):
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
    return [optimizer.apply_gradients([], tf.train.get_or_create_global_step())]


@program
def synced_without_a_step(tf):
    _, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
    return [optimizer.minimize(loss)]


@program
def synced_with_an_unknown_gradient(tf):
    step, _ = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
    return [optimizer.apply_gradients([(3, tf.trainable_variables()[0])], step)]


@program
def synced_steps(tf):
    """One process plays all replicas: what a step does, gradient by gradient."""
    step, loss = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    train = optimizer.minimize(loss, global_step=step)
    runner, tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op(2)
    local = next(v for v in tf.local_variables() if "local_step" in v.name)
    found = []
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=10000)) as session:
        session.run(tf.global_variables_initializer())
        session.run([optimizer.local_step_init_op, optimizer.chief_init_op])
        session.run(tokens)
        for times in (2, 3, 2):
            updating = threading.Thread(target=session.run, args=(runner.enqueue_ops[0],))
            updating.start()
            found.append([int(session.run(train)) for _ in range(times)])
            updating.join()
            found.append([int(session.run(step)), int(session.run(local)),
                          session.run(tf.trainable_variables()[1]).tolist()])  # fmt: skip
    return [found]


# how programs are run


def outcome(tf, name):
    """Return what a program gives: its nodes and facts, or the class of the error."""
    graph = tf.Graph()
    with graph.as_default():
        try:
            found = PROGRAMS[name](tf)
        except Exception as error:
            return {"error": type(error).__name__}
        nodes = [node(op) for op in graph.get_operations()
                 if not op.name.startswith(("gradients/", "report_uninitialized_"))]  # fmt: skip
        return {"nodes": nodes, "facts": plain(found)}


def node(op):
    """Return name, type, device, inputs, groups and some attributes of a node in one line."""
    found = []
    for name in ("_class", "shared_name", "capacity", "component_types", "shapes"):
        try:
            value = op.get_attr(name)
        except (ValueError, KeyError):
            continue
        if name == "_class":
            found += ["@" + each.decode() for each in sorted(value)]
        elif value not in (b"", ""):
            found.append(f"{name}={shown(value)}")
    inputs = [source(each) for each in op.inputs] + sorted(
        "^" + each.name for each in op.control_inputs
    )
    return " ".join([op.name, op.type, op.device or "-", *inputs, *found])


def source(tensor):
    """Return the name of an input; gradients that nobody needs are not made here."""
    return "gradient" if tensor.name.startswith("gradients/") else tensor.name


def shown(value):
    """Return an attribute as text that both kinds of TensorFlow write."""
    if isinstance(value, list):
        return "[" + ",".join(shown(each) for each in value) + "]"
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "dim"):
        return str([dim.size for dim in value.dim])
    if hasattr(value, "as_list"):
        return str(value.as_list())
    return getattr(value, "name", str(value))


def plain(value):
    """Return facts as JSON can hold them."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (np.floating, float)):
        return float(f"{value:.6g}")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def main():
    """Write what this Python's TensorFlow makes of everything."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    lines = [
        json.dumps(name) + ": " + json.dumps(outcome(tf, name), separators=(",", ":"))
        for name in PROGRAMS
    ]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
