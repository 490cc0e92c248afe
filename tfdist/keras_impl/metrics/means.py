"""tf.keras.metrics as objects: sums and means of values.

Source: TF 1.15 API documentation, tf.keras.metrics.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.keras_impl.metrics.metric import Metric, Reduce
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow import identity_group

__all__ = [
    "Mean", "MeanRelativeError", "MeanTensor", "RootMeanSquaredError", "Sum",
]  # fmt: skip


class Mean(Reduce):
    """The mean of all values.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.Mean().name
      'mean'
    """

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(name, dtype)


class Sum(Reduce):
    """The sum of all values.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.Sum().name
      'sum'
    """

    is_mean = False

    def __init__(self, name: str | None = "sum", dtype: Any = None) -> None:
        super().__init__(name, dtype)


class MeanTensor(Metric):
    """The mean of tensors, element by element.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.MeanTensor().name
      'mean_tensor'
    """

    def __init__(self, name: str | None = "mean_tensor", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self._shape: Any = None

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Return an operation that adds a tensor; the first one tells the shape."""
        values = cast(convert_to_tensor(values), self._dtype)
        if self._shape is None:
            self._shape = values.shape
            self.total = self.add_weight("total", values.shape.as_list(), initializer="zeros")
            self.count = self.add_weight("count", values.shape.as_list(), initializer="zeros")
        elif values.shape != self._shape:
            raise ValueError(
                f"MeanTensor input values must always have the same shape. Expected shape (set "
                f"during the first call): {self._shape}. Got: {values.shape}"
            )
        number = raw.OnesLike(values)
        if sample_weight is not None:
            weights = cast(convert_to_tensor(sample_weight), self._dtype)
            number = number * weights
            values = values * weights
        return identity_group.group(self.total.assign_add(values), self.count.assign_add(number))

    def result(self) -> Any:
        """Return the mean."""
        if self._shape is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or "
                "use `.update_state(value)` before retrieving the result."
            )
        return raw.DivNoNan(self.total.value(), self.count.value())


class MeanRelativeError(Reduce):
    """The mean of differences divided by normalizers.

    Args:
      normalizer: what differences are divided by.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.MeanRelativeError([1.0]).name
      'mean_relative_error'
    """

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.normalizer = normalizer

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Return an operation that adds a batch."""
        y_pred = cast(convert_to_tensor(y_pred), self._dtype)
        size = raw.Abs(cast(convert_to_tensor(y_true), self._dtype) - y_pred)
        parts = raw.DivNoNan(size, cast(convert_to_tensor(self.normalizer), self._dtype))
        return super().update_state(parts, sample_weight)

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        return {**super().get_config(), "normalizer": self.normalizer}


class RootMeanSquaredError(Reduce):
    """The root of the mean of the squares of differences.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.RootMeanSquaredError().name
      'root_mean_squared_error'
    """

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Return an operation that adds a batch."""
        y_pred = cast(convert_to_tensor(y_pred), self._dtype)
        y_true = cast(convert_to_tensor(y_true), self._dtype)
        return super().update_state(raw.SquaredDifference(y_pred, y_true), sample_weight)

    def result(self) -> Any:
        """Return the root of the mean."""
        return raw.Sqrt(super().result())
