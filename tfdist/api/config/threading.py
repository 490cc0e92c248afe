"""tf.config.threading: how many threads steps may take."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.session.process_config import (
        get_inter_op_parallelism_threads,
        get_intra_op_parallelism_threads,
        set_inter_op_parallelism_threads,
        set_intra_op_parallelism_threads,
    )

__getattr__, __dir__ = lazy(__name__, "tf.config.threading")
