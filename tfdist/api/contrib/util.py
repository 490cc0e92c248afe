"""tf.contrib.util: tensors as messages, and what GraphDefs use."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.graph.tensor_proto import make_ndarray, make_tensor_proto
    from tfdist.models.contrib.util import *
    from tfdist.ops.framework.tensor_util import get_static_value as constant_value

__getattr__, __dir__ = lazy(__name__, "tf.contrib.util")
