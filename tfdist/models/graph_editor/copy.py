"""tf.contrib.graph_editor: copies of parts of graphs, with other tensors in the places of some.

Source: TF 1.15 API documentation, tf.contrib.graph_editor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph import build, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.models.graph_editor.reroute import make_placeholder_from_tensor
from tfdist.models.graph_editor.select import get_walks_intersection_ops, make_list_of_t
from tfdist.models.graph_editor.subgraph import SubGraphView, make_view

__all__ = [
    "Transformer", "TransformerInfo", "copy", "copy_with_input_replacements", "graph_replace",
    "keep_t_if_possible_handler", "replace_t_with_placeholder_handler",
]  # fmt: skip


class TransformerInfo:
    """Which copy belongs to which original.

    Attributes:
      _transformed_ops: originals -> copies; by TensorFlow's name, which programs use.
      _transformed_ts: the same of tensors.
    """

    def __init__(self, info: _Copy) -> None:
        self.graph, self.graph_ = info.graph, info.target
        self.scope, self.scope_ = info.source_scope, info.scope
        self._transformed_ops, self._transformed_ts = info.operations, info.tensors

    def _found(self, element: Any, is_original: bool, missing: Any) -> Any:
        tables: list[dict[Any, Any]] = [self._transformed_ops, self._transformed_ts]
        if not is_original:
            tables = [{copy: original for original, copy in table.items()} for table in tables]
        if isinstance(element, str):
            named = {each.name: each for table in tables for each in table}
            element = named.get(element)
        for table in tables:
            if element in table:
                return table[element]
        return missing(self, element) if callable(missing) else missing

    def transformed(self, original: Any, missing_fn: Any = None) -> Any:
        """Return the copy of an operation or tensor, given as such or by name; None if none."""
        if isinstance(original, list | tuple):
            return [self.transformed(each, missing_fn) for each in original]
        return self._found(original, True, missing_fn)

    def original(self, transformed: Any, missing_fn: Any = None) -> Any:
        """Return what an operation or tensor is a copy of; None if it is none."""
        if isinstance(transformed, list | tuple):
            return [self.original(each, missing_fn) for each in transformed]
        return self._found(transformed, False, missing_fn)


class _Copy:
    """A copy on its way.

    Args:
      view: what is copied.
      target: the graph that gets it.
      scope: of the copies' names.
      source_scope: that is left out of the originals' names.
      outside: returns what stands for a tensor from outside, of this object and the tensor.
    """

    def __init__(
        self, view: SubGraphView, target: Graph, scope: str, source_scope: str,
        outside: Callable[[Any, Tensor], Tensor],
    ) -> None:  # fmt: skip
        assert view.graph is not None
        self.graph, self.target = view.graph, target
        self.scope, self.source_scope = scope, source_scope
        self.view, self._outside = view, outside
        self.inside = set(view.ops)
        self.operations: dict[Operation, Operation] = {}
        self.tensors: dict[Tensor, Tensor] = {}

    def run(self) -> None:
        """Make the copies, each after what it takes."""
        order = {op: i for i, op in enumerate(self.graph.get_operations())}
        cyclic: list[tuple[Operation, int, Tensor]] = []
        for tensor in self.view.inputs:
            self.tensors[tensor] = self._from_outside(tensor)
        for op in sorted(self.view.ops, key=order.__getitem__):
            self._copied(op, cyclic)
        for op, index, tensor in cyclic:
            op._update_input(index, self.tensors[tensor])
        for op, made in self.operations.items():
            waits = [self.operations.get(each, each) for each in op.control_inputs]
            made._add_control_inputs([each for each in waits if each.graph is self.target])

    def _from_outside(self, tensor: Tensor) -> Tensor:
        inner = f"{self.scope}/" if self.scope else None
        with self.target.as_default(), scopes.name_scope(inner):
            return self._outside(self, tensor)

    def _copied(self, op: Operation, cyclic: list[tuple[Operation, int, Tensor]]) -> None:
        inputs: list[Any] = []
        for tensor in op.inputs:
            if tensor not in self.tensors and tensor.op not in self.inside:
                self.tensors[tensor] = self._from_outside(tensor)
            inputs.append(self.tensors.get(tensor))
        late = [(i, t) for i, t in enumerate(op.inputs) if inputs[i] is None]  # of a loop
        for i, tensor in late:
            with self.target.as_default():
                inputs[i] = make_placeholder_from_tensor(tensor)
        name = op.name.removeprefix(f"{self.source_scope}/") if self.source_scope else op.name
        name = self.target.unique_name(f"{self.scope}/{name}" if self.scope else name)
        attrs = dict(op._attrs)
        attrs["_class"] = self._colocation(attrs.get("_class", ()))
        if not attrs["_class"]:
            del attrs["_class"]
        plain = self.target._set(_context=None, _control_scopes=(), _colocation=())
        with self.target.as_default(), plain:
            made = build.add_node(self.target, op.op_def, name, tuple(inputs), attrs)
        if op.device:
            made._device = op.device
        for old, new in zip(op.outputs, made.outputs, strict=True):
            new.set_shape(old.shape) if not self.tensors_changed(op) else None
            self.tensors[old] = new
        self.operations[op] = made
        cyclic += [(made, i, tensor) for i, tensor in late]

    def tensors_changed(self, op: Operation) -> bool:
        """Return whether an input of the copy has another shape than that of the original."""
        return any(self.tensors[each].plain_shape != each.plain_shape
                   for each in op.inputs if each in self.tensors)  # fmt: skip

    def _colocation(self, groups: Any) -> list[bytes]:
        """Return the groups that copies are in, named by copies where there are any."""
        renamed = {op.name: made.name for op, made in self.operations.items()}
        found = []
        for group in groups:
            name = group.removeprefix(b"loc:@").decode()
            if name in renamed:
                found.append(f"loc:@{renamed[name]}".encode())
            elif self.target is self.graph:
                found.append(group)
        return found


def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """Return a placeholder for a tensor from outside."""
    return make_placeholder_from_tensor(t, scope="")


def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """Return a tensor from outside itself if it is of the graph that is copied to."""
    if info.graph is info.target:
        return t
    return replace_t_with_placeholder_handler(info, t)


class Transformer:
    """Copies parts of graphs.

    Attributes:
      transform_external_input_handler: returns what stands for a tensor from outside.

    Example:
      >>> x = square(constant(1.0, name="x"), name="y")
      >>> copier = contrib.graph_editor.Transformer()
      >>> view, info = copier(contrib.graph_editor.sgv(x.op), x.graph, "copied")
      >>> info.transformed(x).name
      'copied/y:0'
    """

    def __init__(self) -> None:
        self.transform_external_input_handler: Callable[[Any, Tensor], Tensor] = (
            replace_t_with_placeholder_handler
        )

    def __call__(
        self, sgv: Any, dst_graph: Graph, dst_scope: str, src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
        """Return a view of the copy, and which copy belongs to which original.

        Args:
          sgv: what to copy.
          dst_graph: the graph that gets it.
          dst_scope: of the copies' names.
          src_scope: that is left out of the originals' names.
          reuse_dst_scope: whether the scope may be there already; another one is taken otherwise.
        """
        view = make_view(sgv)
        if view.graph is None:
            raise ValueError("there is nothing to copy")
        scope = dst_scope.removesuffix("/")
        if scope and not reuse_dst_scope:
            scope = dst_graph.unique_name(scope, mark_as_used=False)
        made = _Copy(view, dst_graph, scope, src_scope.removesuffix("/"),
                     self.transform_external_input_handler)  # fmt: skip
        made.run()
        copied = SubGraphView(list(made.operations.values()))
        return copied, TransformerInfo(made)


def copy(
    sgv: Any, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """Return a copy of a subgraph, with placeholders for what comes from outside.

    Args:
      sgv: a subgraph, or what `make_view` takes.
      dst_graph: the graph that gets it; by default its own.
      dst_scope: see `Transformer`.
      src_scope: see `Transformer`.
      reuse_dst_scope: see `Transformer`.

    Example:
      >>> x = square(constant(1.0, name="x"), name="y")
      >>> view, _ = contrib.graph_editor.copy(contrib.graph_editor.sgv(x.op), dst_scope="again")
      >>> [each.name for each in view.ops]
      ['again/y']
    """
    view = make_view(sgv)
    target = dst_graph or view.graph
    assert target is not None
    return Transformer()(view, target, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any, replacement_ts: Any, dst_graph: Graph | None = None, dst_scope: str = "",
    src_scope: str = "", reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """Return a copy of a subgraph, in which some tensors from outside are others.

    Args:
      sgv: see `copy`.
      replacement_ts: dict from tensors to those that the copy takes instead.
      dst_graph: see `copy`.
      dst_scope: see `copy`.
      src_scope: see `copy`.
      reuse_dst_scope: see `copy`.
    """
    view = make_view(sgv)
    target = dst_graph or view.graph
    assert target is not None
    copier = Transformer()
    copier.transform_external_input_handler = lambda info, tensor: (
        replacement_ts[tensor]
        if tensor in replacement_ts
        else keep_t_if_possible_handler(info, tensor)
    )
    return copier(view, target, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Any, replacement_ts: Any, dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:  # fmt: skip
    """Return copies of tensors in which other tensors have been replaced on the way to them.

    What does not depend on the replaced ones is not copied.

    Args:
      target_ts: a tensor, or a list of them.
      replacement_ts: dict from tensors to those that stand in their places.
      dst_scope: of the copies' names.
      src_scope: see `Transformer`.
      reuse_dst_scope: see `Transformer`.

    Raises:
      ValueError: no target depends on a replaced tensor.

    Example:
      >>> x = constant(2.0)
      >>> y = square(x) + 1.0
      >>> Session().run(contrib.graph_editor.graph_replace(y, {x: constant(3.0)}))
      np.float32(10.0)
    """
    is_list = isinstance(target_ts, list | tuple)
    targets = list(target_ts) if is_list else [target_ts]
    replaced = {_tensor(old): convert_to_tensor(new) for old, new in replacement_ts.items()}
    within = get_walks_intersection_ops(
        list(replaced), make_list_of_t([_tensor(each) for each in targets]), control_inputs=True
    )
    makers = {tensor.op for tensor in replaced}
    copied = [op for op in within if op not in makers or any(
        tensor in replaced for tensor in op.inputs)]  # fmt: skip
    if not copied:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        copied, replaced, None, dst_scope, src_scope, reuse_dst_scope
    )
    tensors = map(_tensor, targets)
    made = [each if each in replaced else info.transformed(each, each) for each in tensors]
    return made if is_list else made[0]


def _tensor(value: Any) -> Tensor:
    return value._as_tensor(False) if hasattr(value, "_as_tensor") else value  # type: ignore[no-any-return]
