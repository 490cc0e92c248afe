"""The samples of what feature columns are made of; the form is prescribed in `samples.py`."""

from __future__ import annotations

import numpy as np


def words(*rows):
    """Return an array of strings."""
    array = np.array(rows, object)
    array.reshape(-1)[:] = [word.encode() for word in array.reshape(-1)]
    return array


WORDS = (np.int64([[0, 0], [0, 1], [2, 0]]), words("a", "b", "cc"), np.int64([3, 2]))
IDS = (np.int64([[0, 0], [1, 0], [2, 0], [2, 1]]), np.int64([5, -3, 7, 8]), np.int64([3, 2]))
DENSE_WORDS = words(["x", "y"], ["z", ""], ["q", "r"])
DENSE_IDS = np.int64([[1, 2], [3, 4], [5, 6]])
HASHED = {"hashed_output": True, "out_type": "int64", "internal_type": "int64"}
HASHED_1000 = dict(HASHED, num_buckets=1000, hash_key=0xDECAFCAFFE)
JOINED = {"hashed_output": False, "num_buckets": 0, "hash_key": 7, "out_type": "string",
          "internal_type": "string"}  # fmt: skip


def crossed(sparse, dense, attributes):
    """Return a sample of the cross of sparse features and dense ones."""
    return (*([each[part] for each in sparse] for part in range(3)), dense, attributes)


SAMPLES = {
    # bucketize.py
    "Bucketize": [
        (np.float32([[0.5, 1.5, 9.0], [2.5, 2.4, -1.0]]), {"boundaries": [1.5, 2.5]}),
        (np.int32([3, -2, 4]), {"boundaries": [-2.0, 3.5]}),
    ],
    # sparse_cross.py
    "SparseCross": [
        crossed([WORDS, IDS], [], HASHED_1000),
        crossed([WORDS], [DENSE_WORDS], HASHED_1000),
        crossed([IDS], [DENSE_IDS, DENSE_WORDS], dict(HASHED, num_buckets=0, hash_key=7)),
        crossed([WORDS], [DENSE_WORDS], JOINED),
    ],
}
