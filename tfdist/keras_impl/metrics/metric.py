"""Metric: what a model achieves, added up over batches in variables of its own.

Source: TF 1.15 API documentation, tf.keras.metrics.Metric.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.keras_impl import initializers
from tfdist.keras_impl.backend.graph_states import numbered, set_metric, track_variable
from tfdist.keras_impl.backend.sessions import batch_set_value
from tfdist.keras_impl.serialization import serialize_keras_object
from tfdist.keras_impl.settings import floatx
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import squeeze
from tfdist.ops.control_flow import identity_group
from tfdist.ops.math.reductions import reduce_mean, reduce_sum
from tfdist.ops.variables.synchronization import VariableAggregation, VariableSynchronization
from tfdist.ops.variables.variable import Variable

Update = Callable[..., Any]


def _whole(update: Update) -> Update:
    """Return `update_state` so that it gives one operation for all that it changes."""

    def update_state(self: Any, *args: Any, **kwargs: Any) -> Any:
        graph = scopes.get_default_graph()
        before = len(graph.get_operations())
        found = update(self, *args, **kwargs)
        new = graph.get_operations()[before:]
        changes = [op for op in new if op.type.startswith(("Assign", "ResourceScatter"))]
        if not changes:
            return found
        whole = identity_group.group(*changes)
        self.updates.append(whole)
        return whole

    update_state._is_whole = True  # type: ignore[attr-defined]
    return update_state


class Metric:
    """What a model achieves; a subclass says how it is added up, and what it is then.

    A subclass makes variables by `add_weight`, changes them in
    `update_state(y_true, y_pred, sample_weight)`, and returns in `result()` what they say.

    Args:
      name: of the metric, as training tells it.
      dtype: of its variables.

    Example:
      >>> class Count(keras.metrics.Metric):
      ...     def __init__(self):
      ...         super().__init__("count")
      ...         self.number = self.add_weight("number", initializer="zeros")
      ...
      ...     def update_state(self, y_true, y_pred, sample_weight=None):
      ...         self.number.assign_add(cast(size(y_true), float32))
      ...
      ...     def result(self):
      ...         return self.number
      >>> metric = Count()
      >>> update = metric.update_state([1.0, 2.0], [1.0, 2.0])
      >>> with Session() as session:
      ...     session.run(metric.number.initializer)
      ...     session.run(update)
      ...     session.run(metric.result())
      np.float32(2.0)
    """

    is_tracked = False  # a metric among the attributes of a model is none of its layers
    stateful = True
    trainable = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        update = vars(cls).get("update_state")
        if update is not None:
            cls.update_state = _whole(update)  # type: ignore[method-assign]

    def __init__(self, name: str | None = None, dtype: Any = None, **_: Any) -> None:
        self.name = name or numbered(snake(type(self).__name__))
        self._dtype = dtypes.as_dtype(dtype or floatx())
        self.weights: list[Any] = []
        self.updates: list[Any] = []

    @property
    def dtype(self) -> Any:
        """The type of its variables."""
        return self._dtype.name

    @property
    def variables(self) -> list[Any]:
        """The variables that it adds up in."""
        return self.weights

    non_trainable_weights = non_trainable_variables = variables

    @property
    def trainable_weights(self) -> list[Any]:
        """None: training changes no variable of it."""
        return []

    trainable_variables = trainable_weights

    def add_weight(
        self, name: str, shape: Any = (), aggregation: Any = None, synchronization: Any = None,
        initializer: Any = None, dtype: Any = None,
    ) -> Any:  # fmt: skip
        """Return a new variable to add up in.

        Args:
          name: of the variable.
          shape: of the variable.
          aggregation: how replicas' values become one; SUM by default.
          synchronization: when they do; ON_READ by default.
          initializer: name or function; "zeros", for example.
          dtype: that of the metric by default.
        """
        dtype = dtypes.as_dtype(dtype or self._dtype)
        initial = initializers.get(initializer or "zeros")
        with scopes.init_scope():
            variable: Any = Variable(
                lambda: initial(list(shape), dtype=dtype), trainable=False, collections=[],
                name=name, dtype=dtype, use_resource=True,
                synchronization=synchronization or VariableSynchronization.ON_READ,
                aggregation=aggregation or VariableAggregation.SUM,
            )  # fmt: skip
        track_variable(variable)
        self.weights.append(variable)
        return variable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the metric is after it has taken what `update_state` takes."""
        update = self.update_state(*args, **kwargs)
        with scopes.control_dependencies([update]):
            value = raw.Identity(convert_to_tensor(self.result()))
        set_metric(value, self)
        return value

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Return an operation that adds a batch."""
        raise NotImplementedError(f"{type(self).__name__} must have a method update_state")

    def result(self) -> Any:
        """Return what the metric is, as a tensor."""
        raise NotImplementedError(f"{type(self).__name__} must have a method result")

    def reset_states(self) -> None:
        """Let the metric start anew."""
        batch_set_value([(each, zero_of(each)) for each in self.variables])

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        return {"name": self.name, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return the metric with these settings."""
        return cls(**config)


