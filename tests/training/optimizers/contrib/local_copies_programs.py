"""Two workers that train copies of the variables: what comes of them after each turn.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/optimizers/contrib
    PYTHON_OF_1.15 local_copies_programs.py > expected_copies_1_15.json
"""

import json
import sys
import threading

# Worker 0 has gradients of 1, worker 1 of 10. A turn names the workers that make a step at the same
# time: where the mean is taken, they wait for each other.
STORIES = {
    "elastic": ("0", "1", "0", "0", "1", "1", "0"),
    "elastic, each step": ("0", "1", "1"),
    "mean": ("01", "01", "01", "01", "01"),
}
TIMEOUT = 10000  # milliseconds


def optimizer_of(tf, kind, index, getter):
    """Return a story's optimizer."""
    sgd = tf.train.GradientDescentOptimizer(1.0)
    if kind == "mean":
        return tf.contrib.opt.ModelAverageOptimizer(sgd, 2, index == 0, getter, interval_steps=2)
    if kind == "elastic":
        return tf.contrib.opt.ElasticAverageOptimizer(
            sgd, 2, getter, communication_period=2, moving_rate=0.25, rho=0.0
        )
    return tf.contrib.opt.ElasticAverageOptimizer(sgd, 2, getter, communication_period=1)


def build(tf, cluster, index, kind):
    """Return what a worker runs."""
    worker = f"/job:worker/task:{index}"
    is_mean = kind == "mean"
    make = (
        tf.contrib.opt.ModelAverageCustomGetter
        if is_mean
        else (tf.contrib.opt.ElasticAverageCustomGetter)
    )
    getter = make(worker_device=worker)
    setter = tf.train.replica_device_setter(cluster=cluster, worker_device=worker)
    with tf.device(setter), tf.variable_scope("", custom_getter=getter):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        optimizer = optimizer_of(tf, kind, index, getter)
        train = optimizer.minimize(tf.reduce_sum(w * 10.0**index), global_step=step)
        hook = optimizer.make_session_run_hook(*(() if is_mean else (index == 0, index)))
        hook.begin()
        if index == 0:
            tf.global_variables_initializer()
    (centre,) = [each for each in tf.global_variables() if "center" in each.name]
    return {"step": step, "w": w, "train": train, "hook": hook, "centre": centre}


def told(tf, cluster, targets, kind):
    """Return what a story makes: the step, both workers' variables and the centre of each turn."""
    config = tf.ConfigProto(operation_timeout_in_ms=TIMEOUT)
    workers = []
    for index, target in enumerate(targets):
        with tf.Graph().as_default() as graph:
            made = build(tf, cluster, index, kind)
            made["session"] = tf.Session(target, graph=graph, config=config)
            made["session"].run([made["hook"]._local_init_op])
            if index == 0:
                made["session"].run(made["hook"]._global_init_op)
            made["session"].run(made["hook"]._variable_init_op)
            workers.append(made)
    return [turn(workers, who) for who in STORIES[kind]]


def turn(workers, who):
    """Let workers make a step; returns the global step, both workers' variables, the centre."""
    running = [
        threading.Thread(target=each["session"].run, args=(each["train"],))
        for each in (workers[int(index)] for index in who)
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(TIMEOUT / 1000)
    first = workers[0]
    found = [each["session"].run(each["w"]).tolist() for each in workers]
    step, centre = first["session"].run([first["step"], first["centre"]])
    return [int(step), *found, centre.tolist()]


def main():
    """Write what this Python's TensorFlow makes of everything."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    found = {}
    for number, kind in enumerate(STORIES):
        addresses = [f"localhost:{7100 + 3 * number + i}" for i in range(3)]
        cluster = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
        tf.train.Server(cluster, "ps", 0)
        targets = [tf.train.Server(cluster, "worker", i).target for i in range(2)]
        found[kind] = told(tf, cluster, targets, kind)
    lines = [json.dumps(kind) + ": " + json.dumps(each) for kind, each in found.items()]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")
    sys.stdout.flush()
    os._exit(0)  # servers of TensorFlow do not stop


if __name__ == "__main__":
    main()
