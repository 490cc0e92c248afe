"""tf.contrib.autograph: the earlier home of tf.autograph."""

from tfdist.programs.autograph import (
    Feature,
    convert,
    do_not_convert,
    set_loop_options,
    to_code,
    to_graph,
)
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.autograph")
