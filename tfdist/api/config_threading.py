"""tf.config.threading: how many threads steps may take."""

from tfdist.programs.missing import told
from tfdist.session.process_config import (
    get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads,
)

__getattr__ = told("tf.config.threading")
