"""Layers that losses and metrics of tensors are in a functional network.

`add_loss` and `add_metric` put them behind the tensor, so that the layers it is computed by are
the network's: trained, saved and told with the others.

Source: TF 1.15 API documentation, tf.keras.Model; what networks say they are made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.base import nest
from tfdist.graph.operation import Tensor
from tfdist.keras_impl.backend.graph_states import history_of, metric_of
from tfdist.keras_impl.engine.call_context import innermost
from tfdist.keras_impl.engine.graph_map import GraphMap
from tfdist.keras_impl.engine.layer import Layer, from_operations
from tfdist.keras_impl.engine.layer_tracking import check_added_metric


class AddLoss(Layer):
    """A layer that gives what it gets, which is a loss.

    Args:
      unconditional: whether the loss depends on no input.
    """

    def __init__(self, unconditional: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:
        """Return the inputs."""
        self.add_loss(inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """Return the settings."""
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """A layer that gives what it gets, of which training tells a metric.

    Args:
      aggregation: "mean".
      metric_name: of the metric.
    """

    def __init__(
        self, aggregation: str | None = None, metric_name: str | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.aggregation, self.metric_name = aggregation, metric_name

    def call(self, inputs: Any) -> Any:
        """Return the inputs."""
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """Return the settings."""
        return {
            **super().get_config(), "aggregation": self.aggregation,
            "metric_name": self.metric_name,
        }  # fmt: skip


class TakesInLayers(Layer):
    """The part of `Network` that takes in what is computed beside its outputs."""

    _map: GraphMap | None = None
    inputs: list[Any]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add a loss, or a list of them; a function is asked for it each time.

        A tensor's layers are those of a functional network from now on.

        Raises:
          ValueError: it is computed from tensors that the network's inputs do not tell.
        """
        for each in losses if isinstance(losses, list | tuple) else [losses]:
            if self._takes_in(each):
                self._take_in_tensor(each)
                self.take_in([AddLoss()(each)])
            else:
                super().add_loss(each, inputs)

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Let training tell the mean of a tensor, whose layers a functional network takes in.

        Args:
          value: tensor; in a subclassed network also what a metric gave.
          aggregation: "mean"; None for what a metric gave.
          name: of the metric.

        Raises:
          ValueError: name or aggregation is missing, or another one than "mean"; it is what a
            metric gave, and the network is functional.
        """
        if not self._takes_in(value):
            super().add_metric(value, aggregation, name)
            return
        check_added_metric(value, aggregation, name)
        if metric_of(value) is not None:
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a "
                f"functional model is not supported: {value} is one of "
                f"{metric_of(value).name!r}. Give the tensor that is measured itself."
            )
        self._take_in_tensor(value)
        self.take_in([AddMetric(aggregation, name)(value)])

    def _takes_in(self, value: Any) -> bool:
        """Return whether it is a tensor for which a functional network gets layers."""
        return self._map is not None and isinstance(value, Tensor) and innermost() is not self

    def _take_in_tensor(self, tensor: Any) -> None:
        if history_of(tensor) is None:
            from_operations([tensor])
        self.take_in([tensor])

    def take_in(self, tensors: list[Any]) -> list[Any]:
        """Make the layers that gave these tensors the network's own; return the new ones."""
        assert self._map is not None
        return self._map.insert(self.inputs, tensors)

    def take_in_layers(self, layers: Iterable[Any]) -> None:
        """Make layers the network's own, with the last call of each."""
        assert self._map is not None
        for each in layers:
            if all(each is not known for known in self._map.layers):
                self.take_in(nest.flatten(each.inbound_nodes[-1].outputs))
