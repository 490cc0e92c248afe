"""tf.contrib.graph_editor: tensors that take other ways between nodes that are there.

A session that has run a node already may go on as it was: make it afterwards.

Source: TF 1.15 API documentation, tf.contrib.graph_editor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.models.graph_editor.select import make_list_of_op, make_list_of_t
from tfdist.models.graph_editor.subgraph import SubGraphView, make_view

__all__ = [
    "add_control_inputs", "bypass", "connect", "detach", "detach_control_inputs",
    "detach_control_outputs", "detach_inputs", "detach_outputs",
    "make_placeholder_from_dtype_and_shape", "make_placeholder_from_tensor", "ph",
    "placeholder_name", "remove_control_inputs", "reroute_inputs", "reroute_ios",
    "reroute_outputs", "reroute_ts", "swap_inputs", "swap_ios", "swap_outputs", "swap_ts",
]  # fmt: skip

_PREFIX = "geph"  # of the names of placeholders


# placeholders


def placeholder_name(t: Any = None, scope: str | None = None, prefix: str = _PREFIX) -> str:
    """Return the name of what stands for a tensor.

    Example:
      >>> contrib.graph_editor.placeholder_name(constant(1.0, name="a"))
      'geph__a_0'
    """
    within = f"{scope.removesuffix('/')}/" if scope else ""
    if t is None:
        return f"{within}{prefix}"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    own = scope is None and "/" in t.op.name
    where = t.op.name.rpartition("/")[0] + "/" if own else within
    return f"{where}{prefix}__{t.op.name.rpartition('/')[2]}_{t.value_index}"


def make_placeholder_from_tensor(
    t: Tensor, scope: str | None = None, prefix: str = _PREFIX
) -> Tensor:
    """Return a placeholder of the type and shape of a tensor.

    Example:
      >>> contrib.graph_editor.make_placeholder_from_tensor(constant(1.0, name="a")).name
      'geph__a_0:0'
    """
    return raw.Placeholder(  # type: ignore[no-any-return]
        dtype=t.dtype.base_dtype, shape=t.shape, name=placeholder_name(t, scope, prefix)
    )


def make_placeholder_from_dtype_and_shape(
    dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = _PREFIX
) -> Tensor:
    """Return a placeholder.

    Example:
      >>> contrib.graph_editor.ph("float32").name
      'geph:0'
    """
    return raw.Placeholder(  # type: ignore[no-any-return]
        dtype=dtype, shape=TensorShape(shape), name=placeholder_name(None, scope, prefix)
    )


ph = make_placeholder_from_dtype_and_shape


# tensors


def _swap(ts0: Any, ts1: Any, both: bool, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let the takers of each tensor of `ts1` take that of `ts0`, and the other way if `both`."""
    first, second = make_list_of_t(ts0), make_list_of_t(ts1)
    if len(first) != len(second):
        raise ValueError(f"there are {len(first)} tensors for {len(second)}")
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    forbidden = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    count = 0
    for one, other in zip(first, second, strict=True):
        if not one.dtype.is_compatible_with(other.dtype):
            raise ValueError(f"{one!r} and {other!r} are of different types")
        moves = [(other, one), *([(one, other)] if both else [])]
        takers = [[(op, i) for op in dict.fromkeys(old.consumers())
                   if op not in forbidden and (allowed is None or op in allowed)
                   for i, each in enumerate(op.inputs) if each is old]
                  for old, _ in moves]  # fmt: skip
        for (_, new), places in zip(moves, takers, strict=True):
            for op, index in places:
                op._update_input(index, new)
                count += 1
    return count


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let two tensors change places, for those that take them; return for how many inputs.

    Args:
      ts0: a tensor, or a list of them.
      ts1: a tensor, or a list of as many.
      can_modify: operations whose inputs may change; all by default.
      cannot_modify: operations whose inputs may not.

    Raises:
      ValueError: there are not as many, or the types differ.
    """
    return _swap(ts0, ts1, True, can_modify, cannot_modify)


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let those that take `ts1` take `ts0` instead; see `swap_ts`.

    Example:
      >>> a, b = constant(1.0), constant(2.0)
      >>> y = square(b)
      >>> contrib.graph_editor.reroute_ts(a, b)
      1
      >>> Session().run(y)
      np.float32(1.0)
    """
    return _swap(ts0, ts1, False, can_modify, cannot_modify)


# subgraphs


