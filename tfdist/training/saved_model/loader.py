"""SavedModels, read: those that TensorFlow wrote, too.

Source: TF 1.15 API documentation, tf.saved_model.loader.load.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tfdist.protos import pb
from tfdist.training.saved_model import names
from tfdist.training.saving.meta_graph_import import import_meta_graph

_LOG = logging.getLogger("tensorflow")


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Return whether there is a SavedModel in a folder.

    Args:
      export_dir: the folder.

    Example:
      >>> saved_model.loader.maybe_saved_model_directory("nowhere")
      False
    """
    folder = Path(os.fsdecode(export_dir))
    files = (names.SAVED_MODEL_FILENAME_PBTXT, names.SAVED_MODEL_FILENAME_PB)
    return any((folder / name).exists() for name in files)


def load(
    sess: Any, tags: Iterable[str] | str, export_dir: Any, import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:  # fmt: skip
    """Add a graph of a SavedModel to a session's graph, and give the variables their values.

    Args:
      sess: the session.
      tags: those of the graph: all, in any order.
      export_dir: the model's folder.
      import_scope: prefix of the new nodes.
      **saver_kwargs: for `tf.train.import_meta_graph`.

    Returns:
      The MetaGraphDef.

    Raises:
      OSError: there is no SavedModel.
      RuntimeError: it has no graph with these tags.

    Example:
      >>> import tempfile
      >>> folder = f"{tempfile.mkdtemp()}/model"
      >>> x = placeholder(float32, [], name="x")
      >>> y = add(x, Variable(1.0), name="y")
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     saved_model.simple_save(session, folder, {"x": x}, {"y": y})
      >>> with Session(graph=Graph()) as session:
      ...     meta_graph = saved_model.loader.load(session, ["serve"], folder)
      ...     print(meta_graph.signature_def["serving_default"].outputs["y"].name)
      ...     session.run("y:0", {"x:0": 1.0})
      y:0
      np.float32(2.0)
    """
    folder = Path(os.fsdecode(export_dir))
    meta = chosen(parse_saved_model(folder), {tags} if isinstance(tags, str) else set(tags))
    scope = (import_scope or "").rstrip("/")
    with sess.graph.as_default():
        scope = sess.graph.unique_name(scope, mark_as_used=False) if scope else ""
        before = {key: len(sess.graph.get_collection(key)) for key in _INIT_KEYS}
        saver = import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
        _restore(sess, saver, folder)
        new = [op for key in _INIT_KEYS for op in sess.graph.get_collection(key)[before[key] :]]
    if new:
        sess.run(new[:1], _asset_feeds(meta, folder, scope))
    return meta


_INIT_KEYS = (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY)


def parse_saved_model(export_dir: Any) -> Any:
    """Return the SavedModel message of a folder.

    Raises:
      OSError: there is none, or it is broken.
    """
    folder = Path(os.fsdecode(export_dir))
    binary, text = folder / names.SAVED_MODEL_FILENAME_PB, folder / names.SAVED_MODEL_FILENAME_PBTXT
    try:
        if binary.exists():
            return pb.parse(pb.SavedModel, binary.read_bytes())
        if text.exists():
            return pb.from_text(pb.SavedModel, text.read_bytes())
    except ValueError as error:
        raise OSError(
            f"Cannot parse file {binary if binary.exists() else text}: {error}."
        ) from None
    raise OSError(
        f"SavedModel file does not exist at: {folder}/{{{names.SAVED_MODEL_FILENAME_PBTXT}|"
        f"{names.SAVED_MODEL_FILENAME_PB}}}"
    )


def chosen(model: Any, tags: set[str]) -> Any:
    """Return the graph of a SavedModel that has just these tags.

    Raises:
      RuntimeError: none has.
    """
    for meta in model.meta_graphs:
        if set(meta.meta_info_def.tags) == tags:
            return meta
    shown = ", ".join(sorted(tags))
    there = [sorted(meta.meta_info_def.tags) for meta in model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {shown!r} could not be found in SavedModel; those of "
        f"its graphs are {there}: give all tags of one"
    )


def _restore(sess: Any, saver: Any, folder: Path) -> None:
    prefix = folder / names.VARIABLES_DIRECTORY / names.VARIABLES_FILENAME
    if not prefix.with_name(f"{prefix.name}.index").exists() and not prefix.exists():
        _LOG.info("The specified SavedModel has no variables; no checkpoints were restored.")
    elif saver is not None:
        saver.restore(sess, str(prefix))


def _asset_feeds(meta: Any, folder: Path, scope: str) -> Mapping[str, str]:
    """Return the files of the model by the names of the tensors that take their names."""
    found = list(meta.asset_file_def)
    if not found and names.ASSETS_KEY in meta.collection_def:
        packed = meta.collection_def[names.ASSETS_KEY].any_list.value
        found = [pb.parse(pb.AssetFileDef, each.value) for each in packed]
    prefix = f"{scope}/" if scope else ""
    place = folder / names.ASSETS_DIRECTORY
    return {prefix + each.tensor_info.name: str(place / each.filename) for each in found}
