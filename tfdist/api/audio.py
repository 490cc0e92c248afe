"""tf.audio: sounds as WAV files."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.signal.wav import *

__getattr__, __dir__ = lazy(__name__, "tf.audio")
