"""Image files of some bytes that tell of more pixels than memory holds."""

import io
import struct
import zlib

from PIL import Image


def png(width: int, height: int) -> bytes:
    """Return a PNG file with a head of that size, and a body that is too short."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(100))
    parts = chunk(b"IHDR", head), chunk(b"IDAT", body), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def gif(width: int, height: int, frames: int = 1, frame: tuple[int, int] = (1, 1)) -> bytes:
    """Return a GIF file of that size, whose frames say that they are smaller."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    image = b"," + struct.pack("<HHHHB", 0, 0, *frame, 0) + b"\x02\x02\x44\x01\x00"
    return head + image * frames + b";"


def bmp(width: int, height: int) -> bytes:
    """Return the head of a BMP file of that size."""
    start = b"BM" + struct.pack("<IHHI", 100, 0, 0, 54)
    return start + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


def jpeg(width: int, height: int) -> bytes:
    """Return a JPEG file with a head of that size, and the body of a smaller one."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG")
    data = file.getvalue()
    at = data.index(b"\xff\xc0") + 5
    return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]
