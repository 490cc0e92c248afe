"""The samples of recurrent networks' ops; the form is prescribed at the top of `samples.py`."""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


STATE = floats(2, 3), floats(2, 3, start=0.7)
WEIGHTS = floats(7, 12), floats(3), floats(3, start=0.5), floats(3, start=0.9), floats(12)
GATES = [floats(2, 3, start=0.1 * k) for k in range(6)]
LONG_GATES = [floats(5, 2, 3, start=0.1 * k) for k in range(7)]
GRU = floats(2, 4), STATE[0], floats(7, 6), floats(7, 3), floats(6), floats(3)
IDS = np.int32([[[1, 2, 3]] * 2, [[4, 5, 6]] * 2, [[7, 8, 9]] * 2, [[2, 1, 3]] * 2])
PARENTS = np.int32([[[0, 0, 0]] * 2, [[2, 0, 1]] * 2, [[1, 1, 0]] * 2, [[0, 2, 1]] * 2])

SAMPLES = {
    # gather_tree.py
    "GatherTree": (IDS, PARENTS, np.int32([4, 2]), np.int32(5)),
    # lstm_blocks.py
    "LSTMBlockCell": [(floats(2, 4), *STATE, *WEIGHTS),
                      (floats(2, 4), *STATE, *WEIGHTS,
                       {"forget_bias": 0.5, "cell_clip": 0.4, "use_peephole": True})],
    "LSTMBlockCellGrad": [(floats(2, 4), *STATE, *WEIGHTS, *GATES, *STATE, {"use_peephole": True}),
                          (floats(2, 4), *STATE, *WEIGHTS, *GATES, *STATE,
                           {"use_peephole": False})],
    "BlockLSTM": [(np.int64(5), floats(5, 2, 4), *STATE, *WEIGHTS),
                  (np.int64(5), floats(5, 2, 4), *STATE, *WEIGHTS,
                   {"forget_bias": 0.5, "cell_clip": 0.4, "use_peephole": True})],
    "BlockLSTMGrad": [(np.int64(5), floats(5, 2, 4), *STATE, *WEIGHTS, *LONG_GATES,
                       floats(5, 2, 3), floats(5, 2, 3, start=0.6), {"use_peephole": True}),
                      (np.int64(3), floats(5, 2, 4), *STATE, *WEIGHTS, *LONG_GATES,
                       floats(5, 2, 3), floats(5, 2, 3, start=0.6), {"use_peephole": False})],
    "GRUBlockCell": GRU,
    "GRUBlockCellGrad": (*GRU, *GATES[:3], floats(2, 3, start=0.6)),
}  # fmt: skip
