"""Seeds that Keras chooses itself: from NumPy's generator, so that `np.random.seed` counts.

Source: experiments with TensorFlow 1.15.5.
"""

from __future__ import annotations

import numpy as np

OF_OPERATIONS = 10**7  # the seed of an operation is below
OF_VARIABLES = 10**9  # that of the initial value of a variable is below


def chosen_seed(seed: int | None, bound: int = OF_OPERATIONS) -> int:
    """Return `seed`, or if it is None the next number below `bound` of NumPy's generator.

    Example:
      >>> np.random.seed(5)
      >>> chosen_seed(None), chosen_seed(7)
      (2115790, 7)
    """
    return np.random.randint(bound) if seed is None else seed  # noqa: NPY002
