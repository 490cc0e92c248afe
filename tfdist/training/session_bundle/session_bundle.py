"""Exports of `exporter`, loaded: as tensorflow.contrib.session_bundle did up to TF 1.12."""

from __future__ import annotations

import os
from glob import glob
from typing import Any

from tfdist.graph.graph import Graph
from tfdist.protos import pb
from tfdist.session.session import Session
from tfdist.training.saving.meta_graph_import import import_meta_graph
from tfdist.training.session_bundle import constants


def maybe_session_bundle_dir(export_dir: Any) -> bool:
    """Return whether a folder holds an export: its MetaGraph, and variables.

    Example:
      >>> from tfdist.training.session_bundle.session_bundle import maybe_session_bundle_dir
      >>> maybe_session_bundle_dir(".")
      False
    """
    folder = os.fsdecode(export_dir)
    meta = os.path.join(folder, constants.META_GRAPH_DEF_FILENAME)
    return os.path.exists(meta) and _variables(folder) is not None


def _variables(folder: str) -> str | None:
    """Return the path of an export's variables, in the format of its Saver; None if not there.

    The first releases wrote one file, or shards, which are restored by their pattern.
    """
    for there, name in (
        (constants.VARIABLES_INDEX_FILENAME_V2, constants.VARIABLES_FILENAME),
        (constants.VARIABLES_FILENAME_PATTERN, constants.VARIABLES_FILENAME_PATTERN),
        (constants.VARIABLES_FILENAME, constants.VARIABLES_FILENAME),
    ):
        if glob(there, root_dir=folder):
            return os.path.join(folder, name)
    return None


def load_session_bundle_from_path(
    export_dir: Any, target: str = "", config: Any = None, meta_graph_def: Any = None
) -> tuple[Any, Any]:
    """Return a session with an export's graph and variables, and the MetaGraphDef.

    Args:
      export_dir: folder of one version.
      target: address of a server; "" for this process.
      config: a ConfigProto.
      meta_graph_def: instead of the one in the folder.

    Raises:
      RuntimeError: the folder holds no export.

    Example:
      >>> from tempfile import mkdtemp
      >>> from tfdist.training.session_bundle.exporter import Exporter
      >>> from tfdist.training.session_bundle.session_bundle import load_session_bundle_from_path
      >>> count = Variable(7, name="count")
      >>> with Session() as session:
      ...     session.run(count.initializer)
      ...     exporter = Exporter(train.Saver())
      ...     exporter.init()
      ...     folder = exporter.export(mkdtemp(), count, session)
      >>> session, _ = load_session_bundle_from_path(folder)
      >>> session.run("count:0")
      np.int32(7)
    """
    folder = os.fsdecode(export_dir)
    if not maybe_session_bundle_dir(folder):
        raise RuntimeError(
            f"Expected meta graph file missing {folder}: want a folder of one version, with "
            f"{constants.META_GRAPH_DEF_FILENAME} and variables"
        )
    if meta_graph_def is None:
        with open(os.path.join(folder, constants.META_GRAPH_DEF_FILENAME), "rb") as file:
            meta_graph_def = pb.parse(pb.MetaGraphDef, file.read())
    with Graph().as_default() as graph:
        session = Session(target, graph=graph, config=config)
        saver = import_meta_graph(meta_graph_def)
    if saver is not None:
        saver.restore(session, _variables(folder))
    for operation in graph.get_collection(constants.INIT_OP_KEY):
        session.run(operation, _asset_feeds(graph, folder))
    return session, meta_graph_def


def _asset_feeds(graph: Graph, folder: str) -> dict[str, str]:
    """Return where an export's files are, by the names of the tensors that hold their paths."""
    packed = graph.get_collection(constants.ASSETS_KEY)
    assets = [pb.parse(pb.AssetFile, each.value) for each in packed]
    place = os.path.join(folder, constants.ASSETS_DIRECTORY)
    return {each.tensor_binding.tensor_name: os.path.join(place, each.filename) for each in assets}