def zero_of(variable: Any) -> Any:
    """Return zeros of a variable's shape."""
    return np.zeros(variable.shape.as_list(), variable.dtype.as_numpy_dtype)


def snake(name: str) -> str:
    """Return a class's name as one of variables: "MeanIoU" is "mean_io_u"."""
    return re.sub(
        r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    ).lower()


class Reduce(Metric):
    """A sum of values, and of weights where `is_mean`."""

    is_mean = True

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self.add_weight("total", initializer="zeros")
        if self.is_mean:
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Return an operation that adds values.

        Args:
          values: tensor.
          sample_weight: what each value counts, or each row of values; None for 1.
        """
        values = cast(convert_to_tensor(values), self._dtype)
        weights = None
        if sample_weight is not None:
            values, weights = self._weighted(values, cast(sample_weight, self._dtype))
        changes = [self.total.assign_add(reduce_sum(values))]
        if self.is_mean:
            number = cast(raw.Size(values), self._dtype) if weights is None else weights
            changes.append(self.count.assign_add(number))
        return identity_group.group(*changes)

    def _weighted(self, values: Any, weights: Any) -> tuple[Any, Any]:
        """Return values times weights, and the sum of weights that each value has got."""
        rows, rank = weights.shape.ndims, values.shape.ndims
        if rows and rank and rows == rank + 1:
            weights = squeeze(weights, [-1])
        elif rows and rank and rows < rank:
            merge = reduce_mean if self.is_mean else reduce_sum
            values = merge(values, list(range(rows, rank)))
        weighted = values * weights
        if self.is_mean:
            return weighted, reduce_sum(weights + raw.ZerosLike(weighted))
        return weighted, weights

    def result(self) -> Any:
        """Return the mean, or the sum."""
        if self.is_mean:
            return raw.DivNoNan(self.total.value(), self.count.value())
        return self.total.value()


class MeanMetricWrapper(Reduce):
    """The mean of what a function of y_true and y_pred gives."""

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **settings: Any
    ) -> None:
        super().__init__(name, dtype)
        self._fn, self._settings = fn, settings

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Return an operation that adds a batch.

        Args:
          y_true: what is wanted.
          y_pred: what was found.
          sample_weight: what each example counts; None for 1.
        """
        y_pred = convert_to_tensor(y_pred)
        y_true = cast(convert_to_tensor(y_true), y_pred.dtype.base_dtype)
        y_true, y_pred = _without_axis(y_true, y_pred), _without_axis(y_pred, y_true)
        return super().update_state(self._fn(y_true, y_pred, **self._settings), sample_weight)

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        return {**super().get_config(), **self._settings}


def _without_axis(tensor: Any, other: Any) -> Any:
    """Return a tensor without its last axis, of size 1, where the other has none."""
    rank, others = tensor.shape.ndims, other.shape.ndims
    if rank and others and rank == others + 1 and tensor.shape.as_list()[-1] == 1:
        return squeeze(tensor, [-1])
    return tensor


def serialize(metric: Any) -> Any:
    """Return what tells of a metric: its name, or a dictionary of class and settings.

    Args:
      metric: function or Metric.

    Example:
      >>> keras.metrics.serialize(keras.metrics.MeanSquaredError())["class_name"]
      'MeanSquaredError'
    """
    return serialize_keras_object(metric)
