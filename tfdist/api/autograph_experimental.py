"""tf.autograph.experimental: see tf.autograph."""

from tfdist.programs.autograph import Feature, do_not_convert, set_loop_options
from tfdist.programs.missing import told

__getattr__ = told("tf.autograph.experimental")
