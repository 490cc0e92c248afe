"""What an answer to a malformed message must look like."""

from __future__ import annotations

import re

from tfdist import errors
from tfdist.errors import OpError

# Words of Python, NumPy and protobuf: whoever reads them learns of us, not of their mistake.
_LEAKS = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning)\b(?<!OpError)|Traceback \(|recursion depth"
    r"|not supported between|unsupported operand|object is not|object has no|has no attribute"
    r"|codec can't|codec could not|not subscriptable|unhashable|NoneType|object at 0x"
    r"|(?<!object of type )<class '"  # TensorFlow's own phrase
    r"|list index|tuple index|string index|list index out|out of bounds for axis|cannot unpack"
    r"|values to unpack|positional argument|keyword argument|cannot be interpreted|must be str"
    r"|must be real number|invalid literal|could not convert string to|can't convert"
    r"|numpy\.|np\.|ndarray|ufunc|cannot reshape array|could not be broadcast|could not broadcast"
    r"|operands could not|shape mismatch|array is too big|Maximum allowed dimension"
    r"|setting an array|sequence item|required argument|missing \d+ required|too large to convert"
    r"|\bdtype\(|DType\(|cannot convert (?:float|complex)"
    r"|Error parsing|descriptor|a bytes-like object|dictionary changed|argument of type"
    r"|negative dimensions are not allowed|must be an integer|zero-size array"
)
# the names of our own classes may stand in a text
_OURS = re.compile(r"\b(?:" + "|".join(n for n in dir(errors) if n.endswith("Error")) + r")\b")

# Why an answer may be INTERNAL or UNKNOWN: (key phrase, reason). Nothing else may.
ALLOWED: dict[str, str] = {}


def complaint(error: OpError) -> str:
    """Return what is wrong with an error as an answer, "" if nothing is."""
    text = error.message
    if error.error_code in (errors.INTERNAL, errors.UNKNOWN) and not _is_allowed(text):
        return f"{type(error).__name__}, which tells of a fault of ours"
    if not errors.OK < error.error_code <= errors.UNAUTHENTICATED:
        return f"status {error.error_code} does not exist"
    if not text.strip():
        return "no text"
    leak = _LEAKS.search(_OURS.sub("", text))
    return f"words that are not ours: {leak[0]!r}" if leak else ""


def _is_allowed(text: str) -> bool:
    return any(phrase in text for phrase in ALLOWED)
