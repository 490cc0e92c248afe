"""tf.keras.metrics from counts of right and wrong answers, at one threshold or at many.

Source: TF 1.15 API documentation, tf.keras.metrics.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.weights import fitted, remove_squeezable_dimensions
from tfdist.networks.metric import Metric
from tfdist.ops import control
from tfdist.ops.cast import cast
from tfdist.ops.comparison import where
from tfdist.ops.reductions import reduce_sum
from tfdist.ops.shaping import reshape

__all__ = [
    "AUC", "FalseNegatives", "FalsePositives", "MeanIoU", "Precision", "Recall",
    "SensitivityAtSpecificity", "SpecificityAtSensitivity", "TrueNegatives", "TruePositives",
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
        return control.group(*changes)

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


def evenly(number: int) -> list[float]:
    """Return thresholds that are evenly spread, the first below 0 and the last above 1."""
    inner = [(each + 1) / (number - 1) for each in range(number - 2)]
    return [-FUZZ, *inner, 1.0 + FUZZ]


class AUC(Counts):
    """The area under a curve of two parts, as the threshold moves.

    Args:
      num_thresholds: of the sum that the area is.
      curve: "ROC": right among labels yes over wrong among labels no; or "PR": precision over
        recall.
      summation_method: "interpolation", "minoring" or "majoring".
      name: of the metric.
      dtype: of its variables.
      thresholds: numbers from 0 to 1, instead of their number.

    Example:
      >>> keras.metrics.AUC(num_thresholds=3).thresholds
      [-1e-07, 0.5, 1.0000001]
    """

    KINDS = tuple(KINDS)

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC",
        summation_method: str = "interpolation", name: str | None = None, dtype: Any = None,
        thresholds: Any = None,
    ) -> None:  # fmt: skip
        if curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value "{curve}"; there are "ROC" and "PR".')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(
                f'Invalid AUC summation method value "{summation_method}"; there are '
                '"interpolation", "minoring" and "majoring".'
            )
        if thresholds is not None:
            all_thresholds = [-FUZZ, *sorted(checked(list(thresholds))), 1.0 + FUZZ]
        elif num_thresholds <= 1:
            raise ValueError("`num_thresholds` must be > 1.")
        else:
            all_thresholds = evenly(num_thresholds)
        super().__init__(name, dtype, all_thresholds)
        self.thresholds, self.num_thresholds = all_thresholds, len(all_thresholds)
        self.curve, self.summation_method = curve, summation_method

    def result(self) -> Any:
        """Return the area."""
        tp, tn, fp, fn = self._values()
        if self.curve == "PR" and self.summation_method == "interpolation":
            return _between_points(tp, fp, fn)
        recall = raw.DivNoNan(tp, tp + fn)
        if self.curve == "ROC":
            x, y = raw.DivNoNan(fp, fp + tn), recall
        else:
            x, y = recall, raw.DivNoNan(tp, tp + fp)
        first, second = y[:-1], y[1:]
        heights = {
            "interpolation": lambda: (first + second) / 2.0,
            "minoring": lambda: raw.Minimum(first, second),
            "majoring": lambda: raw.Maximum(first, second),
        }[self.summation_method]()
        return reduce_sum((x[:-1] - x[1:]) * heights)

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        return {
            **super().get_config(), "num_thresholds": self.num_thresholds, "curve": self.curve,
            "summation_method": self.summation_method, "thresholds": self.thresholds[1:-1],
        }  # fmt: skip


def _between_points(tp: Any, fp: Any, fn: Any) -> Any:
    """Return the area under precision over recall, right between points: by counts.

    Source: Davis and Goadrich 2006, The relationship between Precision-Recall and ROC curves.
    """
    answers = tp + fp
    d_tp, d_answers = tp[:-1] - tp[1:], answers[:-1] - answers[1:]
    slope = raw.DivNoNan(d_tp, raw.Maximum(d_answers, 0.0))
    intercept = tp[1:] - slope * answers[1:]
    is_positive = raw.LogicalAnd(answers[:-1] > 0.0, answers[1:] > 0.0)
    ratio = raw.DivNoNan(answers[:-1], raw.Maximum(answers[1:], 0.0))
    safe = where(is_positive, ratio, raw.OnesLike(answers[1:]))
    part = slope * (d_tp + intercept * raw.Log(safe))
    return reduce_sum(raw.DivNoNan(part, raw.Maximum(tp[1:] + fn[1:], 0.0)))


class _AtRate(Counts):
    """A rate, at the threshold where another is nearest to what is wanted."""

    KINDS = tuple(KINDS)
    WANTED: ClassVar[str]

    def __init__(self, wanted: float, num_thresholds: int, name: str | None, dtype: Any) -> None:
        if not 0 <= wanted <= 1:
            raise ValueError(f"`{self.WANTED}` must be in the range [0, 1], got {wanted}.")
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        super().__init__(name, dtype, [0.5] if num_thresholds == 1 else evenly(num_thresholds))
        self.num_thresholds, self._wanted = num_thresholds, wanted

    def _rates(self) -> tuple[Any, Any]:
        """Return sensitivity and specificity at all thresholds."""
        tp, tn, fp, fn = self._values()
        return raw.DivNoNan(tp, tp + fn), raw.DivNoNan(tn, tn + fp)

    def _at(self, rate: Any, other: Any) -> Any:
        nearest = raw.ArgMin(raw.Abs(other - self._wanted), 0)
        return raw.GatherV2(rate, cast(nearest, dtypes.int32), 0)

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the metric again."""
        config = {"num_thresholds": self.num_thresholds, self.WANTED: self._wanted}
        return {**super().get_config(), **config}


class SensitivityAtSpecificity(_AtRate):
    """The part of labels yes that are found, at a threshold: that of a part of noes found.

    Args:
      specificity: the part of labels no that are found.
      num_thresholds: among which it looks.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.SensitivityAtSpecificity(0.5).name
      'sensitivity_at_specificity'
    """

    WANTED = "specificity"

    def __init__(
        self, specificity: float, num_thresholds: int = 200, name: str | None = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(specificity, num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Any:
        """Return the sensitivity."""
        return self._at(*self._rates())


class SpecificityAtSensitivity(_AtRate):
    """The part of labels no that are found, at a threshold: that of a part of yeses found.

    Args:
      sensitivity: the part of labels yes that are found.
      num_thresholds: among which it looks.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.SpecificityAtSensitivity(0.5).name
      'specificity_at_sensitivity'
    """

    WANTED = "sensitivity"

    def __init__(
        self, sensitivity: float, num_thresholds: int = 200, name: str | None = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(sensitivity, num_thresholds, name, dtype)
        self.sensitivity = sensitivity

    def result(self) -> Any:
        """Return the specificity."""
        sensitivity, specificity = self._rates()
        return self._at(specificity, sensitivity)


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
