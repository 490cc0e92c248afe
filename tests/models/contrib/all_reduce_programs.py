"""tf.contrib.all_reduce on real TensorFlow and ours: nodes, their devices, values, errors.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/models/contrib && PYTHON_OF_1.15 all_reduce_programs.py > expected_all_reduce_1_15.json
"""

import json

# Where the inputs stand: devices of one task, of two tasks, of two tasks in turn, of none.
ONE = [f"/job:worker/task:0/device:CPU:{d}" for d in range(4)]
TWO = [f"/job:worker/task:{w}/device:CPU:{d}" for w in range(2) for d in range(2)]
TURNS = [f"/job:worker/task:{w}/device:CPU:{d}" for d in range(2) for w in range(2)]
PARTLY = ["/job:ps", "/cpu:0"]
NOWHERE = ["", ""]
HEADS, TAILS = [TWO[0], TWO[2]], [TWO[1], TWO[3]]  # the first, and the second, device of each task

# Sentence -> devices of the inputs, their shape (or one for each), the call.
CASES = {
    "a ring of two": (ONE[:2], [4], "ring(x, 1, 1, [0, 1], tf.add)"),
    "a ring of three": (ONE[:3], [3], "ring(x, 1, 1, [0, 1, 2], tf.add)"),
    "a ring in another order": (ONE[:3], [3], "ring(x, 1, 1, [0, 2, 1], tf.add)"),
    "two rings of four": (ONE, [8], "ring(x, 1, 2, [0, 1, 2, 3], tf.add)"),
    "three rings of four": (ONE, [12], "ring(x, 1, 3, [0, 1, 2, 3], tf.add)"),
    "three rings of three": (ONE[:3], [9], "ring(x, 1, 3, [0, 1, 2], tf.add)"),
    "a ring through two workers": (TWO, [4], "ring(x, 2, 1, [1, 0], tf.add)"),
    "two rings through two workers": (TWO, [8], "ring(x, 2, 2, [0, 1], tf.add)"),
    "the last chunk is padded": (ONE[:3], [5], "ring(x, 1, 1, [0, 1, 2], tf.add)"),
    "more than a chunk is padded": (ONE, [5], "ring(x, 1, 1, [0, 1, 2, 3], tf.add)"),
    "a scalar is padded": (ONE[:2], [], "ring(x, 1, 1, [0, 1], tf.add)"),
    "nothing goes round": (ONE[:2], [0], "ring(x, 1, 1, [0, 1], tf.add)"),
    "a matrix goes round as a vector": (ONE[:2], [2, 3], "ring(x, 1, 1, [0, 1], tf.add)"),
    "a ring's results are halved": (ONE[:2], [2], "ring(x, 1, 1, [0, 1], tf.add, halve)"),
    "a ring of maxima": (ONE[:3], [3], "ring(x, 1, 1, [0, 1, 2], tf.maximum)"),
    "a ring on no device": (NOWHERE, [2], "ring(x, 1, 1, [0, 1], tf.add)"),
    "a ring of one": (ONE[:1], [2], "ring(x, 1, 1, [0], tf.add)"),
    "a ring of none": ([], [2], "ring(x, 1, 1, [0], tf.add)"),
    "more rings than devices": (ONE[:2], [4], "ring(x, 1, 3, [0, 1], tf.add)"),
    "no rings": (ONE[:2], [4], "ring(x, 1, 0, [0, 1], tf.add)"),
    "an order that is too short": (ONE[:3], [3], "ring(x, 1, 1, [0, 1], tf.add)"),
    "an order that is too long": (ONE[:2], [3], "ring(x, 1, 1, [0, 1, 2], tf.add)"),
    "an order with a gap": (ONE[:2], [3], "ring(x, 1, 1, [0, 2], tf.add)"),
    "too few for two workers": (ONE[:3], [3], "ring(x, 2, 1, [0], tf.add)"),
    "no workers": (ONE[:2], [3], "ring(x, 0, 1, [0, 1], tf.add)"),
    "a ring of unlike shapes": (ONE[:2], [[3], [1]], "ring(x, 1, 1, [0, 1], tf.add)"),
    "a ring of unknown length": (ONE[:2], [None], "ring(x, 1, 1, [0, 1], tf.add)"),
    "halves of two": (ONE[:2], [4], "halves(x, tf.add)"),
    "halves of four": (ONE, [4], "halves(x, tf.add)"),
    "halves of a matrix, halved": (ONE[:2], [2, 3], "halves(x, tf.add, halve)"),
    "halves on no device": (NOWHERE, [2], "halves(x, tf.add)"),
    "halves of one": (ONE[:1], [3], "halves(x, tf.add)"),
    "halves of none": ([], [3], "halves(x, tf.add)"),
    "halves of three": (ONE[:3], [4], "halves(x, tf.add)"),
    "halves of what cannot be halved": (ONE[:2], [3], "halves(x, tf.add)"),
    "halves of unlike shapes": (ONE[:2], [[2], [4]], "halves(x, tf.add)"),
    "halves of unknown length": (ONE[:2], [None], "halves(x, tf.add)"),
    "shards of two on two": (ONE[:2], [4], "shards(x, TAILS, tf.add_n)"),
    "shards of three on two": (ONE[:3], [2, 2], "shards(x, TAILS, tf.add_n, halve)"),
    "the last shard is longer": (ONE[:2], [8], "shards(x, ONE[:3], tf.add_n)"),
    "a shard is empty": (ONE[:2], [1], "shards(x, TAILS, tf.add_n)"),
    "one shard": (ONE[:2], [], "shards(x, ONE[:1], tf.add_n)"),
    "shards of one": (ONE[:1], [2], "shards(x, TAILS, tf.add_n)"),
    "shards of none": ([], [2], "shards(x, TAILS, tf.add_n)"),
    "shards on no devices": (ONE[:2], [2], "shards(x, [], tf.add_n)"),
    "shards of unlike shapes": (ONE[:2], [[2], [4]], "shards(x, TAILS, tf.add_n)"),
    "shards of unknown length": (ONE[:2], [None], "shards(x, TAILS, tf.add_n)"),
    "a ring of two workers": (TWO, [4], "shards_ring(x, HEADS, 1, tf.add_n, tf.add)"),
    "workers in turn": (TURNS, [2], "shards_ring(x, HEADS, 1, tf.add_n, tf.add, halve)"),
    "foreign devices": (TURNS, [2], "shards_ring(x, HEADS[::-1], 1, tf.add_n, tf.add)"),
    "a worker has one": (TWO[:3], [2, 2], "shards_ring(x, HEADS, 1, tf.add_n, tf.add)"),
    "one worker": (ONE[:2], [2], "shards_ring(x, ONE[:1], 1, tf.add_n, tf.add, halve)"),
    "two rings between workers": (TWO, [4], "shards_ring(x, HEADS, 2, tf.add_n, tf.add)"),
    "workers of no name": (NOWHERE, [4], "shards_ring(x, HEADS, 1, tf.add_n, tf.add)"),
    "workers of no task": (PARTLY, [4], "shards_ring(x, HEADS, 1, tf.add_n, tf.add)"),
    "no inputs of workers": ([], [4], "shards_ring(x, HEADS, 1, tf.add_n, tf.add)"),
    "two devices a worker": (TWO, [4], "shards_ring(x, TWO, 1, tf.add_n, tf.add)"),
    "shards between workers": (TWO, [4], "shards_shards(x, HEADS, TAILS, tf.add_n)"),
    "one worker's shards": (ONE, [2, 2], "shards_shards(x, HEADS[:1], TAILS, tf.add_n, halve)"),
    "one device too many": (ONE, [4], "shards_shards(x, HEADS, TAILS, tf.add_n)"),
    "no second devices": (TWO, [4], "shards_shards(x, HEADS, [], tf.add_n)"),
}


