"""Strings as checkpoints hold them: their lengths, a checksum of these, their bytes.

The lengths are varints; both checksums are of the lengths as uint32 (uint64 where they need it).
"""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import Any

import google_crc32c
import numpy as np

from tfdist.base.varints import read_varints, varints
from tfdist.errors import DataLossError
from tfdist.formats.tfrecord import masked

_CRC = struct.Struct("<I")


def strings_to_bytes(strings: list[bytes]) -> tuple[bytes, int]:
    """Return what stands in the file for `strings`, and its masked checksum."""
    lengths = [len(each) for each in strings]
    crc = google_crc32c.value(_fixed(lengths))
    content = _CRC.pack(masked(crc)) + b"".join(strings)
    return varints(lengths) + content, masked(google_crc32c.extend(crc, content))


def strings_from_bytes(data: bytes, count: int) -> tuple[Any, int]:
    """Return an array of `count` strings, and the masked checksum that goes with them.

    Raises:
      DataLossError: the bytes do not hold that many, or more.
    """
    try:
        lengths, at = read_varints(data, 0, count)
    except (IndexError, ValueError):
        raise DataLossError(f"its {len(data)} bytes do not begin with {count} lengths") from None
    start = at + _CRC.size
    if start + sum(lengths) != len(data):
        raise DataLossError(
            f"{count} strings of {sum(lengths)} bytes in all, and their lengths in {at} bytes, do "
            f"not make its {len(data)} bytes"
        )
    crc = google_crc32c.value(_fixed(lengths))
    if _CRC.unpack_from(data, at)[0] != masked(crc):
        raise DataLossError("the lengths of its strings have another checksum")
    ends = accumulate(lengths, initial=start)
    flat = np.empty(count, object)
    flat[:] = [data[end : end + length] for length, end in zip(lengths, ends, strict=False)]
    return flat, masked(google_crc32c.extend(crc, data[at:]))


def _fixed(lengths: list[int]) -> bytes:
    if max(lengths, default=0) < 1 << 32:
        return np.array(lengths, "<u4").tobytes()
    return b"".join(each.to_bytes(4 if each < 1 << 32 else 8, "little") for each in lengths)
