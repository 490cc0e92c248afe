"""tf.keras.metrics by name: which function or object a name, or a configuration, stands for.

Source: TF 1.15 API documentation, tf.keras.metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl.losses import losses
from tfdist.keras_impl.metrics import counts as metrics_counts
from tfdist.keras_impl.metrics import curves, wrapped
from tfdist.keras_impl.metrics import functions as metrics_functions
from tfdist.keras_impl.metrics import means as metrics_means
from tfdist.keras_impl.metrics.metric import Metric, serialize
from tfdist.keras_impl.serialization import deserialize_keras_object

__all__ = ["Metric", "deserialize", "get", "serialize"]

_MODULES = (
    losses, metrics_functions, metrics_means, wrapped, metrics_counts, curves,
)  # fmt: skip


def known() -> dict[str, Any]:
    """Return all metrics by name; losses are metrics, too."""
    named = {name: getattr(module, name) for module in _MODULES for name in module.__all__}
    return {**named, "accuracy": metrics_functions.accuracy}


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the metric that `serialize` told of.

    Args:
      config: its name, or a dictionary of class and settings.
      custom_objects: a program's own metrics, by name.

    Raises:
      ValueError: there is no such metric.

    Example:
      >>> keras.metrics.deserialize("mae").__name__
      'mean_absolute_error'
    """
    return deserialize_keras_object(config, known(), custom_objects, "metric function")


def get(identifier: Any) -> Any:
    """Return a metric: a function or Metric itself, or the one of this name.

    Args:
      identifier: name, dictionary of class and settings, function, or Metric.

    Raises:
      ValueError: it is none of these, or there is no such metric.

    Example:
      >>> keras.metrics.get("binary_accuracy").__name__
      'binary_accuracy'
    """
    if isinstance(identifier, str | Mapping):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
