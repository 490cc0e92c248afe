"""tf.config.optimizer: what is done to graphs before they run."""

from tfdist.programs.missing import told
from tfdist.session.process_config import (
    get_experimental_options,
    get_jit,
    set_experimental_options,
    set_jit,
)

__getattr__ = told("tf.config.optimizer")
