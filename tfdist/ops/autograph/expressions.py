"""Expressions that decide, or call: each becomes a call of an operator."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tfdist.ops.autograph.names import RUNTIME, at, operator, thunk, walk

_COMPARED = {ast.Eq: "eq", ast.NotEq: "not_eq"}
_OWN = {"super", "locals", "globals", "vars", "eval", "exec", "dir"}  # they look at who calls them
_CANNOT_MOVE = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


class Expressions(ast.NodeTransformer):
    """Replaces boolean operators, choices, calls, and reads of names that may be undefined."""

    def __init__(self, needs_conversion: Callable[[ast.expr], bool]) -> None:
        """Replace what decides.

        Args:
          needs_conversion: tells of the function of a call whether it may have to be converted.
        """
        self._needs_conversion = needs_conversion
        self.maybe_undefined: set[str] = set()
        self.changed = False

    def _made(self, made: ast.expr, node: ast.expr) -> ast.expr:
        self.changed = True
        found: ast.expr = at(made, node)
        return found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.maybe_undefined:
            return self._made(operator("given", node), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        if _cannot_move(*node.values[1:]):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self._made(operator(name, *map(thunk, node.values)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        is_not = isinstance(node.op, ast.Not)
        return self._made(operator("not_", node.operand), node) if is_not else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if _cannot_move(node.body, node.orelse):
            return node
        return self._made(
            operator("choice", node.test, *map(thunk, (node.body, node.orelse))), node
        )

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        middles = node.comparators[:-1]
        if not all(isinstance(each, ast.Name | ast.Constant) for each in middles):
            self.generic_visit(node)
            return node
        lefts = [node.left, *middles]
        parts = [
            self._compared(*each) for each in zip(lefts, node.ops, node.comparators, strict=True)
        ]
        if len(parts) == 1:
            return ast.copy_location(parts[0], node)
        return self._made(operator("and_", *map(thunk, parts)), node)

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
        sides = self.visit(left), self.visit(right)
        name = _COMPARED.get(type(op))
        if name is None or any(isinstance(each, ast.Constant) and each.value is None
                               for each in sides):  # fmt: skip
            made: ast.expr = ast.Compare(sides[0], [op], [sides[1]])
            found: ast.expr = at(made, left)
            return found
        return self._made(operator(name, *sides), left)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        needs = not _is_own(node.func) and self._needs_conversion(node.func)
        self.generic_visit(node)
        if not needs:
            return node
        made = operator("call", node.func, *node.args)
        made.keywords = node.keywords
        return self._made(made, node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        node.body = self.visit(node.body)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node  # what stands in a text has no places of its own before Python 3.12


def _is_own(called: ast.expr) -> bool:
    """Return whether a call has to stand where it does, or is made here."""
    match called:
        case ast.Name(id=name):
            return name in _OWN
        case ast.Attribute(value=ast.Name(id=name)):
            return name == RUNTIME
    return False


def _cannot_move(*nodes: ast.AST) -> bool:
    """Return whether expressions cannot stand in a function of their own."""
    return any(isinstance(each, _CANNOT_MOVE) for each in walk(nodes))


def looks_at_its_caller(nodes: Any) -> bool:
    """Return whether something has to stand in the function itself."""
    return any(isinstance(each, ast.Name) and each.id in _OWN for each in walk(nodes))
