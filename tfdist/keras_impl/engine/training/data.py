"""What users give to train with, as flat lists of arrays, checked against a model.

Source: TF 1.15 API documentation, tf.keras.Model.fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.keras_impl.engine.training.losses import SAME_SHAPE, SPARSE, Goal
from tfdist.keras_impl.losses import losses as functions

Shape = tuple[int | None, ...]


def arrays_of(
    data: Any, names: Sequence[str], shapes: Sequence[Shape | None], what: str
) -> list[Any]:
    """Return the arrays for inputs or outputs of these names, in their order.

    Args:
      data: array, list or dictionary of arrays, or a data frame.
      names: of inputs or outputs.
      shapes: theirs; None for any.
      what: "input" or "target", for errors.

    Raises:
      ValueError: one is missing, one too many, or of another shape.
    """
    found = [_array(each) for each in _listed(data, list(names), what)]
    found = [each if each.ndim > 1 else each.reshape(-1, 1) for each in found]
    for name, array, shape in zip(names, found, shapes, strict=True):
        _check_shape(name, array, shape, what)
    return found


def _array(value: Any) -> Any:
    if type(value).__module__.startswith("pandas"):
        value = value.values
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _listed(data: Any, names: list[str], what: str) -> list[Any]:
    if isinstance(data, Mapping):
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(
                f'No data provided for "{missing[0]}". Need data for each key in: {names}'
            )
        return [data[name] for name in names]
    is_list = isinstance(data, list | tuple)
    if not is_list:
        data = [data]
    elif len(names) == 1 and not (len(data) == 1 and np.ndim(data[0]) > 0):
        if not (data and isinstance(data[0], np.ndarray) and len(data) != 1 and data[0].ndim > 1):
            data = [np.asarray(data)]
    if len(data) != len(names):
        raise ValueError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to "
            f"your model is not the size the model expected. Expected to see {len(names)} "
            f"array(s), for {names}, but instead got {len(data)}"
        )
    return list(data)


def _check_shape(name: str, array: Any, shape: Shape | None, what: str) -> None:
    if shape is None:
        return
    if array.ndim != len(shape):
        raise ValueError(
            f"Error when checking {what}: expected {name} to have {len(shape)} dimensions, but got "
            f"array with shape {array.shape}"
        )
    differs = [
        want is not None and want != got
        for want, got in zip(shape[1:], array.shape[1:], strict=True)
    ]
    if any(differs):
        raise ValueError(
            f"Error when checking {what}: expected {name} to have shape {_shown(shape[1:])} but "
            f"got array with shape {array.shape[1:]}"
        )


def _shown(shape: Shape) -> str:
    return str(tuple(shape))


def target_shape(goal: Goal, output: Any) -> Shape | None:
    """Return the shape that what is wanted of an output must have; None for any."""
    if output.shape.ndims is None:
        return None
    shape = tuple(output.shape.as_list())
    if goal.function is SPARSE:
        return (*shape[:-1], 1)
    known = {getattr(functions, name) for name in functions.__all__}
    return None if goal.function not in known else (*shape[:-1], None)


def check_targets(goals: Sequence[Goal], outputs: Sequence[Any], targets: Sequence[Any]) -> None:
    """Raise ValueError if what is wanted does not fit a loss."""
    for goal, output, target in zip(goals, outputs, targets, strict=True):
        if goal.function not in SAME_SHAPE:
            continue
        shape = output.shape.as_list()
        is_classes = goal.function is functions.categorical_crossentropy
        if is_classes and target.shape[-1] == 1 and shape[-1] != 1:
            raise ValueError(
                f"You are passing a target array of shape {target.shape} while using as loss "
                "`categorical_crossentropy`. `categorical_crossentropy` expects targets to be "
                "binary matrices (1s and 0s) of shape (samples, classes). If your targets are "
                "integer classes, tf.keras.utils.to_categorical makes such matrices of them, and "
                "the loss `sparse_categorical_crossentropy` takes them as they are."
            )
        pairs = zip(target.shape[1:], shape[1:], strict=False)
        if any(want is not None and want != got for got, want in pairs):
            raise ValueError(
                f"A target array with shape {target.shape} was passed for an output of shape "
                f"{tuple(shape)} while using as loss `{goal.function.__name__}`. This loss expects "
                "targets to have the same shape as the output."
            )


def check_lengths(inputs: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any]) -> None:
    """Raise ValueError unless all arrays have the same number of samples."""
    for what, arrays in (("x", inputs), ("y", targets)):
        if len({len(each) for each in arrays}) > 1:
            raise ValueError(
                f"All input arrays ({what}) should have the same number of samples. Got array "
                f"shapes: {[each.shape for each in arrays]}"
            )
    if inputs and targets and len(inputs[0]) != len(targets[0]):
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. Found "
            f"{len(inputs[0])} input samples and {len(targets[0])} target samples."
        )
    for weight, target in zip(weights, targets, strict=False):
        if weight.shape[0] != target.shape[0]:
            raise ValueError(
                f"Found a sample_weight array with shape {weight.shape} for an input with shape "
                f"{target.shape}. sample_weight cannot be broadcast."
            )


def weights_of(
    sample_weight: Any, class_weight: Any, names: Sequence[str], targets: Sequence[Any],
    mode: Any = None,
) -> list[Any]:  # fmt: skip
    """Return the weights of samples for each output; an empty list if none are given.

    Args:
      sample_weight: array, or list or dictionary of arrays by output.
      class_weight: dictionary from class to weight, or one for each output.
      names: of the outputs with a loss.
      targets: what is wanted of them.
      mode: "temporal" for weights of time steps.

    Raises:
      ValueError: one has too many axes, or a class has no weight.
    """
    if sample_weight is None and class_weight is None:
        return []
    given = _by_output(sample_weight, names)
    classes = _by_output(class_weight, names, of_dicts=True)
    rows = zip(names, given, classes, targets, strict=True)
    return [_weight(*each, mode) for each in rows]


def _by_output(given: Any, names: Sequence[str], of_dicts: bool = False) -> list[Any]:
    if given is None:
        return [None] * len(names)
    is_named = isinstance(given, Mapping) and (not of_dicts or set(given) <= set(names))
    if is_named:
        return [given.get(name) for name in names]
    if isinstance(given, list | tuple) and len(given) == len(names) and np.ndim(given[0]) > 0:
        return list(given)
    return [given, *[None] * (len(names) - 1)]


def _weight(name: str, given: Any, classes: Any, target: Any, mode: Any) -> Any:
    mode = mode.get(name) if isinstance(mode, Mapping) else mode
    shape = target.shape[:2] if mode == "temporal" else target.shape[:1]
    weight: Any = np.ones(shape, np.float32)
    if given is not None:
        weight = np.asarray(given, np.float32)
        if weight.ndim == 2 and weight.shape[1] == 1 and mode is None:
            weight = weight[:, 0]
        if weight.ndim > 1 and mode != "temporal":
            raise ValueError(
                f"Found a sample_weight array with shape {weight.shape}. In order to use "
                'timestep-wise sample weights, you should specify sample_weight_mode="temporal" '
                "in compile(). If you just mean to use sample-wise weights, make sure your "
                "sample_weight array is 1D."
            )
    if classes is not None:
        weight = weight * _class_weights(classes, target)
    return weight


def _class_weights(classes: Mapping[Any, Any], target: Any) -> Any:
    if target.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    numbers = target.argmax(1) if target.shape[1] > 1 else target[:, 0]
    unique, places = np.unique(numbers, return_inverse=True)
    missing = {int(each) for each in unique if each not in classes}
    if missing:
        raise ValueError(
            "`class_weight` must contain all classes in the data. The classes "
            f"{missing} exist in the data but not in `class_weight`."
        )
    return np.asarray([classes[each] for each in unique], np.float32)[places.ravel()]
