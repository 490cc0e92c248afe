"""tf.contrib.graph_editor: parts of graphs found, copied, and put together anew."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.graph_editor.copy import *
    from tfdist.models.graph_editor.reroute import *
    from tfdist.models.graph_editor.select import *
    from tfdist.models.graph_editor.subgraph import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.graph_editor")
