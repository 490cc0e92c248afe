"""Collections of a graph as TensorFlow's CollectionDef, and back.

What becomes a message of its own has its functions registered by the collection's name; tensors
and operations are told by name; numbers and strings as they are. What fits nowhere is left out,
with a warning.

Source: TF 1.15 API documentation, tf.train.export_meta_graph; CollectionDef in meta_graph.proto.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from tfdist.graph.graph import Graph
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.variable import Variable
from tfdist.protos import pb
from tfdist.training.input_queues.queue_runner import QueueRunner

_LOG = logging.getLogger("tensorflow")


class Kind(NamedTuple):
    """How what is in a collection becomes a message, and back.

    Attributes:
      proto_type: class of the message; None if values are bytes.
      to_proto: takes a value and a scope to cut off; gives the message, None for none.
      from_proto: takes a message and a scope to put before; gives the value.
    """

    proto_type: Any
    to_proto: Callable[..., Any] | None
    from_proto: Callable[..., Any] | None


_KINDS: dict[str, Kind] = {}


def register_proto_function(
    collection_name: str,
    proto_type: Any = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Let the values of a collection be kept in a MetaGraph.

    Args:
      collection_name: of the collection.
      proto_type: class of the message that each becomes.
      to_proto: function of a value and `export_scope` that returns its message.
      from_proto: function of a message and `import_scope` that returns a value.

    Raises:
      TypeError: a function cannot be called.
    """
    for function in (to_proto, from_proto):
        if function is not None and not callable(function):
            raise TypeError(f"to_proto and from_proto must be callable, not {function!r}")
    _KINDS[collection_name] = Kind(proto_type, to_proto, from_proto)


_CLASSES: dict[str, tuple[str, Any]] = {}


def register_class(collection_name: str, message: str, cls: Any) -> None:
    """Let the objects of a class be kept in a MetaGraph, without loading messages now.

    Args:
      collection_name: of their collection.
      message: name of the message that each becomes.
      cls: has `to_proto(export_scope)` and `from_proto(message, import_scope)`.
    """
    _CLASSES[collection_name] = message, cls


def get_collection_proto_type(collection_name: str) -> Any:
    """Return the class of the messages of a collection, None if none is registered."""
    return _kind(collection_name).proto_type


def get_to_proto_function(collection_name: str) -> Any:
    """Return what turns values of a collection to messages, None if nothing is registered."""
    return _kind(collection_name).to_proto


def get_from_proto_function(collection_name: str) -> Any:
    """Return what turns messages of a collection to values, None if nothing is registered."""
    return _kind(collection_name).from_proto


def _kind(name: str) -> Kind:
    if not _KINDS:
        _register_own()
    return _KINDS.get(name, Kind(None, None, None))


def _register_own() -> None:
    """Register the collections of the library itself, when messages are needed first."""
    for name in (
        GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.LOCAL_VARIABLES,
        GraphKeys.MODEL_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.GLOBAL_STEP,
        "metric_variables",
    ):  # fmt: skip
        _KINDS.setdefault(name, Kind(pb.VariableDef, _variable_def, Variable.from_proto))
    import_module("tfdist.training.saving.saver")  # registers its class
    register_class(GraphKeys.QUEUE_RUNNERS, "QueueRunnerDef", QueueRunner)
    for name, (message, cls) in _CLASSES.items():
        functions: Any = (lambda value, scope: value.to_proto(scope), cls.from_proto)
        _KINDS.setdefault(name, Kind(getattr(pb, message), *functions))


def _variable_def(variable: Any, export_scope: str | None) -> Any:
    """Return the VariableDef of a variable, with what later versions want; None if outside."""
    prefix = f"{export_scope}/" if export_scope else ""
    if not variable.name.startswith(prefix):
        return None
    proto = variable.to_proto(export_scope)
    proto.initial_value_name = variable.initial_value.name.removeprefix(prefix)
    proto.trainable = variable.trainable
    return proto


