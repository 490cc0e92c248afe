"""tf.contrib.slim.dataset: what a set of examples in files is.

Source: TF 1.15 API documentation, tf.contrib.slim.dataset.Dataset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Dataset"]


class Dataset:
    """Where examples are, and how they are read.

    Args:
      data_sources: files, or a pattern of their names.
      reader: class of the reader, such as `tf.TFRecordReader`.
      decoder: makes items of a record, as `tfexample_decoder.TFExampleDecoder` does.
      num_samples: how many examples there are.
      items_to_descriptions: dict from items to what they are.
      **kwargs: other attributes.

    Example:
      >>> made = contrib.slim.dataset.Dataset("/data/*", TFRecordReader, None, 3, {}, classes=10)
      >>> made.num_samples, made.classes
      (3, 10)
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int,
        items_to_descriptions: Mapping[str, str],
        **kwargs: Any,
    ) -> None:
        self.__dict__.update(
            kwargs, data_sources=data_sources, reader=reader, decoder=decoder,
            num_samples=num_samples, items_to_descriptions=items_to_descriptions,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        """Tell which attribute there is not."""
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}; it was made with "
            f"{', '.join(sorted(vars(self)))}",
            name=name, obj=self,
        )  # fmt: skip
