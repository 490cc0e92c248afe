"""Ordinary functions of ragged tensors on real TensorFlow and ours: values, as nested lists.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/ragged/ragged_calls.py > tests/ops/ragged/expected_ragged_1_15.json
"""

import json
import os

import numpy as np

# One expression a line. `r` is [[1, 2], [], [3]], `f` the same as floats, `d` is ragged along two
# axes, `e` along three, `s` holds texts.
CALLS = """
tf.abs(-r)
tf.add(r, 1)
tf.add(r, r)
tf.add(r, [[1], [2], [3]])
tf.add(1, d)
tf.multiply(r, 2)
tf.square(f)
tf.math.log(f)
tf.equal(r, 1)
tf.logical_not(r > 1)
tf.maximum(r, 2)
tf.floormod(r, 2)
tf.pow(f, 2.0)
tf.cast(r, tf.float32)
tf.identity(d)
tf.clip_by_value(r, 2, 2)
tf.math.add_n([r, r, r])
tf.ones_like(r)
tf.zeros_like(d)
tf.one_hot(r, 4)
tf.as_string(r)
tf.strings.length(s)
tf.strings.join([s, "-", s])
tf.strings.substr(s, 0, 1)
tf.strings.regex_replace(s, "b", "X")
tf.strings.to_hash_bucket_fast(s, 10)
tf.reduce_sum(r)
tf.reduce_sum(r, 0)
tf.reduce_sum(r, 1)
tf.reduce_sum(r, -1)
tf.reduce_sum(r, [0, 1])
tf.reduce_sum(d, 0)
tf.reduce_sum(d, 1)
tf.reduce_sum(d, 2)
tf.reduce_prod(r, 1)
tf.reduce_max(r, 1)
tf.reduce_min(r, 0)
tf.reduce_mean(f, 0)
tf.reduce_mean(f)
tf.reduce_any(r > 1, 1)
tf.reduce_all(r > 1, 1)
tf.reduce_sum(r, 5)
tf.reduce_sum(r, 1, keepdims=True)
tf.concat([r, r], 0)
tf.concat([r, r], 1)
tf.concat([r, [[9], [8], [7]]], axis=-1)
tf.concat([d, d], 1)
tf.concat([d, d], 2)
tf.concat([r, r], 2)
tf.stack([r, r])
tf.stack([r, r], 1)
tf.tile(r, [2, 1])
tf.tile(r, [1, 2])
tf.tile(d, [1, 2, 1])
tf.expand_dims(r, 0)
tf.expand_dims(r, 1)
tf.expand_dims(r, -1)
tf.squeeze(tf.ragged.constant([[[1]], [[2]]]), 1)
tf.size(r)
tf.rank(d)
tf.gather(r, [2, 0])
tf.gather(r, [[2], [1]])
tf.gather([10, 20, 30, 40], r)
tf.gather(r, tf.ragged.constant([[0], [2, 2]]))
tf.gather(d, 0)
tf.gather_nd(r, [[0, 1], [2, 0]])
tf.gather_nd(d, [[0], [2]])
tf.batch_gather(r, tf.ragged.constant([[1, 0], [], [0]]))
tf.where(r > 1)
tf.where(r > 1, r, r * 10)
tf.where([True, False, True], r, r * 10)
tf.ragged.boolean_mask(r, [True, False, True])
tf.ragged.boolean_mask(r, r > 1)
tf.ragged.boolean_mask(d, [True, False, True])
tf.unsorted_segment_sum(r, [0, 0, 1], 2)
tf.math.unsorted_segment_max(r, [1, 1, 1], 2)
r[0]
r[1:]
r[-1]
r[::2]
r[:, :1]
r[:, 1:]
r[0, 0]
r[:, 0]
r[..., 0]
r[...]
r[tf.newaxis]
d[:, :1, :1]
d[0, 1]
d[0, 1, 0]
d[..., 1:]
d[:, 0]
tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)[:, :, 0]
tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)[..., 1]
r[:, ::2]
r[:, 1::2]
r[:, ::-1]
r[:, 1:0:-1]
d[:, :, ::2]
d[:, ::2]
d[:, ::-1]
tf.reduce_sum(e, 0)
tf.reduce_sum(e, 1)
tf.reduce_sum(e, 2)
tf.reduce_sum(e, 3)
tf.reduce_sum(e, [0, 2])
tf.reduce_max(e, 0)
tf.reduce_mean(e, 0)
tf.dynamic_partition(r, [0, 1, 0], 2)
tf.dynamic_partition(r, r, 4)
tf.dynamic_partition(d, [0, 1, 0], 2)
tf.ragged.stack_dynamic_partitions(r, r, 4)
tf.ragged.stack_dynamic_partitions([1, 2, 3], r, 4)
tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], ragged_rank=2)
tf.RaggedTensor.from_tensor([[[[1], [2]]]], ragged_rank=3)
tf.RaggedTensor.from_tensor([[[1, 2], [3, 0]], [[5, 0], [7, 8]]], ragged_rank=2, padding=0)
tf.RaggedTensor.from_tensor([[[1, 2], [0, 0]], [[0, 0], [0, 0]]], padding=[0, 0])
tf.RaggedTensor.from_tensor([[[1, 2], [3, 0]], [[0, 0], [7, 8]]], lengths=([1, 2], [1, 0, 2]))
tf.RaggedTensor.from_tensor([[[1, 2], [3, 0]], [[0, 0], [7, 8]]], lengths=[1, 2], ragged_rank=2)
tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], ragged_rank=2)
tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], ragged_rank=0)
tf.concat([d, [[[1], [2]]]], 0)
r.with_values([7, 8, 9])
r.with_values(tf.constant([7, 8, 9]))
r.with_values(tf.constant([7, 8]))
r.with_values(tf.constant(7))
d.with_flat_values([1, 2, 3, 4])
tf.tile(r, [2])
tf.tile(r, [2, 2])
tf.tile(r, [0, 1])
tf.tile(r, [1, 0])
tf.tile(r, tf.placeholder_with_default([2, 3], None))
tf.tile(r, tf.placeholder_with_default([2, 3], [2]))
tf.tile(r, tf.placeholder_with_default([2, 0], [None]))
tf.tile(d, [2, 1, 3])
tf.tile(d, tf.placeholder_with_default([2, 1, 3], [3]))
tf.tile(d, [[1, 2, 1]])
tf.tile(d, [1, 2, 1, 1])
tf.tile(tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), [2, 1, 2])
r.nested_row_lengths()
d.nested_row_lengths()
r.to_list()
"""