# to messages


def fill_collection(protos: Any, name: Any, values: list[Any], export_scope: str | None) -> None:
    """Add a collection to the map of a MetaGraphDef, or tell why it is not there.

    Args:
      protos: the map.
      name: of the collection; one that is no string cannot be kept, and is passed over.
      values: what is in it.
      export_scope: only nodes in it are kept, without it in their names.
    """
    if not isinstance(name, str) or not values:
        return
    try:
        proto = _collection_def(_kind(name).to_proto, values, export_scope)
    except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
        _LOG.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the "
            "items don't match field type in CollectionDef. Note this is a warning and probably "
            "safe to ignore.\n%s", name, error,
        )  # fmt: skip
        return
    if proto is not None:
        protos[name].CopyFrom(proto)


def _collection_def(to_proto: Any, values: list[Any], scope: str | None) -> Any:
    if to_proto is not None:
        messages = [to_proto(each, scope) for each in values]
        parts = [each.SerializeToString() for each in messages if each is not None]
        return pb.CollectionDef(bytes_list={"value": parts}) if parts else None
    match values[0]:
        case str() | bytes():
            parts = [each.encode() if isinstance(each, str) else each for each in values]
            return pb.CollectionDef(bytes_list={"value": parts})
        case int():
            whole = [int(each) if isinstance(each, bool) else each for each in values]
            return pb.CollectionDef(int64_list={"value": whole})
        case float():
            return pb.CollectionDef(float_list={"value": values})
    if hasattr(values[0], "type_url"):  # an Any, as `packed` makes it
        return pb.CollectionDef(any_list={"value": values})
    prefix = f"{scope}/" if scope else ""
    found = [each.name for each in values]
    names = [each.removeprefix(prefix) for each in found if each.startswith(prefix)]
    return pb.CollectionDef(node_list={"value": names}) if names else None


def packed(message: Any) -> Any:
    """Return a message in an Any, of which a collection keeps what has no kind of its own."""
    url = f"type.googleapis.com/{message.DESCRIPTOR.full_name}"
    made = {"type_url": url, "value": message.SerializeToString(deterministic=True)}
    return pb.CollectionDef.AnyList(value=[made]).value[0]


# and back


def restore_collection(
    graph: Graph, name: str, proto: Any, import_scope: str, made: dict[bytes, Any]
) -> None:
    """Add what a CollectionDef holds to a collection of a graph.

    Args:
      graph: that has the nodes.
      name: of the collection.
      proto: the CollectionDef.
      import_scope: in which names are found; "" for none.
      made: variables by their messages, so that each is one object in all its collections.

    Raises:
      KeyError: a node is not there.
      ValueError: a value is no message of the collection's kind.
    """
    part = proto.WhichOneof("kind")
    if part is None:
        _LOG.error("Cannot identify data type for collection %s. Skipping.", name)
        return
    for value in getattr(proto, part).value:
        graph.add_to_collection(name, _value(graph, name, part, value, import_scope, made))


def _value(
    graph: Graph, name: str, part: str, value: Any, scope: str, made: dict[bytes, Any]
) -> Any:
    kind = _kind(name)
    if part == "bytes_list" and kind.from_proto is not None:
        if kind.proto_type is not pb.VariableDef or value not in made:
            message = value if kind.proto_type is None else pb.parse(kind.proto_type, value)
            made[value] = kind.from_proto(message, import_scope=scope or None)
        return made[value]
    if part == "node_list":
        return graph.as_graph_element(_with_scope(value, scope))
    if part == "bytes_list" and scope:
        return _with_scope(value.decode(), scope)
    return value


def _with_scope(name: str, scope: str) -> str:
    """Return a node's name in a scope; what stands before a name stays there."""
    before = next((mark for mark in ("loc:@", "^") if name.startswith(mark)), "")
    return f"{before}{scope}/{name.removeprefix(before)}" if scope else name
