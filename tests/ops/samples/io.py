"""The samples of what parses files' contents."""

from __future__ import annotations

import numpy as np

from .values import text

# {"x": [1.0, 2.0], "n": [3]} and {"x": [4.0, 8.0], "n": [5]}
_X = b"\n\x11\n\x01x\x12\x0c\x12\n\n\x08"
_N = b"\n\n\n\x01n\x12\x05\x1a\x03\n\x01"
ONE = b"\n\x1f" + _X + b"\x00\x00\x80?\x00\x00\x00@" + _N + b"\x03"
TWO = b"\n\x1f" + _X + b"\x00\x00\x80@\x00\x00\x00A" + _N + b"\x05"
NONE = np.zeros(0, object)
NAME = np.array(b"folder/model", object)

SAMPLES = {
    # io/decode_csv.py
    "DecodeCSV": (text(b"1,2.5,a", b"3,,b"), [np.zeros(1, np.int32), np.ones(1, np.float32),
                                              text(b"x", b"y")[:1]]),
    # io/parse_tensor.py
    "ParseTensor": (text(b'\x08\x01\x12\x04\x12\x02\x08\x01"\x04\x00\x00\xc0?'),
                    {"out_type": "float32"}),
    "SerializeTensor": (np.array([1.5, 2.5], np.float32)),
    "DecodeJSONExample": (text(b"{}", b'{"features": {}}')),
    "DecodeCompressed": (text(b"abc", b"")),
    # io/parse_example_ops.py
    "ParseExample": (text(ONE, TWO), NONE, [text(b"n")], [text(b"x")], [np.zeros(0, np.float32)],
                     {"sparse_types": ["int64"], "dense_shapes": [[2]]}),
    "ParseSingleExample": (text(ONE), [np.zeros(0, np.float32)],
                           {"num_sparse": 1, "sparse_keys": ["n"], "dense_keys": ["x"],
                            "sparse_types": ["int64"], "dense_shapes": [[2]]}),
    # io/checkpoint_names.py
    "ShardedFilename": [(NAME, np.int32(3), np.int32(12)), (NAME, np.int32(7), np.int32(1234567))],
    "ShardedFilespec": (NAME, np.int32(12)),
}  # fmt: skip
