"""tf.quantization: numbers as small integers."""

from tfdist.ops.quantization import dequantize, quantize, quantize_and_dequantize
from tfdist.ops.quantization_fake import *
from tfdist.programs.missing import told

__getattr__ = told("tf.quantization")
