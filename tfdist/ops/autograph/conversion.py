"""A Python function made one whose decisions may be nodes."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import sysconfig
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from tfdist.ops.autograph.names import RUNTIME, no_parameters
from tfdist.ops.autograph.source import Definition, definition_of
from tfdist.ops.autograph.statements import converted_tree

LEFT_ALONE = "_autograph_leaves_alone"  # attribute of a function that is not to be converted
_GENERATES = 0x20 | 0x80 | 0x100 | 0x200  # flags of code that yields or awaits
_PACKAGE = str(Path(__file__).resolve().parents[2])
_LIBRARIES = tuple(
    {
        sysconfig.get_path(name)
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
        if sysconfig.get_path(name)
    }
)


def is_convertible(function: Any) -> bool:
    """Return whether something is a function of the user's that may be converted."""
    if not isinstance(function, FunctionType) or hasattr(function, LEFT_ALONE):
        return False
    file = function.__code__.co_filename
    is_foreign = file.startswith((_PACKAGE + "/", *_LIBRARIES))
    return not is_foreign and not function.__code__.co_flags & _GENERATES


def converted_function(function: FunctionType, runtime: Any) -> Any:
    """Return the converted function, itself if nothing in it decides or calls.

    Args:
      function: the user's.
      runtime: what its code knows as `ag__`.

    Raises:
      Unconvertible: it has to stay as it is.
    """
    definition, changed = changed_definition(function)
    if not changed:
        return function
    return _compiled(function, definition, runtime)


def changed_definition(function: FunctionType) -> tuple[Definition, bool]:
    """Return the syntax tree of a converted function, and whether it differs from the function's.

    Raises:
      Unconvertible: it has to stay as it is.
    """
    definition = copy.deepcopy(definition_of(function))
    return definition, converted_tree(definition, functools.partial(_may_need, function))


# which calls are left alone


def _may_need(function: FunctionType, called: ast.expr) -> bool:
    """Return whether what an expression calls may have to be converted: it is not known, or is."""
    try:
        value = _value_of(function, called)
    except LookupError:
        return True
    return value in _BUILTINS if _is_hashable_builtin(value) else not _is_known(value)


_BUILTINS = {print, len, range, int, float, enumerate, abs, max, min}


def _is_hashable_builtin(value: Any) -> bool:
    return getattr(builtins, getattr(value, "__name__", "?"), None) is value


def _is_known(value: Any) -> bool:
    """Return whether a value is nothing that is ever converted."""
    return not isinstance(value, FunctionType | MethodType) or not is_convertible(
        getattr(value, "__func__", value)
    )


def _value_of(function: FunctionType, node: ast.expr) -> Any:
    """Return a name's or a module's attribute's value, as far as it cannot change.

    Raises:
      LookupError: it is not known.
    """
    match node:
        case ast.Name(id=name):
            code = function.__code__
            if name in code.co_varnames + code.co_cellvars + code.co_freevars:
                raise LookupError
            found = function.__globals__.get(name, getattr(builtins, name, _value_of))
            if found is _value_of:
                raise LookupError
            return found
        case ast.Attribute(value=inner, attr=name):
            module = _value_of(function, inner)
            found = getattr(module, name, _value_of) if _has_fixed_names(module) else _value_of
            if found is _value_of:
                raise LookupError
            return found
    raise LookupError


def _has_fixed_names(value: Any) -> bool:
    return isinstance(value, ModuleType | type) or type(value).__name__ == "SimpleNamespace"


# compiling


def _compiled(function: FunctionType, definition: Definition, runtime: Any) -> FunctionType:
    """Return a function with the code of `definition`, and all else of `function`."""
    name = function.__name__
    free = [each for each in function.__code__.co_freevars if each != RUNTIME]
    inner = _as_statement(_without_defaults(definition), function)
    factory = ast.FunctionDef("factory", no_parameters(RUNTIME, *free), [inner], [])
    tree = ast.Module([ast.copy_location(factory, inner)], [])
    whole = compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec")
    code = _code_in(_code_in(whole, "factory"), "<lambda>" if name == "<lambda>" else None)
    made = FunctionType(code, function.__globals__, name, function.__defaults__,
                        tuple(_cells(function, code, runtime)))  # fmt: skip
    functools.update_wrapper(made, function)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _cells(function: FunctionType, code: CodeType, runtime: Any) -> list[CellType]:
    """Return the cells of a converted function: those of the original, and the operators."""
    own = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return [own.get(name) or CellType(runtime) for name in code.co_freevars]


def _code_in(code: CodeType, name: str | None) -> CodeType:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return next(each for each in inner if name is None or each.co_name == name)


def _as_statement(definition: Definition, function: FunctionType) -> ast.stmt:
    mangled = _Mangled(function).visit(definition)
    if isinstance(mangled, ast.Lambda):
        return ast.copy_location(ast.Return(mangled), mangled)
    return mangled  # type: ignore[no-any-return]


def _without_defaults(definition: Definition) -> Definition:
    """Return a definition whose compiling asks for nothing but its body."""
    arguments = definition.args
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [each and ast.Constant(None) for each in arguments.kw_defaults]
    for each in ast.walk(arguments):
        if isinstance(each, ast.arg):
            each.annotation = None
    if isinstance(definition, ast.FunctionDef):
        definition.decorator_list, definition.returns = [], None
    return definition


class _Mangled(ast.NodeTransformer):
    """Names like `self.__x` as they are in the class that a method stands in."""

    def __init__(self, function: FunctionType) -> None:
        *_, owner, _ = ["<locals>", *function.__qualname__.split(".")]
        self._owner = "" if owner == "<locals>" else owner.lstrip("_")

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if self._owner and node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{self._owner}{node.attr}"
        return node
