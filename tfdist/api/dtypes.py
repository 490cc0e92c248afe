"""tf.dtypes: element types, and conversions between them."""

from tfdist.base.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from tfdist.base.dtypes import bool_ as bool
from tfdist.ops.cast import cast, saturate_cast
from tfdist.ops.complex_numbers import complex
from tfdist.ops.string_numbers import as_string
from tfdist.programs.missing import told

half, double = float16, float64

__getattr__ = told("tf.dtypes")
