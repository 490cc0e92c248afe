"""Single batches: what users give for one, and what a model does with it.

Source: TF 1.15 API documentation, tf.keras.Model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl.backend.sessions import with_values
from tfdist.keras_impl.engine.training.compile import Compiled
from tfdist.keras_impl.engine.training.data import (
    arrays_of,
    check_lengths,
    check_targets,
    target_shape,
    weights_of,
)
from tfdist.keras_impl.engine.training.losses import Goal


class TrainsOnBatches(Compiled):
    """What takes one batch at a time."""

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:
        """Train with one batch, and return its loss, or a list of loss and metrics.

        Args:
          x: array, or a list or dictionary of arrays.
          y: what is wanted, in the same form.
          sample_weight: what each sample counts.
          class_weight: what each class counts.
          reset_metrics: whether metrics are those of this batch alone.
        """
        return self._on_batch("train", x, y, sample_weight, class_weight, reset_metrics)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """Return the loss of one batch, or a list of loss and metrics.

        See `train_on_batch` for the arguments.
        """
        return self._on_batch("test", x, y, sample_weight, None, reset_metrics)

    def _on_batch(self, kind: str, x: Any, y: Any, weight: Any, classes: Any, resets: bool) -> Any:
        self._require_compiled()
        inputs, targets, weights = self._batch_of(x, y, weight, classes)
        found = self._steps.function(kind, bool(weights))(*inputs, *targets, *weights)
        if resets:
            self.reset_metrics()
        return found[0] if len(found) == 1 else list(found)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for one batch.

        Args:
          x: array, or a list or dictionary of arrays.
        """
        inputs = self._inputs_of(x)
        found = self._predicting()(*inputs)
        return found[0] if len(found) == 1 else list(found)

    def _inputs_of(self, x: Any) -> list[Any]:
        (x,) = with_values(x)
        if not self.inputs:
            self._set_inputs(x)  # type: ignore[attr-defined]
        shapes = [
            None if each.shape.ndims is None else tuple(each.shape.as_list())
            for each in self.inputs
        ]
        return arrays_of(x, self.input_names, shapes, "input")

    def _batch_of(self, x: Any, y: Any, weight: Any = None, classes: Any = None) -> Any:
        """Return flat lists of inputs, targets and weights."""
        x, y, weight = with_values(x, y, weight)
        inputs, steps = self._inputs_of(x), self._steps
        trained: list[tuple[Goal, Any]] = steps.trained
        if not trained and y is not None:
            raise ValueError(
                f"got y, but the model is trained for none of its outputs {self.output_names}: "
                "its losses are those of `add_loss` and of regularizers"
            )
        if not steps._own_targets:
            return inputs, [], []
        if y is None:
            raise ValueError(
                "You must give `y`, what is wanted, beside `x`: the model is trained for "
                f"{[goal.name for goal, _ in trained]}"
            )
        names = [goal.name for goal, _ in trained]
        y = [y[each] for each in names] if isinstance(y, Mapping) and set(names) < set(y) else y
        targets = arrays_of(y, names, [target_shape(*each) for each in trained], "target")
        check_targets([goal for goal, _ in trained], [each for _, each in trained], targets)
        mode = (self._settings or {})["sample_weight_mode"]
        weights = weights_of(weight, classes, names, targets, mode)
        check_lengths(inputs, targets, weights)
        return inputs, targets, weights
