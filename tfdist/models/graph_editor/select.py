"""tf.contrib.graph_editor: finding nodes, by their names and by the ways that tensors take.

Source: TF 1.15 API documentation, tf.contrib.graph_editor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor

__all__ = [
    "can_be_regex", "compute_boundary_ts", "filter_ops", "filter_ops_from_regex", "filter_ts",
    "filter_ts_from_regex", "get_backward_walk_ops", "get_consuming_ops", "get_forward_walk_ops",
    "get_generating_ops", "get_name_scope_ops", "get_ops_ios", "get_tensors",
    "get_walks_intersection_ops", "get_walks_union_ops", "get_within_boundary_ops",
    "make_list_of_op", "make_list_of_t", "make_regex", "select_ops", "select_ops_and_ts",
    "select_ts",
]  # fmt: skip

_UNIX, _RE = "(?#unix)", "(?#re)"  # what texts begin with that are patterns of one kind


# lists


def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Operation]:
    """Return operations as a list: of a graph, of one operation, or of several.

    Args:
      ops: a Graph, an Operation, or an iterable of operations.
      check_graph: whether all must be of one graph.
      allow_graph: whether a Graph is taken.
      ignore_ts: whether tensors are left out, which are an error otherwise.

    Raises:
      TypeError: there is something else.
      ValueError: they are of several graphs.
    """
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return ops.get_operations()
    return _listed(ops, Operation, Tensor if ignore_ts else (), check_graph)


def make_list_of_t(
    ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Tensor]:
    """Return tensors as a list: of a graph, of one tensor, or of several; see `make_list_of_op`."""
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    return _listed(ts, Tensor, Operation if ignore_ops else (), check_graph)


def _listed(values: Any, kind: type, ignored: Any, check_graph: bool) -> list[Any]:
    is_one = isinstance(values, Tensor | Operation) or not isinstance(values, Iterable)
    values = [values] if is_one else list(values)
    found = [each for each in values if not (ignored and isinstance(each, ignored))]
    for each in found:
        if not isinstance(each, kind):
            raise TypeError(f"Expected a {kind.__name__} or several of them, got: {each!r}")
    if check_graph and len({id(each.graph) for each in found}) > 1:
        raise ValueError(f"these are of several graphs: {[each.name for each in found]}")
    return found


def get_tensors(graph: Graph) -> list[Tensor]:
    """Return all tensors of a graph.

    Example:
      >>> _ = constant(1.0, name="a")
      >>> [each.name for each in contrib.graph_editor.get_tensors(get_default_graph())]
      ['a:0']
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_generating_ops(ts: Any) -> list[Operation]:
    """Return the operations that make tensors."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Operation]:
    """Return the operations that take tensors, each once."""
    taken = [op for tensor in make_list_of_t(ts, allow_graph=False) for op in tensor.consumers()]
    return list(dict.fromkeys(taken))


# names


def can_be_regex(obj: Any) -> bool:
    """Return whether something is a pattern: a text, or a compiled one."""
    return isinstance(obj, str | re.Pattern)


def make_regex(obj: Any) -> re.Pattern[str]:
    """Return a text as a compiled pattern.

    Raises:
      ValueError: it is neither a text nor a compiled pattern.
    """
    if not can_be_regex(obj):
        raise ValueError("Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj) if isinstance(obj, str) else obj


def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """Return the operations for which a function says yes; all if it is True."""
    found = make_list_of_op(ops, ignore_ts=True)
    return found if positive_filter is True else list(filter(positive_filter, found))


def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """Return the tensors of operations for which a function says yes; all if it is True."""
    made = [tensor for op in make_list_of_op(ops, ignore_ts=True) for tensor in op.outputs]
    return made if positive_filter is True else list(filter(positive_filter, made))


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """Return the operations in whose names a pattern is found."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """Return the tensors of operations in whose names a pattern is found."""
    pattern = make_regex(regex)
    return filter_ts(ops, lambda tensor: pattern.search(tensor.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """Return the operations in a name scope."""
    scope = scope.removesuffix("/")
    if not scope:
        return make_list_of_op(ops)
    return filter_ops_from_regex(ops, f"^{re.escape(scope)}(/.*)?$")


def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Return operations, given as such or by patterns that are found in their names.

    Args:
      *args: operations, lists of them, and patterns.
      **kwargs: `graph`, which patterns need; `positive_filter`, a function that chooses among what
        they find; `restrict_ops_regex`: whether a pattern stands for operations only if it begins
        with "(?#ops)".

    Raises:
      TypeError: an option is not known.
      ValueError: there is a pattern and no graph.

    Example:
      >>> _ = constant(1.0, name="first") + constant(2.0, name="second")
      >>> found = contrib.graph_editor.select_ops("^f", graph=get_default_graph())
      >>> [each.name for each in found]
      ['first']
    """
    return _selected("ops", args, kwargs, make_list_of_op, filter_ops_from_regex, filter_ops)


