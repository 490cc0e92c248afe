"""Imports tfdist or a TensorFlow as TensorFlow 1.x's names. Runs under Python 3.7 too."""

from __future__ import annotations

import importlib
from typing import Any


def load(module: str) -> Any:
    """Return `module` as TensorFlow 1.x's names."""
    tf = importlib.import_module(module)
    if tf.__version__.startswith("2."):
        tf = tf.compat.v1
        tf.disable_v2_behavior()
    if hasattr(tf, "logging"):
        tf.logging.set_verbosity(tf.logging.ERROR)
    return tf
