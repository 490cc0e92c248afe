"""tf.contrib.graph_editor: parts of graphs found, copied, and put together anew."""

from tfdist.models.graph_copying import *
from tfdist.models.graph_rerouting import *
from tfdist.models.graph_selecting import *
from tfdist.models.graph_subgraphs import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.graph_editor")
