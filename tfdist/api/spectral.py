"""tf.spectral: Fourier transforms, under their earlier home."""

from tfdist.ops.spectra import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from tfdist.ops.spectra_cosine import dct, idct
from tfdist.ops.spectra_real import irfft, irfft2d, irfft3d, rfft, rfft2d, rfft3d
from tfdist.programs.missing import told

__getattr__ = told("tf.spectral")