def found(tf, module, case):
    """Return the nodes that a case makes, names of its results and their values; or the error."""
    with tf.Graph().as_default() as graph:
        try:
            return _found(tf, module, graph, *CASES[case])
        except Exception as error:
            return type(error).__name__


def _found(tf, module, graph, devices, shape, call):
    shapes = shape if shape and isinstance(shape[0], list) else [shape] * len(devices)
    inputs = []
    for number, device in enumerate(devices):
        with tf.device(device or None):
            inputs.append(_input(tf, shapes[number], number))
    known = len(graph.get_operations())
    made = eval(call, dict(globals(), tf=tf, x=inputs, halve=lambda x: tf.multiply(x, 0.5),
                           ring=module.build_ring_all_reduce,
                           halves=module.build_recursive_hd_all_reduce,
                           shards=module.build_shuffle_all_reduce,
                           shards_ring=module.build_shuffle_then_ring,
                           shards_shards=module.build_shuffle_then_shuffle))  # fmt: skip
    nodes = [
        " ".join([op.name, op.type, op.device or "-", *(each.name for each in op.inputs)])
        for op in graph.get_operations()[known:]
    ]
    names = [each.name for each in made]
    return {"nodes": nodes, "results": names, "values": _values(tf, graph, names)}


def _input(tf, shape, number):
    if None in shape:
        return tf.placeholder(tf.float32, shape)
    count = 1
    for dim in shape:
        count *= dim
    return tf.reshape(tf.range(float(count)) * (number + 1), shape)


def _values(tf, graph, names):
    """Return the values of tensors, computed on one device: there are no such tasks."""
    plain = graph.as_graph_def()
    for node in plain.node:
        node.device = ""
    with tf.Graph().as_default(), tf.Session() as session:
        values = session.run(tf.import_graph_def(plain, return_elements=names, name=""))
    return [value.tolist() for value in values]


if __name__ == "__main__":
    import tensorflow
    from tensorflow.contrib.all_reduce.python import all_reduce

    answers = {case: found(tensorflow, all_reduce, case) for case in CASES}
    print(json.dumps(answers, indent=1, sort_keys=True))
