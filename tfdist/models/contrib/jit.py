"""Blocks that XLA would compile: the nodes made inside are as others are.

Source: TF 1.15 API documentation, tf.xla.experimental.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["jit_scope"]


@contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Make nodes as outside: results are the same whether something compiles them or not.

    Args:
      compile_ops: a bool, or a function from a node to one; taken and not needed.
      separate_compiled_gradients: taken and not needed.

    Example:
      >>> with xla.experimental.jit_scope():
      ...     y = constant(2.0) * 3.0
      >>> float(Session().run(y))
      6.0
    """
    yield
