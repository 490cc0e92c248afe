"""tf.config: what sessions that are given no ConfigProto are made with."""

from tfdist.api import config_experimental as experimental
from tfdist.api import config_optimizer as optimizer
from tfdist.api import config_threading as threading
from tfdist.programs.missing import told
from tfdist.session.process_config import (
    experimental_list_devices,
    experimental_run_functions_eagerly,
    get_soft_device_placement,
    set_soft_device_placement,
)

__getattr__ = told("tf.config")
