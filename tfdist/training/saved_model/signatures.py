"""Signatures of a SavedModel: named inputs and outputs of one use of its graph.

Source: TF 1.15 API documentation, tf.saved_model.signature_def_utils and tf.saved_model.utils.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph import scopes
from tfdist.graph.operation import Tensor
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.protos import pb
from tfdist.training.saved_model import names

# tensors


def build_tensor_info(tensor: Any) -> Any:
    """Return the TensorInfo that names a tensor, with its type and shape.

    Args:
      tensor: a Tensor, Variable or SparseTensor.

    Example:
      >>> x = placeholder(float32, [None, 2], name="x")
      >>> saved_model.utils.build_tensor_info(x).name
      'x:0'
    """
    if not (isinstance(tensor, SparseTensor) or hasattr(tensor, "dtype")):
        raise AttributeError(
            f"build_tensor_info takes a Tensor, Variable or SparseTensor, not {tensor!r}"
        )
    info = pb.TensorInfo(
        dtype=tensor.dtype.as_datatype_enum, tensor_shape=tensor.get_shape().as_proto()
    )
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Any = None, import_scope: str | None = None
) -> Any:
    """Return the Tensor or SparseTensor that a TensorInfo names.

    Args:
      tensor_info: the TensorInfo.
      graph: that has the tensor; the default graph by default.
      import_scope: scope that the graph was imported into.

    Raises:
      KeyError: the tensor is not there.
    """
    graph = scopes.get_default_graph() if graph is None else graph

    def tensor(name: str) -> Tensor:
        scoped = f"{import_scope.rstrip('/')}/{name}" if import_scope else name
        return graph.get_tensor_by_name(scoped)  # type: ignore[no-any-return]

    if tensor_info.WhichOneof("encoding") == "coo_sparse":
        sparse = tensor_info.coo_sparse
        parts = (
            sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name,
        )  # fmt: skip
        return SparseTensor(*map(tensor, parts))
    return tensor(tensor_info.name)


# signatures


def build_signature_def(
    inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
) -> Any:  # fmt: skip
    """Return the SignatureDef of some TensorInfos.

    Args:
      inputs: TensorInfos by name.
      outputs: TensorInfos by name.
      method_name: what it is for, such as `PREDICT_METHOD_NAME`.

    Example:
      >>> x = placeholder(float32, [], name="x")
      >>> info = saved_model.utils.build_tensor_info(x)
      >>> build = saved_model.signature_def_utils.build_signature_def
      >>> build({"in": info}, {"out": info}, "copy").outputs["out"].name
      'x:0'
    """
    signature = pb.SignatureDef(method_name=method_name or "")
    for infos, given in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for key, info in (given or {}).items():
            infos[key].CopyFrom(pb.reparse(info))
    return signature


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """Return the SignatureDef of a prediction: any tensors in, any out.

    Args:
      inputs: tensors by name.
      outputs: tensors by name.

    Raises:
      ValueError: there are no inputs or no outputs.

    Example:
      >>> x = placeholder(float32, [], name="x")
      >>> predict = saved_model.signature_def_utils.predict_signature_def
      >>> predict({"x": x}, {"y": 2.0 * x}).method_name
      'tensorflow/serving/predict'
    """
    for what, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ValueError(f"Prediction {what} cannot be None or empty.")
    return _signature(inputs, outputs, names.PREDICT_METHOD_NAME)


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """Return the SignatureDef of a regression: Examples in, floats out.

    Args:
      examples: strings, serialized Examples.
      predictions: floats.

    Raises:
      ValueError: one is None, or of another type.
    """
    _check("Regression examples", examples, dtypes.string)
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    _check("Regression output", predictions, dtypes.float32)
    return _signature(
        {names.REGRESS_INPUTS: examples}, {names.REGRESS_OUTPUTS: predictions},
        names.REGRESS_METHOD_NAME,
    )  # fmt: skip


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """Return the SignatureDef of a classification: Examples in, classes and scores out.

    Args:
      examples: strings, serialized Examples.
      classes: strings, or None.
      scores: floats, or None.

    Raises:
      ValueError: there is nothing that comes out, or one is of another type.
    """
    _check("Classification examples", examples, dtypes.string)
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        _check("Classification classes", classes, dtypes.string)
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = classes
    if scores is not None:
        _check("Classification scores", scores, dtypes.float32)
        outputs[names.CLASSIFY_OUTPUT_SCORES] = scores
    return _signature({names.CLASSIFY_INPUTS: examples}, outputs, names.CLASSIFY_METHOD_NAME)


def _check(what: str, tensor: Any, dtype: DType) -> None:
    if tensor is None:
        raise ValueError(f"{what} cannot be None.")
    if tensor.dtype.base_dtype != dtype:
        wanted = "string" if dtype == dtypes.string else "float"
        raise ValueError(f"{what} must be a {wanted} Tensor.")


def _signature(inputs: Mapping[str, Any], outputs: Mapping[str, Any], method: str) -> Any:
    return build_signature_def(_infos(inputs), _infos(outputs), method)


def _infos(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def is_valid_signature(signature_def: Any) -> bool:
    """Return whether a server knows what to do with a SignatureDef.

    Args:
      signature_def: the SignatureDef.

    Example:
      >>> saved_model.signature_def_utils.is_valid_signature(None)
      False
    """
    if signature_def is None:
        return False
    match signature_def.method_name:
        case names.PREDICT_METHOD_NAME:
            return bool(signature_def.inputs and signature_def.outputs)
        case names.REGRESS_METHOD_NAME:
            keys = names.REGRESS_INPUTS, {names.REGRESS_OUTPUTS: pb.DataType.DT_FLOAT}
        case names.CLASSIFY_METHOD_NAME:
            keys = (
                names.CLASSIFY_INPUTS,
                {
                    names.CLASSIFY_OUTPUT_CLASSES: pb.DataType.DT_STRING,
                    names.CLASSIFY_OUTPUT_SCORES: pb.DataType.DT_FLOAT,
                },
            )
        case _:
            return False
    return _is_of_examples(signature_def, *keys)


def _is_of_examples(signature: Any, key: str, outputs: Mapping[str, int]) -> bool:
    """Return whether serialized Examples come in as `key`, and some of `outputs` come out."""
    return (
        set(signature.inputs) == {key}
        and signature.inputs[key].dtype == pb.DataType.DT_STRING
        and bool(signature.outputs)
        and all(info.dtype == outputs.get(name) for name, info in signature.outputs.items())
    )
