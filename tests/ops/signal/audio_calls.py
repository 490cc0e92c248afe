"""Calls of sound's ops that real TensorFlow and ours make.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `tests/ops/differential.py`. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/signal/audio_calls.py > tests/ops/signal/expected_audio_1_15.json
"""

from __future__ import annotations

import os
import re
import struct
import sys

import numpy as np

# `w(...)` is a WAV file of these samples, `sound(n, channels)` one of floats, `bands(...)` a
# spectrogram, `u(x)` a value whose shape is not known; `A` are the functions of sound.
CALLS = """
tf.audio.decode_wav(w([0, 1000, -1000, 32767, -32768, 5]))
tf.audio.decode_wav(w([1, 2, 3, 4], ch=2), name="d")
tf.audio.decode_wav(w([1, 2, 3, 4], ch=2), desired_channels=1)
tf.audio.decode_wav(w([1, 2, 3, 4]), desired_channels=2)
tf.audio.decode_wav(w([1, 2, 3, 4]), desired_samples=3)
tf.audio.decode_wav(w([1, 2, 3, 4]), desired_samples=9)
tf.audio.decode_wav(w([1, 2, 3, 4]), desired_channels=3, desired_samples=2)
tf.audio.decode_wav(w([1, 2, 3, 4, 5, 6], ch=3), desired_channels=2)
tf.audio.decode_wav(w([1, 2, 3, 4]), desired_samples=0)
tf.audio.decode_wav(w([1, 2, 3, 4]), desired_channels=0)
tf.audio.decode_wav(w([1, 2]), desired_channels=-2)
tf.audio.decode_wav(w([1, 2]), desired_samples=-2)
tf.audio.decode_wav([w([1, 2])])
tf.audio.decode_wav(w([1, 2], bits=8))
tf.audio.decode_wav(w([1, 2], bits=0))
tf.audio.decode_wav(w([1, 2], fmt=3))
tf.audio.decode_wav(w([1, 2], fmtsize=18))
tf.audio.decode_wav(w([1, 2], fmtsize=40))
tf.audio.decode_wav(w([1, 2], fmtsize=0))
tf.audio.decode_wav(w([1, 2], brate=1))
tf.audio.decode_wav(w([1, 2], align=1))
tf.audio.decode_wav(w([1, 2], ch=0))
tf.audio.decode_wav(w([1, 2], rate=0))
tf.audio.decode_wav(w([1, 2], riff=3))
tf.audio.decode_wav(w([1, 2], before=b"LIST" + u32(4) + b"abcd"))
tf.audio.decode_wav(w([1, 2], before=b"LIST" + u32(3) + b"abc"))
tf.audio.decode_wav(w([1, 2], before=b"LIST" + u32(3) + b"abc" + b"p"))
tf.audio.decode_wav(w([1, 2], before=b"LIST" + u32(2 ** 32 - 1)))
tf.audio.decode_wav(w([1, 2], after=b"zzz"))
tf.audio.decode_wav(w([1, 2], after=b"LIST" + u32(4) + b"abcd"))
tf.audio.decode_wav(w([1, 2], after=b"data" + u32(2) + b"ab"))
tf.audio.decode_wav(w([], data=b"abc"))
tf.audio.decode_wav(w([], data=b"abcdef", ch=2))
tf.audio.decode_wav(w([]))
tf.audio.decode_wav(w([1, 2], size=2 ** 31 - 1))
tf.audio.decode_wav(w([1, 2], size=2 ** 32 - 1))
tf.audio.decode_wav(b"")
tf.audio.decode_wav(w([1, 2])[:3])
tf.audio.decode_wav(w([1, 2])[:12])
tf.audio.decode_wav(w([1, 2])[:21])
tf.audio.decode_wav(w([1, 2])[:36])
tf.audio.decode_wav(w([1, 2])[:40])
tf.audio.decode_wav(w([1, 2])[:45])
tf.audio.decode_wav(b"RIFX" + w([1, 2])[4:])
tf.audio.decode_wav(w([1, 2]).replace(b"WAVE", b"WAVX"))
tf.audio.decode_wav(w([1, 2]).replace(b"fmt ", b"fmtx"))
tf.audio.encode_wav([[0., .5], [-.5, 1.], [-1., 2.], [.25, -3.], [.00001526, .0000305]], 8000)
tf.audio.encode_wav((np.arange(-12, 12)[:, None] / 4 / 32767).astype(np.float32), 8000)
tf.audio.encode_wav([[np.inf, -np.inf]], 2 ** 31 - 1, name="e")
tf.audio.encode_wav(np.array([[.5, 1.5, 2.5, -.5, -1.5, np.nan]], np.float32) / 32768, 8000)
tf.audio.encode_wav([1., 2.], 8000)
tf.audio.encode_wav([[1.]], [8000])
tf.audio.encode_wav([[1.]], 0)
tf.audio.encode_wav([[1.]], -1)
tf.audio.encode_wav(np.zeros([0, 1], np.float32), 8000)
tf.audio.encode_wav(np.zeros([3, 0], np.float32), 8000)
tf.audio.encode_wav(np.zeros([1, 70000], np.float32), 8000)
tf.audio.decode_wav(tf.audio.encode_wav(sound(5, 2), 16000))
A.audio_spectrogram(sound(24, 1), window_size=8, stride=4)
A.audio_spectrogram(sound(24, 1), window_size=8, stride=4, magnitude_squared=True, name="s")
A.audio_spectrogram(sound(24, 1), window_size=7, stride=3)
A.audio_spectrogram(sound(24, 1), 24, 5)
A.audio_spectrogram(sound(24, 1), window_size=4, stride=40)
A.audio_spectrogram(sound(24, 1), window_size=2, stride=5)
A.audio_spectrogram(sound(24, 1), window_size=3, stride=9)
A.audio_spectrogram(sound(24, 1), window_size=30, stride=5)
A.audio_spectrogram(sound(0, 1), window_size=4, stride=2)
A.audio_spectrogram(sound(9, 0), window_size=4, stride=2)
A.audio_spectrogram(sound(24, 1), window_size=1, stride=5)
A.audio_spectrogram(sound(24, 1), window_size=0, stride=5)
A.audio_spectrogram(sound(24, 1)[:, 0], window_size=8, stride=4)
A.audio_spectrogram(sound(24, 2), window_size=6, stride=6)
A.audio_spectrogram(sound(25, 2), window_size=8, stride=8)
A.audio_spectrogram(sound(24, 2), window_size=4, stride=12)
A.audio_spectrogram(sound(25, 2), window_size=4, stride=12)
A.audio_spectrogram(sound(24, 2), window_size=6, stride=5)
A.audio_spectrogram(u(sound(24, 1), [None, 1]), window_size=8, stride=4)
A.audio_spectrogram(u(sound(24, 1), None), window_size=8, stride=4)
A.mfcc(bands(1, 2, 65), 8000)
A.mfcc(bands(1, 2, 65), 16000, dct_coefficient_count=40)
A.mfcc(bands(2, 1, 65), 16000, 7000., 100., 10, 5, name="m")
A.mfcc(bands(1, 2, 65), 16000, filterbank_channel_count=4, dct_coefficient_count=5)
A.mfcc(bands(1, 2, 65), 16000, filterbank_channel_count=5, dct_coefficient_count=5)
A.mfcc(bands(1, 2, 65), 16000, filterbank_channel_count=60, dct_coefficient_count=3)
A.mfcc(bands(1, 2, 65), 16000, upper_frequency_limit=10.)
A.mfcc(bands(1, 2, 65), 16000, lower_frequency_limit=-1.)
A.mfcc(bands(1, 2, 65), 16000, lower_frequency_limit=4000.)
A.mfcc(bands(1, 2, 65), 16000, filterbank_channel_count=0)
A.mfcc(bands(1, 2, 65), 16000, dct_coefficient_count=0)
A.mfcc(bands(1, 2, 65), 1000)
A.mfcc(bands(1, 2, 65), 0)
A.mfcc(bands(1, 2, 65), [16000])
A.mfcc(bands(1, 2, 65)[0], 16000)
A.mfcc(bands(1, 2, 1), 8000)
A.mfcc(bands(1, 2, 0), 8000)
A.mfcc(-bands(1, 2, 65), 8000)
A.mfcc(u(bands(1, 2, 65), None), 8000)
A.mfcc(A.audio_spectrogram(sound(800, 1), 480, 160, magnitude_squared=True), 16000)
"""


