"""WAV files, spectrograms and their coefficients beside what TensorFlow 1.15.5 makes of them."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.ops.differential import described
from tests.ops.signal.audio_calls import CALLS, names, u32, w
from tests.ops.test_differential import compare
from tfdist.errors import InvalidArgumentError
from tfdist.formats import wav
from tfdist.programs.inner_ops import RawNames
from tfdist.programs.stand_in import install, uninstall

EXPECTED = json.loads(
    Path(__file__).with_name("expected_audio_1_15.json").read_text(encoding="utf-8")
)


def run(graph, results):
    with tf.Session(graph=graph) as session:
        return session.run(results)


def outcome(source):
    with tf.Graph().as_default() as graph:
        try:
            result = eval(source, {"tf": tf, "np": np, **names(tf, RawNames())})
        except (TypeError, ValueError) as error:
            return {"error": type(error).__name__}
        return described(graph, result, run)


@pytest.mark.parametrize("source", CALLS.split("\n")[1:-1])
def test_a_call_has_the_nodes_and_values_of_tensorflow(source):
    found, wanted = outcome(source), EXPECTED[source]
    assert found.get("nodes") == wanted.get("nodes")
    compare(found, wanted)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        pytest.param(w([1, 2], bits=8), "Can only read 16-bit WAV files, but received 8"),
        pytest.param(w([1, 2], fmt=3), "Expected 1 (PCM), but got 3"),
        pytest.param(w([1, 2])[:45], "Data too short when trying to read"),
        pytest.param(w([1, 2])[:36], "No data chunk found in WAV"),
        pytest.param(b"RIFX" + w([1, 2])[4:], "Expected RIFF but found RIFX"),
        pytest.param(w([1, 2], size=2**31 - 1), "2147483646 bytes wanted, 4 are left"),
        pytest.param(w([1, 2], before=b"LIST" + u32(2**32 - 1)), "the limit is 2147483647"),
    ],
)  # fmt: skip
def test_what_is_told_of_a_file_that_cannot_be_read(file, said):
    with pytest.raises(InvalidArgumentError) as failure:
        wav.decode(file)
    assert said in failure.value.message


def test_a_header_cannot_make_a_file_large():
    file = w([1, 2], ch=32767, size=2**31 - 1)
    tracemalloc.start()
    with pytest.raises(InvalidArgumentError):
        wav.decode(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000


def test_the_input_of_a_program_that_recognises_speech():
    install()
    try:
        from tensorflow.contrib.framework.python.ops import audio_ops as contrib_audio
    finally:
        uninstall()
    with tf.Graph().as_default() as graph:
        file = contrib_audio.encode_wav(np.zeros([16000, 1], np.float32), 16000)
        decoded = contrib_audio.decode_wav(file, desired_channels=1, desired_samples=16000)
        spectrogram = contrib_audio.audio_spectrogram(
            decoded.audio, window_size=480, stride=160, magnitude_squared=True
        )
        mfcc = contrib_audio.mfcc(spectrogram, decoded.sample_rate, dct_coefficient_count=40)
        assert mfcc.shape.as_list() == [1, 98, 40]
        assert run(graph, mfcc).shape == (1, 98, 40)
