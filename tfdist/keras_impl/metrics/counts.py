"""tf.keras.metrics from counts of right and wrong answers, at one threshold or at many.

Source: TF 1.15 API documentation, tf.keras.metrics.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.keras_impl.metrics.metric import Metric
from tfdist.models.losses.weights import fitted, remove_squeezable_dimensions
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import reshape
from tfdist.ops.control_flow import identity_group
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum

__all__ = [
    "FalseNegatives", "FalsePositives", "MeanIoU", "Precision", "Recall", "TrueNegatives",
    "TruePositives",
]  # fmt: skip


FUZZ = 1e-7
# What is counted -> whether the label is yes, whether the answer is.
KINDS = {
    "true_positives": (True, True),
    "true_negatives": (False, False),
    "false_positives": (False, True),
    "false_negatives": (True, False),
}


def checked(thresholds: Any) -> list[float]:
    """Return thresholds as a list.

    Raises:
      ValueError: one is not from 0 to 1.
    """
    listed = list(thresholds) if isinstance(thresholds, list | tuple) else [thresholds]
    wrong = [each for each in listed if each is None or not 0 <= each <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return listed


def counted(
    y_true: Any, y_pred: Any, sample_weight: Any, thresholds: Sequence[float],
    kinds: Collection[str], top_k: int | None = None, class_id: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return how many answers [thresholds] there are of each kind."""
    y_pred = cast(convert_to_tensor(y_pred), dtypes.float32)
    y_true = cast(convert_to_tensor(y_true), dtypes.float32)
    y_true, y_pred = remove_squeezable_dimensions(y_true, y_pred)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    if top_k is not None:
        y_pred = _only_top(y_pred, top_k)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    weights = None
    if sample_weight is not None:
        weights = fitted(cast(sample_weight, dtypes.float32), y_pred, widen=True)
        weights = reshape(weights + raw.ZerosLike(y_pred), [1, -1])
    is_yes = {True: cast(reshape(y_true, [1, -1]), dtypes.bool_)}
    says_yes = {True: raw.Greater(reshape(y_pred, [1, -1]), [[each] for each in thresholds])}
    is_yes[False], says_yes[False] = (raw.LogicalNot(each[True]) for each in (is_yes, says_yes))
    return {kind: _number(is_yes, says_yes, weights, kind) for kind in kinds}


def _number(is_yes: Any, says_yes: Any, weights: Any, kind: str) -> Any:
    label, answer = KINDS[kind]
    both = cast(raw.LogicalAnd(is_yes[label], says_yes[answer]), dtypes.float32)
    return reduce_sum(both if weights is None else both * weights, 1)


def _only_top(y_pred: Any, k: int) -> Any:
    """Return predictions, those below the k largest of an example as less than any threshold."""
    top = raw.TopKV2(y_pred, k, sorted=False)[0]
    least = raw.Min(top, [-1], keep_dims=True)
    return where(raw.GreaterEqual(y_pred, least), y_pred, raw.OnesLike(y_pred) * -1e10)


class Counts(Metric):
    """Counts answers at thresholds, in a variable [thresholds] for each kind."""

    KINDS: ClassVar[Sequence[str]] = ()

    def __init__(
        self, name: str | None, dtype: Any, thresholds: Sequence[float],
        variables: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(name, dtype)
        self._thresholds = list(thresholds)
        self.top_k: int | None = None
        self.class_id: int | None = None
        for variable in variables or self.KINDS:
            setattr(self, variable, self.add_weight(variable, [len(thresholds)]))
        self._counts = dict(zip(self.KINDS, self.weights, strict=True))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return an operation that adds a batch.

        Args:
          y_true: 1 for yes, 0 for no.
          y_pred: probabilities of yes.
          sample_weight: what each example, or answer, counts; None for 1.
        """
        found = counted(
            y_true, y_pred, sample_weight, self._thresholds, self.KINDS, self.top_k, self.class_id
        )
        changes = [self._counts[kind].assign_add(number) for kind, number in found.items()]
        return identity_group.group(*changes)

    def _values(self) -> list[Any]:
        return [self._counts[kind].value() for kind in self.KINDS]

    def _one_or_all(self, found: Any) -> Any:
        return found[0] if len(self._thresholds) == 1 else found


class _OneCount(Counts):
    """One kind of answers, counted."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        self.init_thresholds = thresholds
        listed = checked(0.5 if thresholds is None else thresholds)
        super().__init__(name, dtype, listed, ["accumulator"])

    def result(self) -> Any:
        """Return the count, or one for each threshold."""
        return convert_to_tensor(self._one_or_all(self._values()[0]))

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_OneCount):
    """How many answers are yes, and right.

    Args:
      thresholds: above one, the answer is yes; a number or several, 0.5 by default.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.TruePositives().name
      'true_positives'
    """

    KINDS = ("true_positives",)


