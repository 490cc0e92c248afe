"""The functions of sounds, for programs that recognise speech.

Source: TF 1.15, tensorflow.contrib.framework.python.ops.audio_ops.
"""

from tfdist.ops.signal.wav import decode_wav, encode_wav
from tfdist.programs.inner_ops import RawNames

__all__ = ["audio_spectrogram", "decode_wav", "encode_wav", "mfcc"]

audio_spectrogram = RawNames().audio_spectrogram
mfcc = RawNames().mfcc
