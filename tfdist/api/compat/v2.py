"""tf.compat.v2: version 2's names, as far as version 1 has what they stand for.

Most are those of version 1; some functions take their arguments in another order (`_v2_names`
and `_v2_calls` say which). Variables are resource variables.
"""

# mypy: implicit-reexport

import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Any

from tfdist.api.compat._v2_calls import CALLS
from tfdist.api.compat._v2_names import HOMES, OWN, SAME
from tfdist.ops.variables.variable import Variable as _Variable
from tfdist.programs.missing import public, space, told

_CONSTANTS = {"True": True, "False": False}


def _call(function: Callable[..., Any], arguments: str, name: str) -> Callable[..., Any]:
    """Return a function that takes `arguments`, a line of `CALLS`, for one of version 1."""
    renamed, given, required = {}, {}, set()
    for argument in arguments.split():
        names, _, value = argument.partition("=")
        if names.endswith("!"):
            names = names.removesuffix("!")
            required.add(names)
        later, _, earlier = names.partition(":")
        if names.endswith(":") or value:
            given[later] = _constant(value)
        if not names.endswith(":"):
            renamed[later] = earlier or later

    def call(*positional: Any, **named: Any) -> Any:
        if len(positional) > len(renamed) or not named.keys() <= renamed.keys():
            raise TypeError(f"{name}() takes ({', '.join(renamed)}), got {positional} and {named}")
        told = {**given, **dict(zip(renamed, positional, strict=False)), **named}
        return function(**{renamed.get(key, key): value for key, value in told.items()})

    call.__name__ = call.__qualname__ = name
    call.__signature__ = _signature(function, renamed, given, required)  # type: ignore[attr-defined]
    call.__doc__ = f"Return what {function.__name__} of version 1 gives for ({', '.join(renamed)})."
    return call


def _signature(
    function: Callable[..., Any],
    renamed: dict[str, str],
    given: dict[str, Any],
    required: set[str],
) -> inspect.Signature:
    """Return the signature that libraries compare with those of their own functions."""
    known = inspect.signature(function).parameters
    parameters = [
        inspect.Parameter(
            later,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=given.get(later, known[earlier].default if earlier in known else None),
        )
        for later, earlier in renamed.items()
    ]
    empty = inspect.Parameter.empty
    last = max((at for at, it in enumerate(parameters) if it.default is empty), default=-1)
    return inspect.Signature([
        it.replace(default=empty) if at < last or it.name in required else it
        for at, it in enumerate(parameters)
    ])  # fmt: skip


def _constant(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return _CONSTANTS.get(text, text)


def _calls(home: Any, lines: str) -> dict[str, Any]:
    """Return the functions of some lines of `CALLS`."""
    found = {}
    for earlier, arguments, later in re.findall(r"(\w+)\(([^)]*)\)(?:\s+as\s+(\w+))?", lines):
        name = later or earlier
        found[name] = _call(getattr(home, earlier), arguments, name)
    return found


def _names(path: str) -> dict[str, Any]:
    """Return what a namespace holds."""
    home = attrgetter(HOMES.get(path, path))(public()) if path else public()
    found = {name: getattr(home, name) for name in SAME.get(path, "").split()}
    if path in OWN:
        own = import_module(OWN[path])
        found |= {name: getattr(own, name) for name in own.__all__}
    return found | (_calls(home, CALLS[path]) if path in CALLS else {})


class _Made(type):
    """The class of `Variable`, of which all variables are."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _Variable)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _Variable)

    def __call__(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
    ) -> Any:
        return _Variable(
            initial_value, trainable, None, validate_shape, caching_device, name, variable_def,
            dtype, None, import_scope, constraint, use_resource=True,
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip


class Variable(metaclass=_Made):
    """A resource variable; see version 1's `Variable` for the arguments.

    Example:
      >>> Variable(1.0).op.type
      'VarHandleOp'
    """


def _space(path: str) -> ModuleType:
    """Return the module of a namespace, which is made with those around it."""
    if not path:
        return sys.modules[__name__]
    outer, _, name = path.rpartition(".")
    around = _space(outer)
    if name not in vars(around):
        setattr(around, name, space(f"tf.compat.v2.{path}"))
    return vars(around)[name]  # type: ignore[no-any-return]


for _path in sorted({*SAME, *CALLS}):
    vars(_space(_path)).update(_names(_path))
vars(_space("compat"))["v1"] = public()
__getattr__ = told("tf.compat.v2")
