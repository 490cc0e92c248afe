"""The samples of names of checkpoints; the form is prescribed at the top of `samples.py`."""

from __future__ import annotations

import numpy as np

NAME = np.array(b"folder/model", object)

SAMPLES = {
    # checkpoint_names.py
    "ShardedFilename": [(NAME, np.int32(3), np.int32(12)), (NAME, np.int32(7), np.int32(1234567))],
    "ShardedFilespec": (NAME, np.int32(12)),
}