def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Return tensors, given as such or by patterns that are found in their names.

    Args:
      *args: tensors, lists of them, and patterns.
      **kwargs: see `select_ops`; "(?#ts)" begins a pattern that stands for tensors.

    Example:
      >>> _ = constant(1.0, name="first") + constant(2.0, name="second")
      >>> found = contrib.graph_editor.select_ts("^f", graph=get_default_graph())
      >>> [each.name for each in found]
      ['first:0']
    """
    return _selected("ts", args, kwargs, make_list_of_t, filter_ts_from_regex, filter_ts)


def _selected(
    kind: str, args: tuple[Any, ...], options: dict[str, Any], listed: Callable[..., Any],
    from_pattern: Callable[..., Any], chosen: Callable[..., Any],
) -> list[Any]:  # fmt: skip
    graph = options.pop("graph", None)
    keep = options.pop("positive_filter", None)
    restricted = options.pop(f"restrict_{kind}_regex", False)
    if options:
        raise TypeError(f"unexpected arguments: {sorted(options)}")
    found: dict[Any, None] = {}
    for each in args:
        if not can_be_regex(each):
            found.update(dict.fromkeys(listed(each, allow_graph=True)))
            continue
        if graph is None:
            raise ValueError("Use the keyword argument 'graph' to use regex.")
        text = each if isinstance(each, str) else each.pattern
        if not text.startswith(f"(?#{kind})") and (restricted or _is_of_others(text, kind)):
            continue
        matches = from_pattern(graph, each)
        if keep is not None:
            matches = [one for one in matches if keep(one)]
        found.update(dict.fromkeys(matches))
    return list(found)


def _is_of_others(text: str, kind: str) -> bool:
    other = "ts" if kind == "ops" else "ops"
    return text.startswith(f"(?#{other})")


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """Return operations and tensors; patterns of tensors begin with "(?#ts)".

    Args:
      *args: see `select_ops`.
      **kwargs: see `select_ops`.
    """
    ops = [e for e in args if not isinstance(e, Tensor)]
    ts = [e for e in args if isinstance(e, Tensor) or (can_be_regex(e) and _is_of_others(e, "ops"))]
    graph = kwargs.get("graph")
    return select_ops(*ops, **kwargs), select_ts(*ts, graph=graph, restrict_ts_regex=True)


# walks


def _walk(
    seeds: list[Operation], inclusive: bool, within_ops: Any, within_ops_fn: Any,
    further: Callable[[Operation], Iterable[Operation]],
) -> list[Operation]:  # fmt: skip
    """Return what is reached from `seeds` by steps of `further`, level by level."""
    inside = None if within_ops is None else set(make_list_of_op(within_ops, allow_graph=False))

    def is_within(op: Operation) -> bool:
        return (inside is None or op in inside) and (within_ops_fn is None or within_ops_fn(op))

    found = dict.fromkeys(op for op in seeds if is_within(op))
    wave = list(found)
    while wave:
        wave = list(dict.fromkeys(
            new for op in wave for new in further(op) if new not in found and is_within(new)
        ))  # fmt: skip
        found.update(dict.fromkeys(wave))
    return [op for op in found if inclusive or op not in seeds]


def _seeds(seed_ops: Any, generating: bool) -> list[Operation]:
    is_tensors = isinstance(seed_ops, Tensor) or (
        isinstance(seed_ops, list | tuple) and bool(seed_ops) and isinstance(seed_ops[0], Tensor)
    )
    if not is_tensors:
        return make_list_of_op(seed_ops, allow_graph=False)
    return (get_generating_ops if generating else get_consuming_ops)(seed_ops)


def get_backward_walk_ops(
    seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    stop_at_ts: Any = (), control_inputs: Any = False,
) -> list[Operation]:  # fmt: skip
    """Return the operations on which others depend.

    Args:
      seed_ops: operations, or tensors, whose makers are meant.
      inclusive: whether those are among them.
      within_ops: operations that the walk does not leave.
      within_ops_fn: a function that tells whether an operation is one of those.
      stop_at_ts: tensors beyond which it does not go.
      control_inputs: whether it goes to operations that are waited for, too.

    Example:
      >>> x = constant(1.0, name="x")
      >>> [each.name for each in contrib.graph_editor.get_backward_walk_ops(square(x, name="y"))]
      ['y', 'x']
    """
    stops = set(make_list_of_t(stop_at_ts))

    def further(op: Operation) -> Iterable[Operation]:
        yield from (tensor.op for tensor in op.inputs if tensor not in stops)
        if control_inputs:
            yield from op.control_inputs

    return _walk(_seeds(seed_ops, True), inclusive, within_ops, within_ops_fn, further)


def get_forward_walk_ops(
    seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    stop_at_ts: Any = (), control_outputs: Any = None,
) -> list[Operation]:  # fmt: skip
    """Return the operations that depend on others.

    Args:
      seed_ops: operations, or tensors, whose takers are meant.
      inclusive: see `get_backward_walk_ops`.
      within_ops: see `get_backward_walk_ops`.
      within_ops_fn: see `get_backward_walk_ops`.
      stop_at_ts: see `get_backward_walk_ops`.
      control_outputs: True, or a `ControlOutputs`, for operations that wait, too.

    Example:
      >>> x = constant(1.0, name="x")
      >>> _ = square(x, name="y")
      >>> [each.name for each in contrib.graph_editor.get_forward_walk_ops(x.op)]
      ['x', 'y']
    """
    stops = set(make_list_of_t(stop_at_ts))

    def further(op: Operation) -> Iterable[Operation]:
        for tensor in op.outputs:
            if tensor not in stops:
                yield from tensor.consumers()
        if control_outputs:
            yield from (each for each in op.graph.get_operations() if op in each._control_inputs)

    return _walk(_seeds(seed_ops, False), inclusive, within_ops, within_ops_fn, further)


def get_walks_intersection_ops(
    forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
    backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None,
) -> list[Operation]:  # fmt: skip
    """Return what depends on some operations, and on what others depend; see both walks."""
    forward = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
                                   control_outputs=control_outputs)  # fmt: skip
    backward = get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops,
                                     within_ops_fn, control_inputs=control_inputs)  # fmt: skip
    return [op for op in forward if op in set(backward)]


def get_walks_union_ops(
    forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
    backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None,
) -> list[Operation]:  # fmt: skip
    """Return what depends on some operations, or on what others depend; see both walks."""
    forward = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
                                   control_outputs=control_outputs)  # fmt: skip
    backward = get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops,
                                     within_ops_fn, control_inputs=control_inputs)  # fmt: skip
    return list(dict.fromkeys([*forward, *backward]))


def get_within_boundary_ops(
    ops: Any, seed_ops: Any, boundary_ops: Any = (), inclusive: bool = True,
    control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None,
) -> list[Operation]:  # fmt: skip
    """Return the operations of `ops` that hang together with `seed_ops`, up to a boundary."""
    whole = make_list_of_op(ops)
    edge = set(make_list_of_op(boundary_ops, allow_graph=False))
    inside = [op for op in whole if op not in edge]

    def further(op: Operation) -> Iterable[Operation]:
        yield from (tensor.op for tensor in op.inputs)
        yield from (each for tensor in op.outputs for each in tensor.consumers())

    found = set(_walk(make_list_of_op(seed_ops, allow_graph=False), True, inside, None, further))
    if inclusive:
        found |= {op for op in edge if any(each in found for each in further(op))}
    return [op for op in whole if op in found]


def get_ops_ios(
    ops: Any, control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
) -> list[Operation]:
    """Return operations, those that make their inputs, and those that take their outputs."""
    found: dict[Operation, None] = {}
    for op in make_list_of_op(ops):
        found[op] = None
        around = [tensor.op for tensor in op.inputs]
        around += [each for tensor in op.outputs for each in tensor.consumers()]
        around += op.control_inputs if control_inputs else []
        found.update(dict.fromkeys(around))
    return list(found)


def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return the tensors at the edge of operations: from outside, to outside, and to both sides."""
    chosen = make_list_of_op(ops)
    inside = set(chosen)
    inputs = dict.fromkeys(t for op in chosen for t in op.inputs if t.op not in inside)
    outputs, both = [], []
    for tensor in (t for op in chosen for t in op.outputs):
        takers = tensor.consumers()
        if not takers or any(op not in inside for op in takers):
            outputs.append(tensor)
            if any(op in inside for op in takers):
                both.append(tensor)
    return list(inputs), outputs, both
