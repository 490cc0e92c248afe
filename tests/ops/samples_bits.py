"""The samples of bits, quantised numbers, patches, sorting and of numbers that a seed gives.

The form is prescribed at the top of `samples.py`.
"""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def ints(*values):
    """Return an int32 array; a single value gives rank 0."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


F23, IMAGES = floats(2, 3), floats(2, 5, 4, 3)
I23, I3 = ints([[7, 8, -9], [4, 5, 6]]), ints([2, 3, 1])
LOW, HIGH = np.float32(-0.45), np.float32(0.55)
LOWS, HIGHS = np.float32([-0.45, 0.0, -1.0]), np.float32([0.55, 0.5, 0.75])
PATCHES = {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1],
           "padding": "SAME"}  # fmt: skip
SOUND = np.sin(np.arange(24) ** 1.3 * 0.1).astype(np.float32)[:, None]
WAV = np.array(
    b"RIFF(\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0"
    b"data\x04\0\0\0\x01\0\0\x80", object)  # fmt: skip
VALID = {"ksizes": [1, 2, 3, 1], "strides": [1, 1, 2, 1], "rates": [1, 2, 1, 1],
         "padding": "VALID"}  # fmt: skip
DILATION = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "SAME"}
FILTER = floats(3, 2, 3, start=0.37)
RATIO = {"pooling_ratio": [1.0, 1.6, 1.5, 1.0], "deterministic": True, "seed": 3}
SHARED = dict(RATIO, overlapping=True, pseudo_random=True)
CUTS = (np.int64([0, 2, 3, 5]), np.int64([0, 1, 4]))
SEQUENCES = (np.int64([[0, 0], [0, 1], [1, 0]]), ints([4, 5, 6]), np.int64([2, 3]),
             np.int64([[0, 0], [1, 0], [1, 1]]), ints([5, 6, 4]), np.int64([2, 4]))  # fmt: skip
BOXES = np.float32([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]] * 2).reshape(2, 3, 1, 4)
SCORES = np.float32([[0.9, 0.2], [0.75, 0.8], [0.6, 0.3]] * 2).reshape(2, 3, 2)
QINT8 = np.array([[(0,), (3,), (-128,)], [(127,), (-1,), (40,)]], [("qint8", np.int8)])
SEED = np.int64([1, 2])

SAMPLES = {
    # audio.py, audio_features.py
    "DecodeWav": [(WAV,), (WAV, {"desired_channels": 2, "desired_samples": 3})],
    "EncodeWav": (SOUND, ints(8000)),
    "AudioSpectrogram": [(SOUND, {"window_size": 7, "stride": 3}),
                         (SOUND, {"window_size": 8, "stride": 4, "magnitude_squared": True})],
    "Mfcc": (np.abs(SOUND[:22].reshape(1, 2, 11)), ints(8000), {"filterbank_channel_count": 4,
                                                               "dct_coefficient_count": 3}),
    # bitwise.py
    **{
        name: [(I23, I3), (ints([[5], [9]]), I3)]
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")
    },
    "Invert": (I23,),
    "PopulationCount": (I23,),
    # quantization.py
    "QuantizeV2": [(F23, LOW, HIGH, {"T": "quint8"}),
                   (F23, LOW, HIGH, {"T": "qint8", "mode": "SCALED"}),
                   (F23, LOW, HIGH, {"T": "qint16", "mode": "MIN_FIRST"})],
    "Dequantize": [(QINT8, LOW, HIGH), (QINT8, LOW, HIGH, {"mode": "SCALED"})],
    "QuantizeAndDequantizeV2": (F23, LOW, HIGH, {"range_given": True, "num_bits": 5}),
    "QuantizeAndDequantizeV3": (F23, LOW, HIGH, ints(5), {"signed_input": False}),
    # quantization_fake.py
    "FakeQuantWithMinMaxArgs": (F23, {"min": -0.45, "max": 0.55}),
    "FakeQuantWithMinMaxArgsGradient": (floats(2, 3, start=0.5), F23, {"min": -0.45, "max": 0.55}),
    "FakeQuantWithMinMaxVars": (F23, LOW, HIGH, {"num_bits": 4}),
    "FakeQuantWithMinMaxVarsGradient": (floats(2, 3, start=0.5), F23, LOW, HIGH),
    "FakeQuantWithMinMaxVarsPerChannel": (F23, LOWS, HIGHS, {"narrow_range": True}),
    "FakeQuantWithMinMaxVarsPerChannelGradient": (floats(2, 3, start=0.5), F23, LOWS, HIGHS),
    # patches.py
    "ExtractImagePatches": [(IMAGES, PATCHES), (IMAGES, VALID)],
    "ExtractVolumePatches": (floats(2, 3, 4, 5, 1), {
        "ksizes": [1, 2, 3, 2, 1], "strides": [1, 1, 2, 2, 1], "padding": "SAME"}),
    # morphology.py
    "Dilation2D": [(IMAGES, FILTER, DILATION), (IMAGES, FILTER, dict(DILATION, padding="VALID"))],
    "Dilation2DBackpropInput": (IMAGES, FILTER, floats(2, 3, 4, 3, start=0.5), DILATION),
    "Dilation2DBackpropFilter": (IMAGES, FILTER, floats(2, 3, 4, 3, start=0.5), DILATION),
    # pooling_fractional.py
    "FractionalMaxPool": [(IMAGES, RATIO), (IMAGES, SHARED)],
    "FractionalAvgPool": [(IMAGES, RATIO), (IMAGES, SHARED)],
    "FractionalMaxPoolGrad": (IMAGES, floats(2, 3, 2, 3), floats(2, 3, 2, 3, start=0.5), *CUTS,
                              {"overlapping": True}),
    "FractionalAvgPoolGrad": (np.int64([2, 5, 4, 3]), floats(2, 3, 2, 3, start=0.5), *CUTS),
    # sorting.py
    "LowerBound": (np.float32([[1, 3, 5, 7], [2, 4, 4, 6]]), np.float32([[3, 0, 9], [4, 5, 7]])),
    "UpperBound": (np.float32([[1, 3, 5, 7], [2, 4, 4, 6]]), np.float32([[3, 0, 9], [4, 5, 7]])),
    "NthElement": [(F23, ints(1)), (floats(2, 4, 3), ints(0), {"reverse": True})],
    # repeating.py, edit_distance.py, fingerprint.py, facts.py
    "UnravelIndex": [(ints([22, 41, 37]), ints([7, 6])), (ints(37), ints([7, 6]))],
    "EditDistance": [SEQUENCES, (*SEQUENCES, {"normalize": False})],
    "Fingerprint": [(I23, np.array(b"farmhash64", object)),
                    (np.array([[b"a", b"b"], [b"c", b""], [b"d", b"d"]], object),
                     np.array(b"farmhash64", object))],
    "Fact": (),
    "Timestamp": (),
    # image_suppression_combined.py
    "CombinedNonMaxSuppression": [
        (BOXES, SCORES, ints(2), ints(5), np.float32(0.5), np.float32(0.25)),
        (BOXES, SCORES, ints(1), ints(5), np.float32(0.5), np.float32(0.25),
         {"pad_per_class": True})],
    # random_gamma_slope.py
    "RandomGammaGrad": [(np.float32([0.5, 1.5, 4.0]), np.float32([[0.2, 1.25, 3.0]])),
                        (np.float32([[2.0], [0.75]]), np.float32([0.5, 1.5, 4.0]))],
    # random_stateless.py
    "StatelessRandomUniform": (ints([2, 3]), SEED),
    "StatelessRandomNormal": (ints([2, 3]), SEED),
    "StatelessTruncatedNormal": (ints([2, 3]), SEED),
    "StatelessRandomUniformInt": (ints([2, 3]), SEED, ints(3), ints(9)),
}  # fmt: skip
