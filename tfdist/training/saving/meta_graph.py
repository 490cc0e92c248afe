"""MetaGraphs: a graph with its collections, in a file that TensorFlow reads.

Source: TF 1.15 API documentation, tf.train.export_meta_graph; MetaGraphDef in meta_graph.proto.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.graph_files import write_graph
from tfdist.graph.op_list import strip_defaults, used_ops
from tfdist.ops.control_flow.context_defs import context_defs
from tfdist.ops.variables.collections import GraphKeys
from tfdist.protos import pb
from tfdist.training.saving.collection_defs import fill_collection

__all__ = ["create_meta_graph_def", "export_meta_graph"]

VERSION = "1.15.5"  # of TensorFlow, whose conventions these are
_UNBOUND = "$unbound_inputs_"
UNBOUND_COLLECTION = "unbound_inputs"
CONTEXTS = (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT)


def export_meta_graph(
    filename: Any = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    as_text: bool = False,
    graph: Any = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
) -> Any:
    """Return a graph with its collections as a MetaGraphDef, and write it to a file.

    Args:
      filename: of the file; None for none.
      meta_info_def: a MetaInfoDef to begin with: tags, for instance.
      graph_def: a GraphDef to write instead of the graph's nodes.
      saver_def: a SaverDef, to be kept as it is.
      collection_list: names of the collections to keep; all by default.
      as_text: whether the file is written in protobuf's text format.
      graph: the default graph by default.
      export_scope: only nodes in it are written, without it in their names. Inputs from outside
        are called "$unbound_inputs_NAME".
      clear_devices: whether no device is asked for.
      clear_extraneous_savers: whether nodes of savers other than `saver_def` are left out.
      strip_default_attrs: whether attributes that have their default value are left out, so that
        earlier versions can read the graph.
      save_debug_info: accepted for TensorFlow's sake.

    Returns:
      A MetaGraphDef.

    Raises:
      TypeError: an argument is of the wrong type.

    Example:
      >>> with Graph().as_default():
      ...     _ = constant(1.0, name="one")
      ...     add_to_collection("answers", 42)
      ...     meta_graph = train.export_meta_graph()
      >>> with Graph().as_default():
      ...     train.import_meta_graph(meta_graph)
      ...     print(get_collection("answers"), float(Session().run("one:0")))
      [42] 1.0
    """
    meta = create_meta_graph_def(
        meta_info_def, graph_def, saver_def, collection_list, graph, export_scope,
        clear_extraneous_savers=clear_extraneous_savers, strip_default_attrs=strip_default_attrs,
    )  # fmt: skip
    if clear_devices:
        unplace(meta.graph_def)
    if filename:
        path = Path(os.fsdecode(filename))
        write_graph(meta, path.parent, path.name, as_text)
    return meta


def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    graph: Any = None,
    export_scope: str | None = None,
    exclude_nodes: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """Return a graph with its collections as a MetaGraphDef; see `export_meta_graph`.

    Args:
      meta_info_def: a MetaInfoDef to begin with.
      graph_def: a GraphDef to write instead of the graph's nodes.
      saver_def: a SaverDef, to be kept as it is.
      collection_list: names of the collections to keep; all by default.
      graph: the default graph by default.
      export_scope: only nodes in it are written, without it in their names.
      exclude_nodes: accepted for TensorFlow's sake.
      clear_extraneous_savers: whether nodes of savers other than `saver_def` are left out.
      strip_default_attrs: whether attributes that have their default value are left out.

    Raises:
      TypeError: an argument is of the wrong type.
    """
    graph = scopes.get_default_graph() if graph is None else graph
    if not isinstance(graph, Graph):
        raise TypeError(f"graph must be a Graph, not {type(graph).__name__}")
    scope = (export_scope or "").rstrip("/")
    meta = pb.MetaGraphDef(meta_info_def=_info(meta_info_def))
    unbound = _fill_graph(meta.graph_def, graph, graph_def, scope)
    if saver_def is not None:
        meta.saver_def.CopyFrom(pb.reparse(saver_def))
    _fill_collections(meta, graph, collection_list, scope)
    if unbound:
        meta.collection_def[UNBOUND_COLLECTION].bytes_list.value.extend(unbound)
    if clear_extraneous_savers:
        _clear_savers(meta, graph, scope)
    _fill_info(meta, strip_default_attrs)
    return meta


def _info(given: Any) -> Any:
    if given is None:
        return pb.MetaGraphDef.MetaInfoDef()
    if getattr(getattr(given, "DESCRIPTOR", None), "name", "") != "MetaInfoDef":
        raise TypeError(f"meta_info_def must be of type MetaInfoDef, not {type(given)}")
    return pb.reparse(given)


def _fill_info(meta: Any, strip: bool) -> None:
    info = meta.meta_info_def
    info.tensorflow_version, info.tensorflow_git_version = VERSION, "tfdist"
    if not info.HasField("stripped_op_list"):
        info.stripped_op_list.CopyFrom(used_ops(meta.graph_def))
    if strip:
        strip_defaults(meta.graph_def)
        info.stripped_default_attrs = True


def _fill_graph(proto: Any, graph: Graph, given: Any, scope: str) -> list[bytes]:
    """Write the nodes; returns the names of inputs that are not there."""
    proto.CopyFrom(graph.as_graph_def(add_shapes=True) if given is None else pb.reparse(given))
    if not scope:
        return []
    nodes = [node for node in proto.node if node.name.startswith(f"{scope}/")]
    inside = {node.name for node in nodes}
    unbound: list[bytes] = []
    for node in nodes:
        node.name = node.name.removeprefix(f"{scope}/")
        inputs = [_in_scope(text, scope, inside) for text in node.input]
        unbound += [text.encode() for text in inputs if text.removeprefix("^").startswith(_UNBOUND)]
        node.input[:] = inputs
        _cut_groups(node, scope)
    del proto.node[:]
    proto.node.extend(nodes)
    return unbound


def _in_scope(text: str, scope: str, inside: set[str]) -> str:
    """Return an input's name without the scope, or as one that is not bound."""
    mark, name = ("^", text[1:]) if text.startswith("^") else ("", text)
    if name.partition(":")[0] in inside:
        return mark + name.removeprefix(f"{scope}/")
    return f"{mark}{_UNBOUND}{name}"


