"""tf.contrib.signal: frames and windows, under their earlier home."""

from tfdist.api.signal import (
    frame,
    hamming_window,
    hann_window,
    inverse_stft,
    inverse_stft_window_fn,
    linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms,
    overlap_and_add,
    stft,
)
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.signal")
