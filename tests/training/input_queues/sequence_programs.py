"""Sequences in segments: what tf.contrib.training makes of them, nodes and values.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/input_queues
    PYTHON_OF_1.15 sequence_programs.py > expected_sequences_1_15.json
"""

import json
import re
import sys

# Arguments of a SequenceQueueingStateSaver, beside those of `saver_of`.
GRAPHS = {
    "known shapes": "capacity=None",
    "a name, small batches, sizes that are tensors": "name='N', capacity=8, "
    "allow_small_batch=True, batch_size=tf.constant(2), input_length=5",
    "unknown lengths, several contexts and states": "sequences={'b': p(tf.float32, [None, 2]), "
    "'a': p(tf.string, [None])}, context={'d': tf.zeros([3]), 'c': tf.constant(1)}, "
    "states={'s': tf.zeros([4]), 'a': tf.constant(2)}",
}
# Arguments of `batch_sequences_with_states`, beside those of `batch_of`.
BATCHES = {
    "padded, with unique keys": "make_keys_unique=True, make_keys_unique_seed=3",
    "not padded": "pad=False",
    "all else": "input_length=None, capacity=7, num_threads=2, allow_small_batch=False, name='Q'",
}
# What cannot be: as GRAPHS.
ERRORS = {
    "sequences of no name": "sequences={1: tf.zeros([6])}",
    "states in a list": "states=[1]",
    "no sequence": "sequences={}",
    "no state": "states={}",
    "a sequence of unknown rank": "sequences={'x': p(tf.float32)}",
    "a sequence of unknown width": "sequences={'x': p(tf.float32, [None, None])}",
    "a context of unknown size": "context={'c': p(tf.float32, [None])}",
    "a state of unknown size": "states={'s': p(tf.float32, [None])}",
    "a colon": "states={'s:': tf.zeros([4])}",
    "lengths": "input_length=tf.constant([5])",
    "a long length": "input_length=tf.constant(5, tf.int64)",
    "keys": "input_key=tf.constant(['k'])",
    "a key that is a number": "input_key=3",
    "no room for a batch": "capacity=1",
    "a state of no elements": "states={'s': tf.zeros([0])}",
    "segments of nothing": "num_unroll=0",
    "half a segment": "sequences={'x': tf.zeros([5, 2])}",
    "a number instead of a sequence": "sequences={'x': tf.constant(1.0)}",
}
# Running: number of sequences, arguments of `batch_of`, how many steps at most.
RUNS = {
    "one at a time": (3, "batch_size=1", 20),
    "whole batches": (4, "batch_size=2", 5),
}
# What comes to its end in 1.15.5 at times only: its barrier may keep the last segments.
ENDINGS = {
    "the last batch is smaller": (3, "batch_size=2", 20),
    "two side by side": (4, "batch_size=2", 20),
    "long segments": (2, "num_unroll=5, batch_size=2", 20),
}


def saver_of(tf, text):
    """Return a SequenceQueueingStateSaver with all its nodes."""
    given = eval(f"dict({text})", {"tf": tf, "p": tf.placeholder})
    names = {"sequences": "input_sequences", "context": "input_context", "states": "initial_states"}
    given = {names.get(key, key): value for key, value in given.items()}
    arguments = {
        "batch_size": 2,
        "num_unroll": 3,
        "input_length": tf.constant(5),
        "input_key": tf.constant("k"),
        "input_sequences": {"x": tf.zeros([6, 2])},
        "input_context": {"c": tf.constant(1)},
        "initial_states": {"s": tf.zeros([4])},
    }
    saver = tf.contrib.training.SequenceQueueingStateSaver(**{**arguments, **given})
    batch = saver.next_batch
    for name in sorted(given.get("initial_states", {"s": 0})):
        batch.save_state(name, batch.state(name) * 2)
    saver.close()
    return saver


def batch_of(tf, text, tensors=None):
    """Return a batch of `batch_sequences_with_states`."""
    key, x, y, length = tensors or [
        tf.placeholder(dtype, shape, name)
        for dtype, shape, name in [
            (tf.string, [], "key"),
            (tf.float32, [None, 2], "x"),
            (tf.string, [None], "y"),
            (tf.int32, [], "length"),
        ]
    ]
    arguments = {
        "input_key": key,
        "input_sequences": {"x": x, "y": y},
        "input_context": {"c": tf.constant(1)},
        "input_length": length,
        "initial_states": {"s": tf.zeros([2]), "n": tf.constant(0)},
        "num_unroll": 3,
        "batch_size": 2,
    }
    arguments.update(eval(f"dict({text})", {"tf": tf}))
    return tf.contrib.training.batch_sequences_with_states(**arguments)


