"""tensorflow.python.tools.freeze_graph: a graph of a file, with the values of a checkpoint in it.

Source: TF 1.15 API documentation, the module's functions; errors by experiment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.graph import Graph
from tfdist.graph.graph_import import import_graph_def
from tfdist.graph.op_def import raw
from tfdist.ops.array.constants import placeholder
from tfdist.protos import pb
from tfdist.session.graph_util import convert_variables_to_constants
from tfdist.session.session import Session
from tfdist.training.saved_model.loader import load
from tfdist.training.saving.checkpoint_management import checkpoint_exists
from tfdist.training.saving.checkpoint_utils import load_checkpoint
from tfdist.training.saving.meta_graph import unplace
from tfdist.training.saving.meta_graph_import import import_meta_graph
from tfdist.training.saving.saver import Saver

__all__ = ["freeze_graph", "freeze_graph_with_def_protos"]


def freeze_graph(
    input_graph: str,
    input_saver: str | None,
    input_binary: bool,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = 2,
) -> Any:
    """Return the GraphDef of what some nodes need, with a checkpoint's values as constants.

    Args:
      input_graph: file of a GraphDef.
      input_saver: file of a SaverDef, whose nodes restore then.
      input_binary: whether the files are binary; else they are text.
      input_checkpoint: of the values.
      output_node_names: names of the nodes, with commas between them.
      restore_op_name: taken and not needed.
      filename_tensor_name: taken and not needed.
      output_graph: file to be written, binary; "" for none.
      clear_devices: whether the nodes shall ask for no device.
      initializer_nodes: names of nodes that run first, with commas between them.
      variable_names_whitelist: names of the variables to convert; all by default.
      variable_names_blacklist: names of variables that stay.
      input_meta_graph: file of a MetaGraphDef, instead of `input_graph`.
      input_saved_model_dir: folder of a SavedModel, instead of that and the checkpoint.
      saved_model_tags: those of the graph there.
      checkpoint_version: taken and not needed.

    Raises:
      OSError: a file is not there.
      ValueError: there is no checkpoint, or no node is named.
      AssertionError: a node is not there.
    """
    read = [
        _read(kind, what, path, input_binary)
        for kind, what, path in (
            (pb.GraphDef, "graph", "" if input_meta_graph else input_graph),
            (pb.SaverDef, "saver", input_saver),
            (pb.MetaGraphDef, "meta graph", input_meta_graph),
        )
    ]
    graph_def, saver_def, meta_graph_def = read
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name,
        filename_tensor_name, output_graph, clear_devices, initializer_nodes,
        variable_names_whitelist, variable_names_blacklist, meta_graph_def, input_saved_model_dir,
        saved_model_tags.split(","), checkpoint_version,
    )  # fmt: skip


def _read(kind: Any, what: str, path: str | None, is_binary: bool) -> Any:
    """Return the message in a file, None if no file is named."""
    if not path:
        return None
    if not Path(path).exists():
        raise OSError(f"Input {what} file '{path}' does not exist!")
    data = Path(path).read_bytes()
    try:
        return pb.parse(kind, data) if is_binary else pb.from_text(kind, data)
    except ValueError as error:
        raise ValueError(
            f"Input {what} file '{path}' holds no {kind.DESCRIPTOR.name} "
            f"{'in binary form' if is_binary else 'as text'} ({error or 'it is not UTF-8'}); "
            f"input_binary={not is_binary} reads the other form"
        ) from None


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: Any = None,
    checkpoint_version: int = 2,
) -> Any:
    """Return what `freeze_graph` does, of messages instead of files."""
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint or ""):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    with Graph().as_default(), Session() as session:
        if input_saved_model_dir:
            graph_def = load(session, saved_model_tags, input_saved_model_dir).graph_def
        elif input_meta_graph_def:
            import_meta_graph(input_meta_graph_def, clear_devices).restore(
                session, input_checkpoint
            )
            graph_def = input_meta_graph_def.graph_def
        else:
            graph_def = input_graph_def
            _restore(session, graph_def, input_saver_def, input_checkpoint, clear_devices)
        if initializer_nodes:
            session.run(_names(initializer_nodes))
        if clear_devices:
            unplace(graph_def)
        frozen = convert_variables_to_constants(
            session, graph_def, _names(output_node_names),
            _names(variable_names_whitelist) or None, _names(variable_names_blacklist),
        )  # fmt: skip
    if output_graph:
        Path(output_graph).write_bytes(frozen.SerializeToString())
    return frozen


def _names(text: str) -> list[str]:
    return text.replace(" ", "").split(",") if text else []


def _restore(
    session: Any, graph_def: Any, saver_def: Any, checkpoint: Any, clear_devices: bool
) -> None:
    """Add a graph's nodes, and give its variables the values of a checkpoint."""
    if clear_devices:
        unplace(graph_def)
    import_graph_def(graph_def, name="")
    if saver_def:
        Saver(saver_def=saver_def).restore(session, checkpoint)
        return
    reader = load_checkpoint(checkpoint)
    for variable in session.graph.get_operations():
        assign = _ASSIGNMENTS.get(variable.type)
        if assign and reader.has_tensor(variable.name):
            value = placeholder(dtypes.as_dtype(variable.get_attr("dtype")))
            fed = {value: reader.get_tensor(variable.name)}
            session.run(assign(variable.outputs[0], value), fed)


# Op of a variable -> what gives it a value.
_ASSIGNMENTS = {
    "Variable": raw.Assign,
    "VariableV2": raw.Assign,
    "VarHandleOp": raw.AssignVariableOp,
}
