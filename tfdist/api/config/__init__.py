"""tf.config: what sessions that are given no ConfigProto are made with."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.config import experimental, optimizer, threading
    from tfdist.session.process_config import (
        experimental_list_devices,
        experimental_run_functions_eagerly,
        get_soft_device_placement,
        set_soft_device_placement,
    )

__getattr__, __dir__ = lazy(__name__, "tf.config")
