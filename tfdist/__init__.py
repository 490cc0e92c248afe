"""tfdist: TensorFlow 1.x's distributed runtime, alive again in Python, and visible.

    import tfdist as tf

gives the names of TensorFlow 1.x; `%load_ext tfdist` gives a notebook its magics.
"""

import sys as _sys
from typing import Any as _Any

from tfdist.api import compat as _compat
from tfdist.api.root import *  # noqa: F403

__version__ = "0.1.0"

_compat.v1 = _sys.modules[__name__]  # type: ignore[attr-defined]  # tf.compat.v1 is tf


def __getattr__(name: str) -> _Any:
    """Return a message class of the protocol (`tf.ConfigProto`), loaded when first asked for."""
    from tfdist.protos import pb

    try:
        return getattr(pb, name)
    except AttributeError:
        module = _sys.modules[__name__]  # with it Python can suggest a name
        message = f"module 'tfdist' has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=module) from None


def load_ipython_extension(shell: object) -> None:
    """Give an IPython shell the magics `%cluster`, `%trace`, `%placement`."""
    from tfdist.jupyter.extension import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Take the magics away; clusters go on."""
    from tfdist.jupyter.extension import unload_ipython_extension

    unload_ipython_extension(shell)
