"""One line of inputs for every op: what `test_every_op.py` and `differential.py` feed it.

The form, also of `samples_math.py`: op name -> a tuple with one value per input of the signature (a
list of values for a list input), with a dict of attributes as its last element if any are needed:

    "AddV2": (F23, F3),
    "Pack": ([F23, F23 + 1], {"axis": 1}),

Several samples of one op stand in a list of such tuples. Values are arrays of the sample's own
dtype; the contract repeats each sample in the other types that the signature allows, checks the
gradient in float64, and blurs the shapes. So: never square (swapped axes would pass unseen), no
size that occurs twice, floats away from kinks, ties and poles of the function.
"""

from __future__ import annotations

import numpy as np

SAMPLES = {}
