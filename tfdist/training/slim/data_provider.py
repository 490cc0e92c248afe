"""tf.contrib.slim.dataset_data_provider: tensors of a dataset's items.

Source: TF 1.15 API documentation, tf.contrib.slim.dataset_data_provider.DatasetDataProvider.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfdist.training.slim.parallel_reader import parallel_read

__all__ = ["DataProvider", "DatasetDataProvider"]


class DataProvider:
    """Tensors of items by their names.

    Args:
      items_to_tensors: the tensors by their names.
      num_samples: how many examples there are.
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Any) -> list[Any]:
        """Return the tensors of items.

        Args:
          items: a list of names.

        Raises:
          ValueError: it is no list, or there is no such item.
        """
        self._validate_items(items)
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Iterable[str]:
        """Return the names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int:
        """Return how many examples there are."""
        return self._num_samples

    def _validate_items(self, items: Any) -> None:
        if not isinstance(items, list | tuple):
            raise ValueError("items must be a list or tuple")
        valid = self.list_items()
        for item in items:
            if item not in valid:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {valid}")


class DatasetDataProvider(DataProvider):
    """Tensors of the next example of a dataset, which readers side by side read.

    Args:
      dataset: a `slim.dataset.Dataset`.
      num_readers: how many readers.
      reader_kwargs: arguments of each.
      shuffle: whether files and examples come in another order.
      num_epochs: how often each file is read; None for ever. The count is a local variable.
      common_queue_capacity: of the queue of records.
      common_queue_min: how many stay in it, where it is shuffled.
      record_key: the item that is a record's file and place.
      seed: of the order.
      scope: name of the readers' scope.

    Raises:
      ValueError: `record_key` is the name of an item.
    """

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, data = parallel_read(
            dataset.data_sources, dataset.reader, num_epochs, num_readers, reader_kwargs, shuffle,
            capacity=common_queue_capacity, min_after_dequeue=common_queue_min, seed=seed,
            scope=scope,
        )  # fmt: skip
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(data, items), strict=True))
        if record_key in tensors:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a dataset item: "
                f"{record_key}"
            )
        tensors[record_key] = key
        super().__init__(tensors, dataset.num_samples)
