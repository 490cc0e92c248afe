"""A program's source with what no name can bring back: arrays of one element are numbers again.

`float(array)`, `"%d" % array` and `numbers[0] = array` took arrays of one element in NumPy 1, and
arrays had a method `tostring`. NumPy's types are closed, so the program's own modules are compiled
with such expressions turned into calls of this module.
"""

from __future__ import annotations

import ast
import builtins
import functools
import operator
import re
import sys
import sysconfig
from builtins import slice
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from tfdist.programs.numpy1 import METHODS, scalar

NAME = "__numpy1__"  # under which a rewritten module finds this one
NUMBERS = ("int", "float", "complex")
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
OURS = ("tfdist", "tensorflow")
CONVERSION = re.compile(r"%(?:\([^)]*\))?[-#0 +]*[*\d]*(?:\.[*\d]+)?[hlL]?(.)", re.DOTALL)

__all__ = ["Finder", "formatted", "method", "run", "scalar", "set_item", "slice", "update_item"]


def formatted(pattern: Any, values: Any) -> Any:
    """Return `pattern % values`; an array of one element is a number where one is wanted."""
    if not isinstance(pattern, str):
        return pattern % values
    kinds = [kind for kind in CONVERSION.findall(pattern) if kind != "%"]
    if isinstance(values, tuple) and len(values) == len(kinds):
        values = tuple(map(_wanted, kinds, values))
    elif len(kinds) == 1 and not isinstance(values, dict):
        values = _wanted(kinds[0], values)
    return pattern % values


def _wanted(kind: str, value: Any) -> Any:
    return value if kind in "sra" else scalar(value)


def set_item(holder: Any, index: Any, value: Any) -> None:
    """Do `holder[index] = value`; an array of one element is a number where one is wanted."""
    try:
        holder[index] = value
    except (TypeError, ValueError):
        if not isinstance(holder, np.ndarray) or scalar(value) is value:
            raise
        holder[index] = scalar(value)


def update_item(holder: Any, index: Any, name: str, value: Any) -> None:
    """Do `holder[index] += value`, or what else `name` says; see `set_item`."""
    set_item(holder, index, getattr(operator, name)(holder[index], value))


def method(holder: Any, name: str) -> Any:
    """Return `holder.name`; arrays have the methods that they had in NumPy 1."""
    if isinstance(holder, np.ndarray | np.generic) and not hasattr(holder, name):
        function = METHODS[name][1]
        return lambda *arguments, **options: function(holder, *arguments, **options)
    return getattr(holder, name)


class _Rewriter(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        is_number = isinstance(called, ast.Name) and called.id in NUMBERS and len(node.args) == 1
        of_math = isinstance(called, ast.Attribute) and _is(called.value, "math")
        if (is_number or of_math) and not any(isinstance(e, ast.Starred) for e in node.args):
            node.args = [_call("scalar", each) for each in node.args]
        elif _is(called, "open") and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            node.args[1].value = str(node.args[1].value).replace("U", "") or "r"
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if is_text and isinstance(node.op, ast.Mod):
            return _call("formatted", node.left, node.right)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Subscript):
            return ast.Expr(_call("set_item", target.value, _index(target.slice), node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Subscript):
            return node
        name = ast.Constant(_IN_PLACE[type(node.op)])
        target = node.target
        return ast.Expr(_call("update_item", target.value, _index(target.slice), name, node.value))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in METHODS and isinstance(node.ctx, ast.Load):
            return _call("method", node.value, ast.Constant(node.attr))
        return node


_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.MatMult: "imatmul",
    ast.Div: "itruediv", ast.Mod: "imod", ast.Pow: "ipow", ast.LShift: "ilshift",
    ast.RShift: "irshift", ast.BitOr: "ior", ast.BitXor: "ixor", ast.BitAnd: "iand",
    ast.FloorDiv: "ifloordiv",
}  # fmt: skip


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    home = ast.Name(NAME, ast.Load())
    return ast.Call(ast.Attribute(home, name, ast.Load()), list(arguments), [])


def _index(index: ast.expr) -> ast.expr:
    """Return an expression of what stands in `[...]`, where slices may stand too."""
    if isinstance(index, ast.Slice):
        ends = [each or ast.Constant(None) for each in (index.lower, index.upper, index.step)]
        return _call("slice", *ends)  # the program may have a `slice` of its own
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_index(each) for each in index.elts], ast.Load())
    return index


