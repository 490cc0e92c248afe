"""tf.quantization: numbers as small integers."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.math.fake_quant import *
    from tfdist.ops.math.quantize import dequantize, quantize, quantize_and_dequantize

__getattr__, __dir__ = lazy(__name__, "tf.quantization")
