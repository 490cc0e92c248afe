"""Samples of the ops that parse; see `samples.py`."""

from __future__ import annotations

import numpy as np


def text(*values):
    """Return an array of bytes; a single value gives rank 0."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(()) if len(values) == 1 else array


# {"x": [1.0, 2.0], "n": [3]} and {"x": [4.0, 8.0], "n": [5]}
_X = b"\n\x11\n\x01x\x12\x0c\x12\n\n\x08"
_N = b"\n\n\n\x01n\x12\x05\x1a\x03\n\x01"
ONE = b"\n\x1f" + _X + b"\x00\x00\x80?\x00\x00\x00@" + _N + b"\x03"
TWO = b"\n\x1f" + _X + b"\x00\x00\x80@\x00\x00\x00A" + _N + b"\x05"
NONE = np.zeros(0, object)

PLACES, SHAPE = np.array([[0, 1], [0, 3], [2, 0]]), np.array([3, 4])
NUMBERS = np.array([1.5, -0.5, 2.5], np.float32)


def serialized(places, shape):
    """Return a sparse tensor with the number 7 at each place as three messages."""
    places, shape = np.array(places), np.array(shape)
    numbers = np.full(len(places), 7, np.int32)
    return [_message(9, places), _message(3, numbers), _message(9, shape)]


def _message(type_number, array):
    dims = b"".join([b"\x12\x02\x08" + bytes([dim]) for dim in array.shape])
    head = bytes([8, type_number, 0x12, len(dims)]) + dims
    return head + bytes([0x22, array.nbytes]) + array.tobytes()


THREE = text(*serialized([[0, 1], [2, 0]], [3, 4]))
ROWS = np.stack([THREE, text(*serialized([[4, 0]], [5, 2]))])

SAMPLES = {
    # parsing_csv.py
    "DecodeCSV": (text(b"1,2.5,a", b"3,,b"), [np.zeros(1, np.int32), np.ones(1, np.float32),
                                              text(b"x", b"y")[:1]]),
    # parsing_tensors.py
    "ParseTensor": (text(b'\x08\x01\x12\x04\x12\x02\x08\x01"\x04\x00\x00\xc0?'),
                    {"out_type": "float32"}),
    "SerializeTensor": (np.array([1.5, 2.5], np.float32)),
    "DecodeJSONExample": (text(b"{}", b'{"features": {}}')),
    "DecodeCompressed": (text(b"abc", b"")),
    # parsing_kernels.py
    "ParseExample": (text(ONE, TWO), NONE, [text(b"n")], [text(b"x")], [np.zeros(0, np.float32)],
                     {"sparse_types": ["int64"], "dense_shapes": [[2]]}),
    "ParseSingleExample": (text(ONE), [np.zeros(0, np.float32)],
                           {"num_sparse": 1, "sparse_keys": ["n"], "dense_keys": ["x"],
                            "sparse_types": ["int64"], "dense_shapes": [[2]]}),
    # sparse_tensor.py
    "SparseReorder": (np.array([[2, 0], [0, 3], [0, 1]]), np.array([1.5, -0.5, 2.5], np.float32),
                      np.array([3, 4])),
    # sparse_messages.py, sparse_maps.py
    "SerializeSparse": (PLACES, NUMBERS, SHAPE),
    "SerializeManySparse": (PLACES, NUMBERS, SHAPE),
    "DeserializeSparse": [(THREE, {"dtype": "int32"}), (ROWS, {"dtype": "int32"})],
    "DeserializeManySparse": (ROWS, {"dtype": "int32"}),
    "AddSparseToTensorsMap": (PLACES, NUMBERS, SHAPE),
    "AddManySparseToTensorsMap": (PLACES, NUMBERS, SHAPE),
}  # fmt: skip
