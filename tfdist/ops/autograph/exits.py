"""`return`, `break` and `continue` inside of branches: what follows a branch moves into it.

Then no path has anything behind its exit, so that the exit is an assignment: of the returned value,
or of a flag that ends a loop. A branch that may or may not exit gets what follows in both of its
ways.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from tfdist.ops.autograph.names import assign, operator, walk
from tfdist.ops.autograph.source import Unconvertible

RESULT = "returned__"  # what the function returns
HAS_RETURNED = "has_returned__"  # whether it has, inside of a loop
_LOOPS = (ast.While, ast.For)
_EXITS = (ast.Return, ast.Break, ast.Continue)

# What stands in place of an exit.
Ends = Callable[[ast.stmt], list[ast.stmt]]


def without_exits(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the body of a function with one `return`, which is its last statement, if any.

    Raises:
      Unconvertible: an exit stands where that cannot be.
    """
    if not any(_has_exits(each) for each in body if not isinstance(each, ast.Return)):
        return list(body)
    end = ast.copy_location(ast.Return(ast.Constant(None)), body[-1])
    inner = _paths([*body, end], _returned)
    begin = [assign(HAS_RETURNED, ast.Constant(False))] if _has_returning_loops(body) else []
    last = ast.Return(operator("given", ast.Name(RESULT, ast.Load())))
    return [*begin, *inner, ast.copy_location(last, body[-1])]


def _returned(exit: ast.stmt) -> list[ast.stmt]:
    assert isinstance(exit, ast.Return)
    return [ast.copy_location(assign(RESULT, exit.value or ast.Constant(None)), exit)]


def _paths(statements: Sequence[ast.stmt], ends: Ends) -> list[ast.stmt]:
    """Return statements whose exits are what `ends` makes of them."""
    made: list[ast.stmt] = []
    for index, each in enumerate(statements):
        rest = statements[index + 1 :]
        if isinstance(each, _EXITS):
            return [*made, *ends(each)]
        if not _has_exits(each):
            made.append(each)
        elif isinstance(each, ast.If):
            return [*made, _branched(each, rest, ends)]
        elif isinstance(each, _LOOPS):
            made.append(each)
            if _has_returns(each):
                flag = ast.Name(HAS_RETURNED, ast.Load())
                after = ast.If(flag, ends(_Returned()), _paths(rest, ends) or [ast.Pass()])
                return [*made, ast.copy_location(after, each)]
        else:
            return [*made, _kept(each, rest, ends)]
    return made


class _Returned(ast.Return):
    """The return that a loop has noted: its value is there already."""

    def __init__(self) -> None:
        super().__init__(ast.Name(RESULT, ast.Load()))


def _branched(branch: ast.If, rest: Sequence[ast.stmt], ends: Ends) -> ast.stmt:
    """Return a branch that has what follows in each of its ways that goes on."""
    body, orelse = (
        _paths([*way, *([] if _exits_surely(way) else copy.deepcopy(list(rest)))], ends)
        for way in (branch.body, branch.orelse)
    )
    return ast.copy_location(ast.If(branch.test, body or [ast.Pass()], orelse), branch)


def _kept(statement: ast.stmt, rest: Sequence[ast.stmt], ends: Ends) -> ast.stmt:
    """Return a `with` or `try` whose own blocks end as paths do."""
    if not isinstance(statement, ast.With | ast.Try) or not _exits_surely([statement]):
        raise Unconvertible(
            f"line {statement.lineno}: there may be an exit inside of a "
            f"{type(statement).__name__.lower()}, or not"
        )
    found = copy.copy(statement)
    found.body = _paths(statement.body, ends)
    if isinstance(found, ast.Try) and isinstance(statement, ast.Try):
        found.orelse = _paths(statement.orelse, ends)
        found.handlers = [
            ast.copy_location(ast.ExceptHandler(h.type, h.name, _paths(h.body, ends)), h)
            for h in statement.handlers
        ]
    return found


def loop_body(body: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
    """Return the body of a loop without `break` and `continue`; `flag` is set where it breaks."""

    def ends(exit: ast.stmt) -> list[ast.stmt]:
        match exit:
            case ast.Continue():
                return []
            case ast.Break():
                return [ast.copy_location(assign(flag, ast.Constant(True)), exit)]
            case _:
                value = exit.value if isinstance(exit, ast.Return) else None
                noted = (
                    assign(RESULT, value or ast.Constant(None)),
                    assign(HAS_RETURNED, ast.Constant(True)),
                    assign(flag, ast.Constant(True)),
                )
                return [ast.copy_location(each, exit) for each in noted]

    return _paths(body, ends) or [ast.Pass()]


def breaks(loop: ast.While | ast.For) -> bool:
    """Return whether something in a loop ends it."""
    return any(isinstance(each, ast.Break | ast.Return) for each in _inside(loop.body))


def _inside(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield what belongs to a loop itself; returns of inner loops do too."""
    for node in walk(nodes):
        if not isinstance(node, ast.Break) or not _is_of_inner(node, nodes):
            yield node


def _is_of_inner(exit: ast.AST, nodes: Sequence[ast.AST]) -> bool:
    loops = [each for each in walk(nodes) if isinstance(each, _LOOPS)]
    return any(inner is exit for loop in loops for inner in walk(loop.body))


def _has_exits(statement: ast.AST) -> bool:
    """Return whether an exit in a statement leaves that statement."""
    if isinstance(statement, _LOOPS):
        return _has_returns(statement)
    if isinstance(statement, _EXITS):
        return True
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Lambda):
        return False
    return any(_has_exits(each) for each in ast.iter_child_nodes(statement))


def _has_returns(statement: ast.AST) -> bool:
    return any(isinstance(each, ast.Return) for each in walk([statement]))


def _has_returning_loops(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(each, _LOOPS) and _has_returns(each) for each in walk(body))


def _exits_surely(statements: Sequence[ast.stmt]) -> bool:
    """Return whether no way leads behind these statements."""
    for each in statements:
        match each:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                return True
            case ast.If(body=body, orelse=orelse) if _exits_surely(body) and _exits_surely(orelse):
                return True
            case ast.With(body=body) if _exits_surely(body):
                return True
            case ast.Try(body=body, orelse=orelse, handlers=handlers):
                ways = [[*body, *orelse], *(handler.body for handler in handlers)]
                if all(map(_exits_surely, ways)):
                    return True
    return False
