"""tf.dtypes: element types, and conversions between them."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
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
    from tfdist.base.dtypes import float16 as half
    from tfdist.base.dtypes import float64 as double
    from tfdist.ops.array.cast import cast, saturate_cast
    from tfdist.ops.math.complex_parts import complex
    from tfdist.ops.strings.conversions import as_string

__getattr__, __dir__ = lazy(__name__, "tf.dtypes")