def u32(number):
    """Return a length as it stands in a file."""
    return struct.pack("<I", number)


def w(samples, ch=1, rate=8000, bits=16, fmt=1, fmtsize=16, brate=None, align=None, riff=None,
      before=b"", after=b"", data=None, size=None):  # fmt: skip
    """Return a WAV file, with what is wrong in it."""
    data = np.asarray(samples, "<i2").tobytes() if data is None else data
    brate = rate * ch * bits // 8 if brate is None else brate
    align = ch * bits // 8 if align is None else align
    form = struct.pack("<IHHIIHH", fmtsize, fmt, ch, rate, brate, align, bits)
    form += b"\0" * max(0, fmtsize - 16)
    size = len(data) if size is None else size
    body = b"WAVEfmt " + form + before + b"data" + u32(size) + data + after
    return b"RIFF" + u32(len(body) if riff is None else riff) + body


def sound(length, channels):
    """Return floats in [-1, 1], [length, channels]."""
    at = np.arange(length * channels).reshape(channels, length).T
    return np.sin(at**1.3 * 0.1).astype(np.float32)


def bands(*shape):
    """Return what may be a spectrogram: floats of at least 0."""
    return np.abs(np.cos(np.arange(np.prod(shape)) * 0.37)).reshape(shape).astype(np.float32)


def names(tf, functions):
    """Return the names that the calls use besides those of `differential.environment`."""
    return {"A": functions, "w": w, "sound": sound, "bands": bands, "u32": u32,
            "u": tf.placeholder_with_default}  # fmt: skip


def described_call(tf, functions, source, evaluate):
    """Return what a call gives; of an error at a step its first words too."""
    from differential import described

    with tf.Graph().as_default() as graph:
        try:
            result = eval(source, {"tf": tf, "np": np, **names(tf, functions)})
        except (TypeError, ValueError) as error:
            return {"error": type(error).__name__}
        return described(graph, result, evaluate)


def main():
    """Print what this Python's TensorFlow makes of the calls."""
    import json

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import tensorflow as tf
    from tensorflow.python.ops import gen_audio_ops

    tf.logging.set_verbosity(tf.logging.ERROR)

    def evaluate(graph, results):
        with tf.Session(graph=graph) as session:
            return session.run(results)

    lines = []
    for source in re.findall(".+", CALLS):
        found = described_call(tf, gen_audio_ops, source, evaluate)
        lines.append(json.dumps(source) + ": " + json.dumps(found))
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
