"""tf.version: whose behaviour this is, as TensorFlow says it."""

# mypy: implicit-reexport

from tfdist.base.namespace import lazy
from tfdist.programs.modules import VERSION

GIT_VERSION = f"v{VERSION}"
COMPILER_VERSION = ""  # nothing here was compiled
# The versions of GraphDefs that TensorFlow 1.15.5 writes and reads.
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

__getattr__, __dir__ = lazy(__name__, "tf.version")
