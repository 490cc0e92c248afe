"""The syntax tree of a function that is at hand."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

Definition = ast.FunctionDef | ast.Lambda


class Unconvertible(Exception):
    """A function has to stay as it is; the message says why."""


def definition_of(function: FunctionType) -> Definition:
    """Return the part of its file's syntax tree that defines `function`.

    Raises:
      Unconvertible: its source is not known, or not that of one function.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    found = [each for each in _definitions(_tree("".join(lines))) if _is_of(each, code)]
    if code.co_name == "<lambda>":  # of several in a line, the innermost that has all of the code
        found = sorted(found, key=_size)[:1]
    if len(found) != 1:
        raise Unconvertible(f"the source of {function.__qualname__} is not known")
    return found[0]


@lru_cache(maxsize=64)
def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError:  # a cell with magics, or a file that was changed
        raise Unconvertible("the source cannot be parsed") from None


def _definitions(tree: ast.Module) -> Iterator[Definition]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            yield node


def _is_of(node: Definition, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and _spans(node.body, code)
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return (node.name, first) == (code.co_name, code.co_firstlineno)


def _spans(body: ast.expr, code: CodeType) -> bool:
    """Return whether all of the code stands in `body`."""
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or end_column == 0:
            continue  # what the compiler added
        if (line, column) < begin or (end_line, end_column) > end:  # type: ignore[operator]
            return False
    return True


def _size(node: Definition) -> tuple[int, int]:
    assert isinstance(node, ast.Lambda)
    body = node.body
    lines = (body.end_lineno or 0) - body.lineno
    return lines, (body.end_col_offset or 0) - (0 if lines else body.col_offset)
