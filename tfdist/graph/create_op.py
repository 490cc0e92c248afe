"""`create_op`: a node from tensors and messages, as `Graph.create_op` takes them.

Source: TF 1.15 API documentation, tf.Graph.create_op.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tfdist.base import dtypes as types
from tfdist.base.aliases import AttrValue, TensorLike
from tfdist.base.dtypes import DTypeLike
from tfdist.graph.build import build
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.tensor_proto import attr_from_proto


def create_op(
    graph: Graph,
    op_type: str,
    inputs: Sequence[Tensor],
    dtypes: Sequence[DTypeLike] | None = None,
    input_types: Sequence[DTypeLike] | None = None,
    name: str | None = None,
    attrs: Mapping[str, AttrValue] | None = None,
    op_def: object = None,
    compute_shapes: bool = True,
    compute_device: bool = True,
) -> Operation:
    """Return a new operation of `graph`.

    Args:
      graph: the graph that it is added to.
      op_type: name of the op.
      inputs: its tensors, those of lists one after the other.
      dtypes: types of the outputs, which the op and its attributes tell already.
      input_types: types of the inputs, which are references where variables themselves are meant.
      name: made unique; the op's name by default. With "/" at its end it stays as it is.
      attrs: `AttrValue` messages by name; the types of tensors need not be told.
      op_def: taken, and not used: the op that is registered here counts.
      compute_shapes: taken, and not used: shapes are always found.
      compute_device: taken, and not used: device scopes always apply.

    Raises:
      TypeError: an input is no tensor, or not of the type that is asked for.
      NotFoundError: there is no such op.
      ValueError: number or shapes of the inputs do not fit.
    """
    _check_inputs(inputs, input_types)
    known = graph.op_def(op_type)
    plain = {key: attr_from_proto(value) for key, value in (attrs or {}).items()}
    with graph.as_default():
        final = _final_name(graph, name or op_type)
        # "/" says that the name is taken as it is
        build(known, _grouped(known, list(inputs), plain), plain, f"{final}/")
    return graph.get_operation_by_name(final)


def _check_inputs(inputs: Sequence[Tensor], input_types: Sequence[DTypeLike] | None) -> None:
    for position, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"Input #{position} is not a tensor: {tensor!r}")
    wanted = [tensor.dtype.base_dtype for tensor in inputs] if input_types is None else input_types
    found = [tensor.dtype for tensor in inputs]
    if len(found) != len(wanted) or not all(
        types.as_dtype(w).is_compatible_with(f) for w, f in zip(wanted, found, strict=True)
    ):
        raise TypeError(f"In op: input types ({found}) are not compatible with expected types "
                        f"({list(wanted)})")  # fmt: skip


def _final_name(graph: Graph, name: str) -> str:
    return name[:-1] if name.endswith("/") else graph.unique_name(name)


def _grouped(op_def: OpDef, inputs: list[Tensor], attrs: dict[str, AttrValue]) -> list[TensorLike]:
    """Return a tensor or a list of tensors for each input of the op's signature."""
    args = op_def.signature.inputs
    lists = [arg for arg in args if arg.is_list]
    rest = len(inputs) - (len(args) - len(lists))
    if len(lists) == 1 and lists[0].number:  # nothing else can have taken them
        attrs.setdefault(lists[0].number, rest)
    left = iter(inputs)
    values: list[Any] = []
    for arg in args:
        part = list(itertools.islice(left, arg.count(attrs)))
        values.append(part if arg.is_list else part[0] if part else None)
    if next(left, None) is not None or any(value is None for value in values):
        raise ValueError(
            f"{op_def.name} takes {len(args)} inputs, the lists {[arg.name for arg in lists]} "
            f"among them; {len(inputs)} tensors do not fit"
        )
    return values


# Messages stay out of the class itself.
Graph.create_op = create_op  # type: ignore[attr-defined]