PROPERTIES = (
    "total_length", "length", "batch_size", "insertion_index", "key", "next_key", "sequence",
    "sequence_count",
)  # fmt: skip
# Nodes of 1.15.5 that nothing uses, and those of conds and of Assert's data.
UNUSED = re.compile(
    r"^(batch_sequences_with_states|Q)/(Const(_3)? |Shape_[26] |strided_slice_[26]|Cast)"
    r"|ready_segment|Assert(_\d+)?/(Const|Assert/data)|AssertGuard|BarrierReadySize"
)


def graph_told(tf, make, text):
    """Return nodes as text; their static shapes; runners."""
    with tf.Graph().as_default() as graph:
        made = make(tf, text)
        batch = getattr(made, "next_batch", made)
        nodes = [node_text(node) for node in graph.as_graph_def().node]
        runners = [
            [str(each.name), sorted({op.name for op in each.enqueue_ops}), len(each.enqueue_ops),
             each.close_op.name, each.cancel_op.name]
            for each in graph.get_collection("queue_runners")
        ]  # fmt: skip
        tensors = [getattr(batch, name) for name in PROPERTIES]
        tensors += [*batch.sequences.values(), *batch.context.values(), batch.state("s")]
        shapes = [[each.name, str(each.get_shape())] for each in tensors]
    return {
        "nodes": sorted(each for each in nodes if not UNUSED.search(each)),
        "shapes": shapes,
        "runners": runners,
    }


def node_text(node):
    index = f" #{node.attr['component_index'].i}" if "component_index" in node.attr else ""
    return f"{node.name} = {node.op}({', '.join(sorted(node.input))}){index}"


def error_told(tf, text):
    """Return the error's class, and what it says if TensorFlow's own code says it."""
    with tf.Graph().as_default():
        try:
            saver_of(tf, text)
        except Exception as error:
            said = str(error).split("\n")[0]
            return [type(error).__name__, re.sub(r"'?(<dtype: '|tf\.)?(int\d+)'?>?", r"\2", said)]
    return None


def run_told(tf, count, text, most):
    """Return what batches have, until the data end, and what tells that."""
    with tf.Graph().as_default():
        number = tf.train.range_input_producer(count, 1, shuffle=False).dequeue()
        length = 4 * number + 2
        x = tf.cast(tf.stack([tf.range(length), tf.range(length) * 10 + number], 1), tf.float32)
        key = tf.string_join(["k", tf.as_string(number)])
        y = tf.fill([length], key)
        tensors = [key, x, y, tf.identity(length)]
        batch = batch_of(tf, text + ", num_threads=1", tensors)
        states = batch.state("s"), batch.state("n")
        sums = states[0] + tf.reduce_sum(batch.sequences["x"], 1)
        saves = [batch.save_state("s", sums), batch.save_state("n", states[1] + 1)]
        fetched = [getattr(batch, name) for name in PROPERTIES]
        fetched += list(batch.sequences.values()) + list(batch.context.values()) + list(states)
        return elements(tf, fetched, saves, most)


def elements(tf, fetched, saves, most):
    """Return what tensors have in successive steps, and what ends them."""
    found, end = [], None
    bound = tf.RunOptions(timeout_in_ms=5000)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            for _ in range(most):
                values, _ = session.run([fetched, saves], options=bound)
                found.append([plain(each) for each in values])
        except tf.errors.OpError as error:
            end = type(error).__name__
        coordinator.request_stop()
        try:
            coordinator.join(threads, stop_grace_period_secs=1)
        except RuntimeError:
            pass  # in 1.15.5 the thread that closes may wait until the session's end
    return [found, end]


def plain(value):
    """Return an array as JSON can hold it."""
    return [
        each.decode() if isinstance(each, bytes) else each for each in value.reshape(-1).tolist()
    ] + list(value.shape)


def everything(tf):
    """Return what a TensorFlow makes of all of it."""
    found = {}
    for table, make in ((GRAPHS, saver_of), (BATCHES, batch_of)):
        found.update({name: graph_told(tf, make, text) for name, text in table.items()})
    found.update({name: error_told(tf, text) for name, text in ERRORS.items()})
    found.update({name: run_told(tf, *case) for name, case in RUNS.items()})
    return found


def main():
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    found = everything(tf)
    told = [each for each in found.values() if isinstance(each, dict)]
    nodes = sorted({node for each in told for node in each["nodes"]})
    numbers = {node: number for number, node in enumerate(nodes)}
    for each in told:
        each["nodes"] = [numbers[node] for node in each["nodes"]]
    rows = [json.dumps(key) + ": " + json.dumps(each) for key, each in found.items()]
    lines = ",\n".join(json.dumps(node) for node in nodes)
    sys.stdout.write("[[\n" + lines + "\n], {\n" + ",\n".join(rows) + "\n}]\n")


if __name__ == "__main__":
    main()
