"""The samples of summaries."""

from __future__ import annotations

import numpy as np

from .values import floats, strings

F3, F23, F234 = floats(3), floats(2, 3), floats(2, 3, 4)
ONE = np.float32(1.5)
S3 = strings("ab", "cde", "f")
MESSAGE = "\n\x08\n\x01a\x15\x00\x00\x00@"  # of the tag a, whose value is 2.0

SAMPLES = {
    # summary/summaries.py, summary/media.py, summary/tensor_summary.py
    "ScalarSummary": [(strings("a"), ONE), (S3, F3)],
    "HistogramSummary": (strings("a"), F234),
    "MergeSummary": ([strings(MESSAGE), strings("", MESSAGE.replace("a", "b"))],),
    "AudioSummaryV2": [(strings("a"), F234, np.float32(8000)),
                       (strings("a"), F23, np.float32(8000.7), {"max_outputs": 1})],
    "TensorSummaryV2": [(strings("a"), F23, strings("")), (strings("a"), S3, strings(""))],
}  # fmt: skip
