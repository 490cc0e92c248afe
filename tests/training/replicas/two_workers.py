"""Two workers train together with a parameter server, one slow: what becomes of gradients.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/replicas && PYTHON_OF_1.15 two_workers.py > expected_workers_1_15.json
"""

import json
import sys
import threading

# Worker 0 has gradients of 1, worker 1 of 10: the variable tells whose were applied, and when.
#
# Name -> gradients an update takes, first tokens, and turns. A turn names the workers that make a
# step at the same time, and the global step that comes of it: where it stays as it was, gradients
# were dropped, for they were of a step that was over.
STORIES = {
    "both are needed": (2, -1, [("01", 1), ("01", 1), ("01", 2), ("10", 3)]),
    "the slow one is spare": (
        1, -1,
        [("0", 1), ("0", 1), ("0", 2), ("0", 2), ("0", 3), ("1", 3), ("0", 3), ("1", 4)],
    ),
    "both are needed, and one gives twice": (2, 4, [("00", 1), ("1", 1), ("0", 1), ("01", 1)]),
}  # fmt: skip
TIMEOUT = 10000  # milliseconds


def build(tf, cluster, index, to_aggregate, sparse):
    """Return what a worker runs."""
    worker = f"/job:worker/task:{index}"
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=worker)):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        rows = tf.gather(w, [0, 2]) if sparse else w
        loss = tf.reduce_sum(rows * 10.0**index)
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(1.0), to_aggregate, 2
        )
        train = optimizer.minimize(loss, global_step=step)
    return {"step": step, "w": w, "train": train, "optimizer": optimizer}


def told(tf, cluster, targets, story, sparse=False):
    """Return what a story makes: local steps of each turn, the global step, and the variable.

    Args:
      tf: which TensorFlow.
      cluster: a ClusterSpec of one parameter server and two workers, whose servers run.
      targets: of the sessions of both workers.
      story: of STORIES.
      sparse: whether gradients are a few rows.
    """
    to_aggregate, tokens, turns = story
    config = tf.ConfigProto(operation_timeout_in_ms=TIMEOUT)
    workers, coordinator = [], tf.train.Coordinator()
    for index, target in enumerate(targets):
        with tf.Graph().as_default() as graph:
            made = build(tf, cluster, index, to_aggregate, sparse)
            made["first"] = made["optimizer"].get_init_tokens_op(tokens)
            made["init"] = tf.global_variables_initializer()
            made["session"] = tf.Session(target, graph=graph, config=config)
            workers.append(made)
    threads = begin(workers, coordinator)
    found = [turn(workers, who, wanted) for who, wanted in turns]
    coordinator.request_stop()
    for each in workers:
        each["session"].close()
    for thread in threads:
        thread.join(TIMEOUT / 1000)
    return found


def begin(workers, coordinator):
    """Initialise as the hooks of both workers do; returns the chief's threads."""
    chief, other = workers
    session = chief["session"]
    session.run(chief["init"])
    session.run(chief["optimizer"].chief_init_op)
    session.run(chief["first"])
    other["session"].run(other["optimizer"].local_step_init_op)
    runner = chief["optimizer"].get_chief_queue_runner()
    return runner.create_threads(session, coord=coordinator, daemon=True, start=True)


def turn(workers, who, wanted):
    """Let workers make a step; returns their local steps, the global step and the variable."""
    local = {}

    def run(place, worker):
        local[place] = int(worker["session"].run(worker["train"]))

    running = [threading.Thread(target=run, args=(place, workers[int(index)]))
               for place, index in enumerate(who)]  # fmt: skip
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(TIMEOUT / 1000)
    session, step, w = (workers[0][name] for name in ("session", "step", "w"))
    for _ in range(20000):
        now = int(session.run(step))
        if now >= wanted:
            break
    return [
        [local.get(place) for place in range(len(who))],
        now,
        session.run(w).reshape(-1).tolist(),
    ]


def main():
    """Write what this Python's TensorFlow makes of everything."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.FATAL)
    found, port = {}, 7000
    for sparse in (False, True):
        for name, story in STORIES.items():
            addresses = [f"localhost:{port + i}" for i in range(3)]
            port += 3
            cluster = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
            tf.train.Server(cluster, "ps", 0)
            workers = [tf.train.Server(cluster, "worker", i) for i in range(2)]
            targets = [each.target for each in workers]
            found[name + ", rows" * sparse] = told(tf, cluster, targets, story, sparse)
            sys.stderr.write("{} {}\n".format(name, found[name + ", rows" * sparse]))
    lines = [json.dumps(name) + ": " + json.dumps(each) for name, each in found.items()]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")
    sys.stdout.flush()
    os._exit(0)  # servers of TensorFlow do not stop


if __name__ == "__main__":
    main()
