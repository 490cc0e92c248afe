"""tf.signal: spectra of signals, frames and windows."""

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
from tfdist.ops.spectra import fftshift, ifftshift
from tfdist.ops.spectra_frames import (
    frame,
    inverse_stft,
    inverse_stft_window_fn,
    overlap_and_add,
    stft,
)
from tfdist.ops.spectra_mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from tfdist.ops.spectra_windows import hamming_window, hann_window
from tfdist.programs.missing import told

__getattr__ = told("tf.signal")