def compiled(source: Any, path: str) -> CodeType:
    """Return the code of a module of a program, rewritten.

    Raises:
      SyntaxError: it is no Python.
    """
    tree = _Rewriter().visit(ast.parse(source, path))
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module; nothing is kept in files, whose name others use."""
        path = self.get_filename(fullname)
        return compiled(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Run a module, which finds this one."""
        module.__dict__[NAME] = _this()
        super().exec_module(module)


# what libraries of the time gave, and later versions do not


def _bytes_are_read(attrs: Any) -> None:
    """Let attributes that were written as bytes be read as bytes, as by h5py 2: Keras decodes."""
    read = attrs.AttributeManager.__getitem__

    def getitem(self: Any, name: str) -> Any:
        value = read(self, name)
        if isinstance(value, bytes) or not _is_of_bytes(self.get_id(name)):
            return value
        return value.encode() if isinstance(value, str) else np.char.encode(value.astype(str))

    attrs.AttributeManager.__getitem__ = getitem


def _is_of_bytes(attribute: Any) -> bool:
    kind = attribute.get_type()
    return hasattr(kind, "get_cset") and kind.is_variable_str() and kind.get_cset() == 0  # ASCII


def _files_are_made(files: Any) -> None:
    """Let a file be made where there is none, as by h5py 2."""
    start = files.File.__init__

    @functools.wraps(start)
    def init(self: Any, name: Any, mode: str = "a", *arguments: Any, **options: Any) -> None:
        start(self, name, mode, *arguments, **options)

    files.File.__init__ = init
    files.File.fid = property(lambda self: self.id)


EARLIER = {"h5py._hl.attrs": _bytes_are_read, "h5py._hl.files": _files_are_made}


class _EarlierLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Run a library's module, and give it what an earlier version had."""
        super().exec_module(module)
        EARLIER[module.__name__](module)


_MESSAGES = """
from google.protobuf import descriptor_pool as _pool
from google.protobuf.internal import builder as _builder
DESCRIPTOR = _pool.Default().AddSerializedFile({file!r})
_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
_builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, {name!r}, globals())
"""


class _MessagesLoader(SourceFileLoader):
    """Loads messages that protoc before 3.19 generated, which protobuf 4 refuses."""

    def get_code(self, fullname: str) -> CodeType:
        """Return code that makes the messages from the file that stands in the source."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        file = next(filter(None, map(_serialized, ast.walk(tree))), None)
        if file is None:  # generated since
            return compile(tree, path, "exec", dont_inherit=True)
        others = [ast.unparse(each) for each in tree.body if _imports_messages(each)]
        source = "\n".join(others) + _MESSAGES.format(file=file, name=fullname)
        return compile(source, path, "exec", dont_inherit=True)


def _imports_messages(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) and "_pb2" in ast.unparse(node)


def _serialized(node: ast.AST) -> bytes | None:
    """Return the file that `FileDescriptor(serialized_pb=...)` is given."""
    name = getattr(getattr(node, "func", None), "attr", None)
    if not isinstance(node, ast.Call) or name != "FileDescriptor":
        return None
    texts = [each.value for each in node.keywords if each.arg == "serialized_pb"]
    found = [each for text in texts for each in ast.walk(text) if isinstance(each, ast.Constant)]
    value = found[0].value if found else None
    return value.encode("latin1") if isinstance(value, str) else value  # type: ignore[return-value]


class Finder:
    """Finds the program's own modules, those that no library has (`MetaPathFinder`)."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """Return how to load a module; None for others."""
        if name.partition(".")[0] in OURS:
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is None or type(found.loader) is not SourceFileLoader:
            return None
        path_of = str(found.origin)
        of_time = _EarlierLoader if name in EARLIER else _MessagesLoader
        if name in EARLIER or (name.endswith("_pb2") and not name.startswith("google.")):
            found.loader = of_time(name, path_of)
            return found
        if path_of.startswith(LIBRARIES):
            return None
        found.loader = _Loader(name, path_of)
        return found


def run(path: str) -> None:
    """Run a file as the main module, rewritten.

    Raises:
      SyntaxError: it is no Python.
    """
    module = ModuleType("__main__")
    module.__dict__.update({"__file__": path, "__builtins__": builtins, NAME: _this()})
    sys.modules["__main__"] = module
    exec(compiled(Path(path).read_bytes(), path), module.__dict__)


def _this() -> ModuleType:
    return sys.modules[__name__]
