"""tf.contrib.signal: frames and windows, under their legacy home."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
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

__getattr__, __dir__ = lazy(__name__, "tf.contrib.signal")
