"""Which names statements bind, and small parts of syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

RUNTIME = "ag__"  # by which converted code knows the operators


def walk(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes and what is in them, but for what is in scopes of their own."""
    for node in nodes:
        yield node
        if not isinstance(node, SCOPES):
            yield from walk(ast.iter_child_nodes(node))


def bound_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements bind in the scope that they stand in."""
    found: set[str] = set()
    for node in walk(nodes):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((each.asname or each.name).partition(".")[0] for each in names)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
    return found - _of_comprehensions(nodes)


def _of_comprehensions(nodes: Iterable[ast.AST]) -> set[str]:
    """Return names that only comprehensions bind, whose scopes are their own."""
    inner: set[str] = set()
    outer: set[str] = set()
    for node in _outside_comprehensions(nodes):
        if isinstance(node, COMPREHENSIONS):
            inner |= {each.id for part in node.generators for each in walk([part.target])
                      if isinstance(each, ast.Name)}  # fmt: skip
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            outer.add(node.id)
    return inner - outer


def _outside_comprehensions(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        if not isinstance(node, (*SCOPES, *COMPREHENSIONS)):
            yield from _outside_comprehensions(ast.iter_child_nodes(node))


def parameters_of(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    several = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    rest = filter(None, (arguments.vararg, arguments.kwarg))
    return [each.arg for each in (*several, *rest)]


def load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([store(name)], value)


def operator(name: str, *arguments: ast.expr) -> ast.Call:
    """Return the call of an operator of AutoGraph."""
    return ast.Call(ast.Attribute(load(RUNTIME), name, ast.Load()), list(arguments), [])


def thunk(body: ast.expr) -> ast.Lambda:
    """Return a function without parameters that gives `body`."""
    return ast.Lambda(no_parameters(), body)


def no_parameters(*names: str) -> ast.arguments:
    """Return parameters of these names, by default none."""
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def at(made: Any, node: ast.AST) -> Any:
    """Return a new node at the first line of `node`, unless it has a place of its own.

    One line, for Python tells calls that go over several by their last.
    """
    if not hasattr(node, "lineno"):  # made itself: whoever uses it tells where
        return made
    if not hasattr(made, "lineno"):
        ast.copy_location(made, node)
        made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
    return ast.fix_missing_locations(made)


def define(name: str, body: Sequence[ast.stmt], *parameters: str) -> ast.stmt:
    """Return the definition of a function."""
    return ast.FunctionDef(name, no_parameters(*parameters), list(body) or [ast.Pass()], [])