def calls():
    """Return the lines of the table."""
    return CALLS.split("\n")[1:-1]


def said(tf, source):
    """Return the value of a call as lists, or the class of its error."""
    with tf.Graph().as_default() as graph:
        r = tf.ragged.constant([[1, 2], [], [3]])
        names = {"tf": tf, "r": r, "f": tf.ragged.constant([[1.0, 2.0], [], [3.0]]),
                 "d": tf.ragged.constant([[[1], [2, 3]], [], [[4]]]),
                 "e": tf.ragged.constant([[[[1], [2, 3]], [[4]]], [], [[], [[5, 6], [], [7]]]]),
                 "s": tf.ragged.constant([["ab", "b"], [], ["c"]])}  # fmt: skip
        try:
            value = eval(source, names)
            with tf.Session(graph=graph) as session:
                return plain(session.run(value))
        except Exception as error:
            return type(error).__name__


def plain(value):
    """Return a value as JSON can hold it."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "row_splits"):
        return [plain(each) for each in value]
    if hasattr(value, "to_list"):
        return plain(value.to_list())
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return round(value, 5)
    return value.decode("latin-1") if isinstance(value, bytes) else value


def main():
    """Print what this Python's TensorFlow makes of everything."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    lines = [json.dumps(each) + ": " + json.dumps(said(tf, each)) for each in calls()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
