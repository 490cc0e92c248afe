"""What a layer holds: variables, other layers, losses and updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.keras_impl.backend.graph_states import metric_of
from tfdist.keras_impl.engine.nodes import reached_from
from tfdist.keras_impl.metrics.means import Mean
from tfdist.models.layers.base import Layer
from tfdist.ops.variables.variable import Variable


class Holdings:
    """The part of `Layer` about its variables, losses and updates.

    Layers and variables that are its attributes, or in lists and dicts that are, belong to it.
    """

    _name: str
    built: bool
    inbound_nodes: list[Any]

    def _hold_nothing(self) -> None:
        self._trained: list[Any] = []
        self._kept: list[Any] = []
        self._later_losses: list[Callable[[], Any]] = []
        self._own_losses: list[Any] = []
        self._own_updates: list[Any] = []
        self._free_updates: list[Any] = []
        self._own_metrics: dict[str, tuple[Any, Any]] = {}  # by name, with the value

    def _hold(self, variable: Any, trained: bool, regularizer: Any) -> None:
        (self._trained if trained else self._kept).append(variable)
        if regularizer is not None:
            self._later_losses.append(lambda: _regularized(variable, regularizer))

    def _found(self) -> Iterator[Any]:
        """Yield all that the attributes hold."""
        for name, value in vars(self).items():
            if name not in _SKIPPED:
                yield from (value,) if not nest.is_nested(value) else _leaves(value)

    def _sublayers(self) -> list[Any]:
        """Return the layers it holds."""
        found = [each for each in self._found() if isinstance(each, Layer) and each.is_tracked]
        return unique(found)

    def _ask_for_resources(self) -> None:
        """Let layers of tf.layers that it holds make variables that keras' optimizers can train."""
        for each in self._found():
            if isinstance(each, Layer):
                each._use_resource = True

    def _own_variables(self) -> tuple[list[Any], list[Any]]:
        """Return its own variables: those that are trained, and the others."""
        trained, kept = list(self._trained), list(self._kept)
        held = {id(each) for each in trained + kept}
        for each in self._found():
            if isinstance(each, Variable) and id(each) not in held:
                held.add(id(each))
                (trained if each.trainable else kept).append(each)
        return trained, kept

    # variables

    @property
    def trainable(self) -> bool:
        """Return whether its variables are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._sublayers():
            layer.trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        """Return the variables that are trained."""
        if not self.trainable:
            return []
        nested = [each for layer in self._sublayers() for each in layer.trainable_weights]
        return unique(self._own_variables()[0] + nested)

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Return the variables that are not trained."""
        trained, kept = self._own_variables()
        nested = [each for layer in self._sublayers() for each in layer.non_trainable_weights]
        return unique(kept + nested if self.trainable else trained + kept + nested)

    @property
    def weights(self) -> list[Any]:
        """Return its variables: those that are trained, then the others."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """Return its variables: those that are trained, then the others."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        """Return the variables that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Return the variables that are not trained."""
        return self.non_trainable_weights

    # losses and updates

    @property
    def losses(self) -> list[Any]:
        """Return the losses that were added, and those of regularizers; each time anew."""
        found = self._own_losses + self._regularizations()
        return found + [each for layer in self._sublayers() for each in layer.losses]

    def _regularizations(self) -> list[Any]:
        found = [each() for each in self._later_losses]
        return [each for each in found if each is not None]

    @property
    def updates(self) -> list[Any]:
        """Return the operations that were added, to be run beside training."""
        if not self.trainable:
            return []
        nested = [each for layer in self._sublayers() for each in layer.updates]
        return unique(self._own_updates + self._free_updates + nested)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add a loss, or a list of them; a function is asked for it each time."""
        for each in losses if isinstance(losses, list | tuple) else [losses]:
            (self._later_losses if callable(each) else self._own_losses).append(each)

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Let training tell the mean of a tensor, or a metric's value.

        Args:
          value: tensor, or what a metric gave.
          aggregation: "mean"; None for what a metric gave.
          name: of the metric.

        Raises:
          ValueError: name or aggregation is missing, or another one than "mean".
        """
        check_added_metric(value, aggregation, name)
        metric = metric_of(value)
        if metric is not None:  # of several with one name, as several calls make them, the first
            self._own_metrics.setdefault(metric.name, (metric, value))
            return
        known = self._own_metrics.get(str(name))
        metric = known[0] if known else Mean(name)
        self._own_metrics[metric.name] = metric, metric(value)

    @property
    def metrics(self) -> list[Any]:
        """Return the metrics that were added, to this layer and to those that it holds."""
        own = [metric for metric, _ in self._own_metrics.values()]
        return own + [each for layer in self._sublayers() for each in _metrics(layer)]

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add an operation, or a list of them, that runs beside training."""
        for each in updates if isinstance(updates, list | tuple) else [updates]:
            made = each() if callable(each) else each
            if isinstance(made, tuple):
                made = made[0].assign(made[1])
            self._own_updates.append(getattr(made, "op", made))

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Return the losses that depend on `inputs`; None for those of no inputs."""
        return self._for(self.losses, inputs)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Return the updates that depend on `inputs`; None for those of no inputs."""
        return self._for(self.updates, inputs)

    def _for(self, found: list[Any], inputs: Any) -> list[Any]:
        given = nest.flatten(inputs) if inputs is not None else self._all_inputs()
        reached = reached_from(given)
        return [each for each in found if (_op(each) in reached) is (inputs is not None)]

    def _all_inputs(self) -> list[Any]:
        own = super()._all_inputs()  # type: ignore[misc]
        return own + [each for layer in self._sublayers() for each in layer._all_inputs()]


# attributes that hold what the layer does not
_SKIPPED = frozenset({
    "_trained", "_kept", "inbound_nodes", "outbound_nodes", "_own_losses", "_own_updates",
    "_free_updates", "_later_losses", "_own_metrics",
})  # fmt: skip


def check_added_metric(value: Any, aggregation: str | None, name: str | None) -> None:
    """Raise ValueError if a layer can't tell this as a metric."""
    if aggregation not in (None, "mean"):
        raise ValueError(
            "only the mean over samples can be told of a tensor, by aggregation='mean', not "
            f"{aggregation!r}; a `tf.keras.metrics.Metric` can tell anything else"
        )
    if metric_of(value) is not None:
        return
    if name is None:
        raise ValueError(
            f"Please provide a name for the metric of {value}, like add_metric(value, "
            "name='mean_activation', aggregation='mean')"
        )
    if aggregation is None:
        raise ValueError(
            f"{value} is not what a `tf.keras.metrics.Metric` gave, so its state could not be "
            "reset after an epoch: call such a metric on it, or give aggregation='mean'"
        )


def _metrics(layer: Any) -> list[Any]:
    return getattr(layer, "metrics", [])  # layers of tf.layers have none


def _leaves(value: Any) -> Iterator[Any]:
    for each in value.values() if hasattr(value, "values") else value:
        if nest.is_nested(each):
            yield from _leaves(each)
        else:
            yield each


def unique(found: Iterable[Any]) -> list[Any]:
    return list({id(each): each for each in found}.values())


def _regularized(variable: Any, regularizer: Any) -> Any:
    with scopes.name_scope(f"{variable.op.name}/Regularizer"):
        return regularizer(variable)


def _op(made: Any) -> Any:
    return getattr(made, "op", made)
