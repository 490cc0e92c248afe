"""MetaGraphs: a graph with its collections, in a file that TensorFlow reads, and back.

Source: TF 1.15 API documentation, tf.train.export_meta_graph and tf.train.import_meta_graph;
MetaGraphDef in meta_graph.proto.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.graph_files import write_graph
from tfdist.graph.graph_import import import_graph_def
from tfdist.graph.op_list import strip_defaults, used_ops
from tfdist.ops.context_defs import context_defs, restore_contexts
from tfdist.ops.variables import GraphKeys
from tfdist.protos import pb
from tfdist.training.collection_defs import fill_collection, restore_collection
from tfdist.training.imported_saver import ImportedSaver

__all__ = ["export_meta_graph", "import_meta_graph"]

VERSION = "1.15.5"  # of TensorFlow, whose conventions these are
_UNBOUND = "$unbound_inputs_"
_UNBOUND_COLLECTION = "unbound_inputs"
_CONTEXTS = (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT)


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
    graph = scopes.get_default_graph() if graph is None else graph
    if not isinstance(graph, Graph):
        raise TypeError(f"graph must be a Graph, not {type(graph).__name__}")
    scope = (export_scope or "").rstrip("/")
    meta = pb.MetaGraphDef(meta_info_def=_info(meta_info_def))
    unbound = _fill_graph(meta.graph_def, graph, graph_def, scope)
    if clear_devices:
        _clear_devices(meta.graph_def)
    if saver_def is not None:
        meta.saver_def.CopyFrom(pb.reparse(saver_def))
    _fill_collections(meta, graph, collection_list, scope)
    if unbound:
        meta.collection_def[_UNBOUND_COLLECTION].bytes_list.value.extend(unbound)
    if clear_extraneous_savers:
        _clear_savers(meta, graph, scope)
    _fill_info(meta, strip_default_attrs)
    if filename:
        path = Path(os.fsdecode(filename))
        write_graph(meta, path.parent, path.name, as_text)
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


def _clear_devices(graph_def: Any) -> None:
    for node in graph_def.node:
        node.device = ""


def _fill_collections(meta: Any, graph: Graph, wanted: Any, scope: str) -> None:
    keys = graph.get_all_collection_keys() if wanted is None else list(wanted)
    for key in keys:
        if key not in _CONTEXTS:
            fill_collection(meta.collection_def, key, graph.get_collection(key), scope or None)
    for key, protos in zip(_CONTEXTS, context_defs(graph, scope), strict=True):
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


# and back


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Any = None,
    restore_collections_predicate: Any = None,
    unbound_inputs_col_name: str = _UNBOUND_COLLECTION,
) -> Any:
    """Add a MetaGraph's nodes to the default graph, and what is in its collections.

    Branches and loops are known again, so that gradients go through them.

    Args:
      meta_graph_or_file: a MetaGraphDef, or the name of a file that holds one, binary or text.
      clear_devices: whether the nodes ask for no device.
      import_scope: prefix of the new nodes.
      input_map: tensors of the default graph by names of tensors that they replace.
      return_elements: as in `import_graph_def`; names that must be there.
      restore_collections_predicate: function of a collection's name: whether it is restored.
      unbound_inputs_col_name: collection of the inputs that must be in `input_map`.

    Returns:
      If the MetaGraph has a saver, an object with its `as_saver_def`, which cannot save or restore
      yet; else None. (TensorFlow makes a new saver then, if there are variables.)

    Raises:
      OSError: there is no such file, or it holds no MetaGraph.
      TypeError: an argument is of the wrong type.
      ValueError: an unbound input is not mapped, or a node does not fit; see `import_graph_def`.
      NotFoundError: an op is not known here.
    """
    meta = _read(meta_graph_or_file)
    graph = scopes.get_default_graph()
    unbound = meta.collection_def[unbound_inputs_col_name].bytes_list.value
    _check_bound([each.decode() for each in unbound], input_map or {})
    scope = (import_scope or "").rstrip("/")
    prefix = graph.unique_name(scope, mark_as_used=False) if scope else ""
    if clear_devices:
        _clear_devices(meta.graph_def)
    info = meta.meta_info_def
    op_list = info.stripped_op_list if info.HasField("stripped_op_list") else None
    import_graph_def(meta.graph_def, input_map, return_elements, scope, producer_op_list=op_list)
    wanted = restore_collections_predicate or (lambda _: True)
    _restore(graph, meta, prefix, lambda key: key != unbound_inputs_col_name and wanted(key))
    return ImportedSaver(meta.saver_def, prefix) if meta.HasField("saver_def") else None


def _check_bound(unbound: list[str], input_map: Mapping[str, Any]) -> None:
    missing = [name for name in dict.fromkeys(unbound) if name not in input_map]
    if missing:
        raise ValueError(
            f"Graph contains unbound inputs: {', '.join(missing)}. Must provide these inputs "
            "through input_map."
        )


def _restore(graph: Graph, meta: Any, prefix: str, is_wanted: Any) -> None:
    """Fill the collections, and let nodes be in branches and loops."""
    made: dict[bytes, Any] = {}
    contexts: dict[str, list[Any]] = {}
    kinds = dict(zip(_CONTEXTS, (pb.CondContextDef, pb.WhileContextDef), strict=True))
    for key, proto in sorted(meta.collection_def.items()):
        if key in kinds and is_wanted(key):
            contexts[key] = [pb.parse(kinds[key], each) for each in proto.bytes_list.value]
        elif is_wanted(key):
            restore_collection(graph, key, proto, prefix, made)
    conds, loops = (contexts.get(key, []) for key in _CONTEXTS)
    restore_contexts(graph, conds, loops, prefix)


def _read(given: Any) -> Any:
    """Return a copy of a MetaGraphDef, or the one in a file."""
    if getattr(getattr(given, "DESCRIPTOR", None), "full_name", "") == "tensorflow.MetaGraphDef":
        meta = pb.MetaGraphDef()
        meta.CopyFrom(pb.reparse(given))
        return meta
    if not isinstance(given, str | bytes | os.PathLike):
        raise TypeError(f"expected a MetaGraphDef or a file's name, not {given!r}")
    path = Path(os.fsdecode(given))
    if not path.exists():
        raise OSError(f"File {path} does not exist.")
    data = path.read_bytes()
    try:
        return pb.parse(pb.MetaGraphDef, data)
    except ValueError:
        pass  # it may be text
    try:
        return pb.from_text(pb.MetaGraphDef, data)
    except ValueError as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None
