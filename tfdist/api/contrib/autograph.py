"""tf.contrib.autograph: the legacy home of tf.autograph."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.programs.autograph import (
        Feature,
        convert,
        do_not_convert,
        set_loop_options,
        to_code,
        to_graph,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.autograph")
