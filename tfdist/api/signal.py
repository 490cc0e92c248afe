"""tf.signal: spectra of signals, frames and windows."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.spectral import (
        dct,
        fft,
        fft2d,
        fft3d,
        idct,
        ifft,
        ifft2d,
        ifft3d,
        irfft,
        irfft2d,
        irfft3d,
        rfft,
        rfft2d,
        rfft3d,
    )
    from tfdist.ops.signal.fft import fftshift, ifftshift
    from tfdist.ops.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
    from tfdist.ops.signal.stft import (
        frame,
        inverse_stft,
        inverse_stft_window_fn,
        overlap_and_add,
        stft,
    )
    from tfdist.ops.signal.window_functions import hamming_window, hann_window

__getattr__, __dir__ = lazy(__name__, "tf.signal")
