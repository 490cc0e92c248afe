"""tf.spectral: Fourier transforms, under their legacy home."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.signal.dct import dct, idct
    from tfdist.ops.signal.fft import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
    from tfdist.ops.signal.rfft import irfft, irfft2d, irfft3d, rfft, rfft2d, rfft3d

__getattr__, __dir__ = lazy(__name__, "tf.spectral")
