"""tf.test: what a program asks of the devices that it runs on."""

from tfdist.programs.missing import told
from tfdist.session.device_lib import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_gpu_available,
)

__getattr__ = told("tf.test")
