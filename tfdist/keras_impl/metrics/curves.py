"""tf.keras.metrics of curves: counts of right and wrong answers at many thresholds.

Source: TF 1.15 API documentation, tf.keras.metrics.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.keras_impl.metrics.counts import FUZZ, KINDS, Counts, checked
from tfdist.ops.array.cast import cast
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum

__all__ = [
    "AUC", "SensitivityAtSpecificity", "SpecificityAtSensitivity",
]  # fmt: skip


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
