"""The samples of random numbers, from seeds."""

from __future__ import annotations

import numpy as np

from .values import floats, ints

F3, F23 = floats(3), floats(2, 3)
SEED = np.int64([1, 2])

SAMPLES = {
    # random/random_ops.py
    "RandomUniform": (ints([2, 3]), {"dtype": "float32", "seed": 1}),
    "RandomStandardNormal": (ints([2, 3]), {"dtype": "float32", "seed": 1}),
    "TruncatedNormal": (ints([2, 3]), {"dtype": "float32", "seed": 1}),
    "RandomUniformInt": (ints([2, 3]), ints(3), ints(9), {"seed": 1}),
    "RandomShuffle": (F23, {"seed": 1}),
    # random/distributions.py
    "Multinomial": (F23, ints(4), {"seed": 1}),
    "StatelessMultinomial": (F23, ints(4), np.int64([1, 2])),
    "RandomGamma": (ints([2, 3]), F3 + 1, {"seed": 1}),
    "RandomPoissonV2": (ints([2, 3]), F3 + 1, {"seed": 1}),
    # random/truncated_normal.py
    "ParameterizedTruncatedNormal": (ints([2, 3]), F3[:2], F3[:1] + 2, F3[:1] - 3, F3[:1] + 3,
                                     {"seed": 1}),
    # random/gamma_gradient.py
    "RandomGammaGrad": [(np.float32([0.5, 1.5, 4.0]), np.float32([[0.2, 1.25, 3.0]])),
                        (np.float32([[2.0], [0.75]]), np.float32([0.5, 1.5, 4.0]))],
    # random/stateless_ops.py
    "StatelessRandomUniform": (ints([2, 3]), SEED),
    "StatelessRandomNormal": (ints([2, 3]), SEED),
    "StatelessTruncatedNormal": (ints([2, 3]), SEED),
    "StatelessRandomUniformInt": (ints([2, 3]), SEED, ints(3), ints(9)),
}  # fmt: skip
