"""tf.graph_util: parts of GraphDefs."""

from tfdist.graph.graph_import import import_graph_def
from tfdist.programs.missing import told
from tfdist.session.graph_util import (
    convert_variables_to_constants,
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)

__getattr__ = told("tf.graph_util")