class TrueNegatives(_OneCount):
    """How many answers are no, and right.

    Args:
      thresholds: above one, the answer is yes; a number or several, 0.5 by default.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.TrueNegatives().name
      'true_negatives'
    """

    KINDS = ("true_negatives",)


class FalsePositives(_OneCount):
    """How many answers are yes, and wrong.

    Args:
      thresholds: above one, the answer is yes; a number or several, 0.5 by default.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.FalsePositives().name
      'false_positives'
    """

    KINDS = ("false_positives",)


class FalseNegatives(_OneCount):
    """How many answers are no, and wrong.

    Args:
      thresholds: above one, the answer is yes; a number or several, 0.5 by default.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.FalseNegatives().name
      'false_negatives'
    """

    KINDS = ("false_negatives",)


class _Part(Counts):
    """The first kind of answers, as a part of both."""

    def __init__(
        self, thresholds: Any = None, top_k: int | None = None, class_id: int | None = None,
        name: str | None = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        default = 0.5 if top_k is None else -1e9
        listed = [default] if thresholds is None else checked(thresholds)
        super().__init__(name, dtype, listed)
        self.thresholds, self.top_k, self.class_id = thresholds, top_k, class_id

    def result(self) -> Any:
        """Return the part, or one for each threshold."""
        right, wrong = self._values()
        return self._one_or_all(raw.DivNoNan(right, right + wrong))

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        settings = {"thresholds": self.thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **settings}


class Precision(_Part):
    """The part of answers yes that are right.

    Args:
      thresholds: above one, the answer is yes; a number or several, 0.5 by default.
      top_k: the answer is yes for this many of the largest predictions of an example.
      class_id: the only class that counts.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.Precision().name
      'precision'
    """

    KINDS = ("true_positives", "false_positives")


class Recall(_Part):
    """The part of labels yes that are found.

    Args:
      thresholds: above one, the answer is yes; a number or several, 0.5 by default.
      top_k: the answer is yes for this many of the largest predictions of an example.
      class_id: the only class that counts.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.Recall().name
      'recall'
    """

    KINDS = ("true_positives", "false_negatives")


class MeanIoU(Metric):
    """The mean over classes of intersection over union.

    Args:
      num_classes: how many there are.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.MeanIoU(num_classes=2).name
      'mean_io_u'
    """

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight("total_confusion_matrix", [num_classes, num_classes])

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return an operation that adds a batch of numbers of classes."""
        pairs = [
            cast(reshape(convert_to_tensor(each), [-1]), dtypes.int64) for each in (y_true, y_pred)
        ]
        if sample_weight is None:
            weights = cast(raw.OnesLike(pairs[0]), self._dtype)
        else:
            weights = reshape(cast(sample_weight, self._dtype), [-1])
        places = raw.Pack(pairs, axis=1)
        matrix = raw.ScatterNd(places, weights, raw.Shape(self.total_cm.value(), out_type="int64"))
        return self.total_cm.assign_add(matrix)

    def result(self) -> Any:
        """Return the mean, over classes that there were."""
        matrix = self.total_cm.value()
        both = raw.MatrixDiagPart(matrix)
        either = raw.Add(reduce_sum(matrix, 0), reduce_sum(matrix, 1)) - both
        found = reduce_sum(cast(raw.NotEqual(either, 0.0), self._dtype))
        return raw.DivNoNan(reduce_sum(raw.DivNoNan(both, either)), found)

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        return {**super().get_config(), "num_classes": self.num_classes}
