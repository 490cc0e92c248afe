"""tf.autograph: Python's `if`, `while` and `for` made into graphs; see `ops.autograph`."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable
from typing import Any

from tfdist.ops.autograph.conversion import LEFT_ALONE, changed_definition
from tfdist.ops.autograph.converting import converted
from tfdist.ops.autograph.source import Unconvertible


def to_graph(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Any = None,
    **options: Any,
) -> Any:
    """Return a function that does what `entity` does, but may decide by tensors.

    Args:
      entity: a Python function; what has no source comes back as it is.
      recursive: accepted: what the function calls may always decide by tensors.
      arg_values: accepted.
      arg_types: accepted.
      experimental_optional_features: accepted.
      options: accepted.

    Example:
      >>> def positive(x):
      ...     if x < 0:
      ...         x = -x
      ...     return x
      >>> Session().run(autograph.to_graph(positive)(constant(-2)))
      np.int32(2)
    """
    return converted(entity)


def to_code(entity: Any, *arguments: Any, **options: Any) -> str:
    """Return the Python text of what `to_graph` makes; `ag__` stands for the operators.

    Raises:
      ValueError: the function has no source, or cannot be converted.

    Example:
      >>> def positive(x):
      ...     return x if x > 0 else -x
      >>> "ag__.choice(x > 0" in autograph.to_code(positive)
      True
    """
    try:
        return ast.unparse(changed_definition(entity)[0])
    except (Unconvertible, AttributeError) as error:
        raise ValueError(f"{entity!r} cannot be converted: {error}") from None


def convert(*arguments: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that does what `to_graph` does.

    Example:
      >>> @contrib.autograph.convert()
      ... def least(x, y):
      ...     return x if x < y else y
      >>> Session().run(least(constant(2), constant(3)))
      np.int32(2)
    """
    return converted


def do_not_convert(func: Any = None, *arguments: Any, **options: Any) -> Any:
    """Return `func`, which stays as it is wherever functions are converted.

    Example:
      >>> autograph.experimental.do_not_convert(abs) is abs
      True
    """
    if func is None:
        return do_not_convert
    if hasattr(func, "__dict__"):
        setattr(func, LEFT_ALONE, True)
    return func


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accept any level: there is nothing to tell."""


def trace(*args: Any) -> None:
    """Print the arguments."""
    print(*args)


def set_loop_options(**options: Any) -> None:
    """Accept options of loops: they run as `tf.while_loop` has them by default."""


class Feature(enum.Enum):
    """Parts of Python that AutoGraph converts on demand there, and always here."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


class Base(ast.NodeTransformer):
    """A pass over a syntax tree, which libraries derive their own from (`pyct.transformer`).

    TensorFlow's passes are not here: `ops.autograph` converts in its own way.

    Args:
      ctx: what is known of the function that is converted.
    """

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx
