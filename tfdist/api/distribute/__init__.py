"""tf.distribute: cluster resolvers, and 1.14's other name for tf.train.Server; no strategies."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.distribute import cluster_resolver
    from tfdist.wire.server import Server

__getattr__, __dir__ = lazy(__name__, "tf.distribute")
