"""MetaGraphs in files that TensorFlow wrote, or `export_meta_graph`: to a graph again.

Source: TF 1.15 API documentation, tf.train.import_meta_graph; MetaGraphDef in meta_graph.proto.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.graph_import import import_graph_def
from tfdist.ops.control_flow.context_defs import restore_contexts
from tfdist.ops.variables.collections import GraphKeys
from tfdist.protos import pb
from tfdist.training.saving.collection_defs import restore_collection
from tfdist.training.saving.meta_graph import CONTEXTS, UNBOUND_COLLECTION, unplace
from tfdist.training.saving.saver import Saver

__all__ = ["import_meta_graph"]


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Any = None,
    restore_collections_predicate: Any = None,
    unbound_inputs_col_name: str = UNBOUND_COLLECTION,
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
      The MetaGraph's Saver; a new one if it has none, but the graph has variables; else None.

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
        unplace(meta.graph_def)
    info = meta.meta_info_def
    op_list = info.stripped_op_list if info.HasField("stripped_op_list") else None
    import_graph_def(meta.graph_def, input_map, return_elements, scope, producer_op_list=op_list)
    wanted = restore_collections_predicate or (lambda _: True)
    _restore(graph, meta, prefix, lambda key: key != unbound_inputs_col_name and wanted(key))
    if meta.HasField("saver_def"):
        return Saver.from_proto(meta.saver_def, prefix or None)
    keys = GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS
    is_there = any(scopes.get_collection(key, scope or None) for key in keys)
    return Saver() if is_there else None


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
    kinds = dict(zip(CONTEXTS, (pb.CondContextDef, pb.WhileContextDef), strict=True))
    for key, proto in sorted(meta.collection_def.items()):
        if key in kinds and is_wanted(key):
            contexts[key] = [pb.parse(kinds[key], each) for each in proto.bytes_list.value]
        elif is_wanted(key):
            restore_collection(graph, key, proto, prefix, made)
    conds, loops = (contexts.get(key, []) for key in CONTEXTS)
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