def _views(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    return _view(sgv0), _view(sgv1)


def _view(found: Any) -> SubGraphView:
    """Return a view of operations; a list of tensors is one that hands them on."""
    if isinstance(found, SubGraphView):
        return found
    is_list = isinstance(found, list | tuple)
    return make_view(*found) if is_list else make_view(found)


def _inputs(sgv0: Any, sgv1: Any, both: bool) -> tuple[SubGraphView, SubGraphView]:
    one, other = _views(sgv0, sgv1)
    old, new = other.inputs, one.inputs
    inside = [op for op in other.ops]
    _swap(new, old, False, can_modify=inside)
    if both:
        _swap(old, new, False, can_modify=one.ops)
    one._inputs, other._inputs = (old, new) if both else (one._inputs, new)
    return one, other


def _outputs(sgv0: Any, sgv1: Any, both: bool) -> tuple[SubGraphView, SubGraphView]:
    one, other = _views(sgv0, sgv1)
    _swap(one.outputs, other.outputs, both, cannot_modify=[*one.ops, *other.ops])
    return one, other


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let two subgraphs change what they take."""
    one, other = _views(sgv0, sgv1)
    _swap(one.inputs, other.inputs, True)
    return one, other


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let the second subgraph take what the first one takes."""
    return _inputs(sgv0, sgv1, False)


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let those outside who take from one subgraph take from the other."""
    return _outputs(sgv0, sgv1, True)


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let those outside who take from the second subgraph take from the first."""
    return _outputs(sgv0, sgv1, False)


def swap_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let two subgraphs change places."""
    swap_inputs(sgv0, sgv1)
    return swap_outputs(sgv0, sgv1)


def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let the first subgraph stand in the place of the second."""
    reroute_inputs(sgv1, sgv0)
    return reroute_outputs(sgv0, sgv1)


def connect(
    sgv0: Any, sgv1: Any, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Let the second subgraph take what the first one gives.

    Args:
      sgv0: a subgraph with as many outputs as the other has inputs.
      sgv1: a subgraph.
      disconnect_first: whether the first one's outputs go nowhere else, and the second one's
        inputs come from nowhere else before.

    Raises:
      ValueError: the numbers differ.
    """
    one, other = _views(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(one)
        detach_inputs(other)
    wanted = other.inputs
    if len(one.outputs) != len(wanted):
        raise ValueError(f"{len(one.outputs)} outputs cannot be {len(wanted)} inputs")
    _swap(one.outputs, wanted, False, can_modify=other.ops)
    other._inputs = one.outputs
    return one, other


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """Let a subgraph take placeholders instead; return it and those."""
    view = _view(sgv)
    made = []
    with view.graph.as_default() if view.graph else scopes.name_scope(None):
        for tensor in view.inputs:
            made.append(make_placeholder_from_tensor(tensor))
            _swap([made[-1]], [tensor], False, can_modify=view.ops)
    view._inputs = list(made)
    if control_inputs:
        detach_control_inputs(view)
    return view, made


def detach_outputs(sgv: Any, control_outputs: Any = None) -> tuple[SubGraphView, list[Tensor]]:
    """Let those outside take placeholders instead of what a subgraph gives; return it and those."""
    view = _view(sgv)
    made = []
    with view.graph.as_default() if view.graph else scopes.name_scope(None):
        for tensor in view.outputs:
            if any(op not in set(view.ops) for op in tensor.consumers()):
                made.append(make_placeholder_from_tensor(tensor))
                _swap([made[-1]], [tensor], False, cannot_modify=view.ops)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, made


def detach(
    sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[SubGraphView, list[Tensor], list[Tensor]]:
    """Detach both sides of a subgraph; return it and the placeholders on both.

    Example:
      >>> x = square(constant(1.0, name="a"), name="y")
      >>> _, inputs, outputs = contrib.graph_editor.detach(contrib.graph_editor.sgv(x.op))
      >>> [each.name for each in inputs], outputs
      (['geph__a_0:0'], [])
    """
    view, inputs = detach_inputs(sgv, control_inputs)
    view, outputs = detach_outputs(view, control_outputs)
    return view, inputs, outputs


def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """Let those outside take what a subgraph takes instead of what it gives.

    Raises:
      ValueError: it has not as many inputs as outputs.
    """
    view = _view(sgv)
    outside = view.inputs
    view, made = detach_inputs(view)
    if len(outside) != len(view.outputs):
        raise ValueError(f"{len(outside)} inputs cannot stand for {len(view.outputs)} outputs")
    _swap(outside, view.outputs, False, cannot_modify=view.ops)
    return view, made


# who waits for whom


def add_control_inputs(op: Operation, cops: Any) -> None:
    """Let an operation wait for others.

    Raises:
      ValueError: it waits for one of them already.
    """
    found = make_list_of_op(cops, allow_graph=False)
    for each in found:
        if each in op._control_inputs:
            raise ValueError(f"{each.name} is already a control_input of {op.name}")
    op._add_control_inputs(found)


def remove_control_inputs(op: Operation, cops: Any) -> None:
    """Let an operation not wait for others any more.

    Raises:
      ValueError: it does not wait for one of them.
    """
    found = make_list_of_op(cops, allow_graph=False)
    for each in found:
        if each not in op._control_inputs:
            raise ValueError(f"{each.name} is not a control_input of {op.name}")
    op._control_inputs[:] = [each for each in op._control_inputs if each not in found]


def detach_control_inputs(sgv: Any) -> None:
    """Let the operations of a subgraph wait for nobody outside."""
    view = _view(sgv)
    inside: set[Operation] = set(view.ops)
    for op in view.ops:
        op._control_inputs[:] = [each for each in op._control_inputs if each in inside]


def detach_control_outputs(sgv: Any, control_outputs: Any) -> None:
    """Let nobody outside wait for the operations of a subgraph."""
    view = _view(sgv)
    inside: set[Operation] = set(view.ops)
    waiting: Sequence[Operation] = [each for op in view.ops for each in control_outputs.get(op)]
    for op in waiting:
        if op not in inside:
            op._control_inputs[:] = [each for each in op._control_inputs if each not in inside]
