"""tf.graph_util: parts of GraphDefs."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.graph.graph_import import import_graph_def
    from tfdist.session.graph_util import (
        convert_variables_to_constants,
        extract_sub_graph,
        must_run_on_cpu,
        remove_training_nodes,
        tensor_shape_from_node_def_name,
    )

__getattr__, __dir__ = lazy(__name__, "tf.graph_util")
