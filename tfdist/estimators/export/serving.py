"""What a SavedModel takes, and how features come of it.

Source: TF 1.15 API documentation, tf.estimator.export.ServingInputReceiver and those beside it;
messages by experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.operation import Tensor
from tfdist.ops.array.constants import placeholder, placeholder_with_default
from tfdist.ops.io.parse_example import parse_example
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = [
    "ServingInputReceiver", "TensorServingInputReceiver", "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
]  # fmt: skip


class _Fields(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


class ServingInputReceiver(_Fields):
    """What a SavedModel takes, and the features that come of it.

    Args:
      features: a tensor, or a dict of tensors.
      receiver_tensors: placeholders: one, or a dict of them.
      receiver_tensors_alternatives: a dict of such, for further signatures.

    Raises:
      ValueError: something is no tensor.

    Example:
      >>> x = placeholder(float32, [None, 1])
      >>> sorted(estimator.export.ServingInputReceiver(x, x).features)
      ['feature']
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> ServingInputReceiver:
        """Return a receiver, checked."""
        if features is None:
            raise ValueError("features must be defined.")
        found = features if isinstance(features, Mapping) else {"feature": features}
        for name, each in found.items():
            _check_tensor(f"feature {name}", each)
        return super().__new__(
            cls, dict(found), _receivers(receiver_tensors), _others(receiver_tensors_alternatives)
        )


class TensorServingInputReceiver(_Fields):
    """What a SavedModel takes, for a model whose features are one tensor.

    Args:
      features: a tensor.
      receiver_tensors: placeholders: one, or a dict of them.
      receiver_tensors_alternatives: a dict of such, for further signatures.

    Raises:
      ValueError: something is no tensor.

    Example:
      >>> x = placeholder(float32, [None, 1])
      >>> estimator.export.TensorServingInputReceiver(x, x).features is x
      True
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        """Return a receiver, checked."""
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor("feature", features)
        return super().__new__(
            cls, features, _receivers(receiver_tensors), _others(receiver_tensors_alternatives)
        )


def _check_tensor(what: str, value: Any) -> None:
    if not isinstance(value, Tensor | SparseTensor):
        raise ValueError(f"{what} must be a Tensor or SparseTensor.")


def _receivers(given: Any) -> dict[str, Any]:
    if given is None:
        raise ValueError("receiver_tensors must be defined.")
    found = given if isinstance(given, Mapping) else {"input": given}
    for name, each in found.items():
        _check_tensor(f"receiver_tensor {name}", each)
    return dict(found)


def _others(given: Mapping[str, Any] | None) -> Any:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {given}.")
    return {name: _receivers(each) for name, each in given.items()}


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Return a function that makes a receiver of serialized Examples.

    Args:
      feature_spec: what is in an Example; see `tf.feature_column.make_parse_example_spec`.
      default_batch_size: how many Examples come at once; any number by default.

    Example:
      >>> spec = {"x": FixedLenFeature([1], float32)}
      >>> estimator.export.build_parsing_serving_input_receiver_fn(spec)().receiver_tensors
      {'examples': <tf.Tensor 'input_example_tensor:0' shape=(?,) dtype=string>}
    """

    def receiver() -> ServingInputReceiver:
        serialized = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        features = parse_example(serialized, feature_spec)
        return ServingInputReceiver(features, {"examples": serialized})

    return receiver


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Return a function that makes a receiver of the features themselves.

    Args:
      features: a dict of tensors, whose types and shapes are taken.
      default_batch_size: how many rows come at once; any number by default.

    Example:
      >>> x = placeholder(float32, [None, 2], name="x")
      >>> given = estimator.export.build_raw_serving_input_receiver_fn({"x": x})
      >>> given().receiver_tensors["x"].shape
      TensorShape([Dimension(None), Dimension(2)])
    """

    def receiver() -> ServingInputReceiver:
        found = {name: _placeholder(each, default_batch_size) for name, each in features.items()}
        return ServingInputReceiver(found, found)

    return receiver


def _placeholder(tensor: Any, batch_size: int | None) -> Any:
    """Return a placeholder of the type and shape of a tensor."""
    shape = tensor.get_shape()
    dims = TensorShape([batch_size]).concatenate(shape[1:]) if shape.ndims else shape
    if tensor.op.type == "PlaceholderWithDefault":
        return placeholder_with_default(tensor.op.inputs[0], dims, name=tensor.op.name)
    return placeholder(tensor.dtype, dims, name=tensor.op.name)
