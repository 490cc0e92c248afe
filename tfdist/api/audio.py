"""tf.audio: sounds as WAV files."""

from tfdist.ops import audio_features as _audio_features
from tfdist.ops.audio import *
from tfdist.programs.missing import told

__getattr__ = told("tf.audio")
