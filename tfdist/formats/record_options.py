"""How TFRecord files are compressed, in the words of `tf.python_io`."""

from __future__ import annotations

from typing import Any


class TFRecordCompressionType:
    """The numbers of the compressions."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {
    None: "", TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB",
    TFRecordCompressionType.GZIP: "GZIP", "": "", "ZLIB": "ZLIB", "GZIP": "GZIP",
}  # fmt: skip


class TFRecordOptions:
    """How a TFRecord file is compressed.

    Args:
      compression_type: a number of `TFRecordCompressionType`, or "", "ZLIB", "GZIP".
      flush_mode: taken, and of no effect, as are the sizes of the buffers.
      input_buffer_size: see `flush_mode`.
      output_buffer_size: see `flush_mode`.
      window_bits: of zlib, as the next ones; all are chosen by zlib if they are None.
      compression_level: from 0 (none) to 9 (slow).
      compression_method: 8 is the only one.
      mem_level: from 1 to 9 (more memory).
      compression_strategy: from 0 to 4.

    Raises:
      ValueError: there is no such compression.
    """

    compression_type_map = _NAMES

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Return "", "ZLIB" or "GZIP".

        Args:
          options: a TFRecordOptions, a number, a name, or None.

        Raises:
          ValueError: there is no such compression.
        """
        if isinstance(options, cls):
            options = options.compression_type
        try:
            return _NAMES[options]
        except (KeyError, TypeError):
            raise ValueError(f'Not a valid compression_type: "{options}"') from None


compression_of = TFRecordOptions.get_compression_type_string