def _cut_groups(node: Any, scope: str) -> None:
    """Keep those colocation groups of a node that are in the scope."""
    if "_class" in node.attr:
        start = f"loc:@{scope}/".encode()
        kept = [each for each in node.attr["_class"].list.s if each.startswith(start)]
        node.attr["_class"].list.s[:] = [b"loc:@" + each.removeprefix(start) for each in kept]


def unplace(graph_def: Any) -> None:
    """Let the nodes of a GraphDef ask for no device."""
    for node in graph_def.node:
        node.device = ""


def _fill_collections(meta: Any, graph: Graph, wanted: Any, scope: str) -> None:
    keys = graph.get_all_collection_keys() if wanted is None else list(wanted)
    for key in keys:
        if key not in CONTEXTS:
            fill_collection(meta.collection_def, key, graph.get_collection(key), scope or None)
    for key, protos in zip(CONTEXTS, context_defs(graph, scope), strict=True):
        if protos and (wanted is None or key in keys):
            parts = [each.SerializeToString() for each in protos]
            meta.collection_def[key].bytes_list.value.extend(parts)


def _clear_savers(meta: Any, graph: Graph, scope: str) -> None:
    """Leave out the nodes of all savers but the one that is kept."""
    kept = _saver_scope(meta.saver_def)
    savers = [each.to_proto(scope) for each in graph.get_collection(GraphKeys.SAVERS)]
    others = {_saver_scope(each) for each in savers if each is not None} - {kept, ""}
    nodes = [node for node in meta.graph_def.node if not node.name.startswith((*others,))]
    if others:
        del meta.graph_def.node[:]
        meta.graph_def.node.extend(nodes)
    if GraphKeys.SAVERS in meta.collection_def:
        parts = meta.collection_def[GraphKeys.SAVERS].bytes_list
        own = [each for each in parts.value if _saver_scope(pb.parse(pb.SaverDef, each)) == kept]
        parts.value[:] = own


def _saver_scope(saver_def: Any) -> str:
    """Return the scope of a saver's nodes, with "/" at its end."""
    scope, slash, _ = saver_def.restore_op_name.rpartition("/")
    return str(scope + slash)
