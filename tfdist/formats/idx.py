"""idx: arrays as the MNIST files have them, gzipped or not.

Bytes 0, 0, the type, the rank; the length of each dimension, four bytes each, the highest first;
then the elements by rows, the highest byte first. Source: yann.lecun.com, "The MNIST database".
"""

from __future__ import annotations

import gzip
import math
import os
from typing import Any

import numpy as np

from tfdist.errors import DataLossError

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_GZIP = b"\x1f\x8b"


def read_idx(path: str | os.PathLike[str]) -> np.ndarray[Any, Any]:
    """Return the array of an idx file, in this machine's byte order.

    Raises:
      DataLossError: the file is not whole, or is no idx file.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse_idx(gzip.decompress(data) if data.startswith(_GZIP) else data)
    except (ValueError, EOFError, OSError) as error:
        raise DataLossError(f"{os.fspath(path)} is no whole idx file: {error}") from None


def parse_idx(data: bytes) -> np.ndarray[Any, Any]:
    """Return the array that these bytes hold; ValueError if they hold none."""
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _TYPES:
        raise ValueError(f"it begins with {data[:4]!r}, not with two zeros, a type and a rank")
    rank, dtype = data[3], np.dtype(_TYPES[data[2]])
    start = 4 + 4 * rank
    shape = [int.from_bytes(data[at : at + 4], "big") for at in range(4, start, 4)]
    wanted = start + dtype.itemsize * math.prod(shape)
    if len(data) != wanted:
        raise ValueError(f"it has {len(data)} bytes, but shape {shape} takes {wanted}")
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)


def write_idx(path: str | os.PathLike[str], array: np.ndarray[Any, Any]) -> None:
    """Write an array as an idx file, gzipped if the path ends with ".gz".

    Raises:
      ValueError: its type is none of the six that the format has.
    """
    big = array.dtype.newbyteorder(">")
    kind = next((kind for kind, name in _TYPES.items() if np.dtype(name) == big), None)
    if kind is None:
        raise ValueError(f"idx files hold no {array.dtype}, but {', '.join(_TYPES.values())}")
    sizes = np.array(array.shape, ">u4").tobytes()
    data = bytes([0, 0, kind, array.ndim]) + sizes + array.astype(big, copy=False).tobytes()
    with open(path, "wb") as file:
        file.write(gzip.compress(data, 1) if os.fspath(path).endswith(".gz") else data)
