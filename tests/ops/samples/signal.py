"""The samples of spectra and sound."""

from __future__ import annotations

import numpy as np

from .values import complexes, floats, ints

SOUND = np.sin(np.arange(24) ** 1.3 * 0.1).astype(np.float32)[:, None]
WAV = np.array(
    b"RIFF(\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0"
    b"data\x04\0\0\0\x01\0\0\x80", object)  # fmt: skip

SAMPLES = {
    # signal/fft.py, signal/rfft.py
    "FFT": (complexes(2, 3),),
    "FFT2D": (complexes(2, 3, 4),),
    "FFT3D": (complexes(2, 3, 4),),
    "IFFT": (complexes(2, 3),),
    "IFFT2D": (complexes(2, 3, 4),),
    "IFFT3D": (complexes(2, 3, 4),),
    **{f"Batch{way}{axes}": (complexes(2, 3, 4),)
       for way in ("FFT", "IFFT") for axes in ("", "2D", "3D")},
    "RFFT": [(floats(2, 6), ints([6])), (floats(2, 6), ints([5]))],
    "RFFT2D": [(floats(2, 4, 6), ints([4, 6])), (floats(2, 4, 6), ints([3, 5]))],
    "RFFT3D": (floats(2, 4, 6), ints([2, 3, 6])),
    "IRFFT": [(complexes(2, 4), ints([6])), (complexes(2, 4), ints([5]))],
    "IRFFT2D": [(complexes(2, 3, 4), ints([3, 6])), (complexes(2, 3, 4), ints([2, 5]))],
    "IRFFT3D": (complexes(2, 3, 4), ints([2, 3, 6])),
    # signal/wav.py, signal/audio_features.py
    "DecodeWav": [(WAV,), (WAV, {"desired_channels": 2, "desired_samples": 3})],
    "EncodeWav": (SOUND, ints(8000)),
    "AudioSpectrogram": [(SOUND, {"window_size": 7, "stride": 3}),
                         (SOUND, {"window_size": 8, "stride": 4, "magnitude_squared": True})],
    "Mfcc": (np.abs(SOUND[:22].reshape(1, 2, 11)), ints(8000), {"filterbank_channel_count": 4,
                                                               "dct_coefficient_count": 3}),
}  # fmt: skip
