"""Writes small checkpoints of all kinds: with TensorFlow 1.15.5 or 2.21 for the tests, or with us.

    cd tests/formats/checkpoint && PYTHON_OF_TENSORFLOW written_checkpoints.py written_by_1_15

(Read by Python 3.7, too, and imports nothing of ours.)
"""

from __future__ import annotations

import os
import sys

import numpy as np

NAMES = ("float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64", "bool",
         "bfloat16", "uint16", "complex128", "float16", "uint32", "uint64", "string")  # fmt: skip
NOT_IN_V1 = ("bfloat16", "uint32", "uint64")
STRINGS = np.array([b"a", b"", b"\xff" * 200, "\u00e9\0".encode()], object).reshape(2, 2)
ROWS = np.arange(24, dtype=np.float32).reshape(6, 4) / 8


def values():
    """Return arrays of all types that both know, by name."""
    numbers = np.array([[1, 0], [3, 1]])
    plain = {name: numbers.astype(name) for name in NAMES if name not in ("bfloat16", "string")}
    return {"empty": np.zeros((0, 3), np.float32), "scalar": np.int32(7), "string": STRINGS,
            "long name/" + "x" * 150: ROWS[0], **plain}  # fmt: skip


def write(tf, folder):
    """Write checkpoints in `folder`: whole, in slices, merged; and of the first releases."""
    ops, run = tf.raw_ops, tf.Session().run

    def path(name):
        return os.path.join(folder, name)

    arrays = sorted(values().items())
    tensors = [tf.constant(value) for _, value in arrays]
    names = [name for name, _ in arrays] + ["bfloat16"]
    tensors.append(tf.cast([[1.0, 2.5], [-3.0, 0.0]], tf.bfloat16))
    run(ops.SaveV2(prefix=path("whole"), tensor_names=names, shape_and_slices=[""] * len(names),
                   tensors=tensors))  # fmt: skip
    old = [i for i, name in enumerate(names) if in_v1(name)]
    run(ops.Save(filename=path("old"), data=[tensors[i] for i in old],
                 tensor_names=[names[i] for i in old]))  # fmt: skip
    slices = ["6 4 0,4:0,4", "6 4 4,2:-", "6 4 0,6:0,3", "6 4 -:3,1", "70000 1 64,2:-"]
    parts = [ROWS[:4], ROWS[4:], ROWS[:, :3], ROWS[:, 3:], np.ones((2, 1), np.float32)]
    of = ["rows", "rows", "columns", "columns", "far"]
    run(ops.SaveV2(prefix=path("slices"), tensor_names=of, shape_and_slices=slices, tensors=parts))
    run(ops.SaveSlices(filename=path("old_slices"), tensor_names=of[:4], data=parts[:4],
                       shapes_and_slices=slices[:4]))  # fmt: skip
    for shard in (0, 1):
        prefix = path(f"parts/part-{shard}")
        run(ops.SaveV2(prefix=prefix, tensor_names=["rows", f"v{shard}"],
                       shape_and_slices=[slices[shard], ""],
                       tensors=[parts[shard], [shard]]))  # fmt: skip
        name = path(f"old_sharded-{shard:05d}-of-00002")
        run(ops.SaveSlices(filename=name, tensor_names=["rows"], data=[parts[shard]],
                           shapes_and_slices=[slices[shard]]))  # fmt: skip
    prefixes = [path("parts/part-0"), path("parts/part-1")]
    run(ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=path("merged")))


def in_v1(name):
    """Return whether a tensor can be in a checkpoint of the first releases."""
    return name not in NOT_IN_V1


if __name__ == "__main__":
    import tensorflow

    if tensorflow.__version__ > "2":
        tensorflow.compat.v1.disable_eager_execution()
    os.makedirs(sys.argv[1], exist_ok=True)
    os.makedirs(os.path.join(sys.argv[1], "parts"), exist_ok=True)
    write(tensorflow.compat.v1, sys.argv[1])
