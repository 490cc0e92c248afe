"""Statements that decide: each becomes a call of an operator, with its blocks as functions.

Such a function assigns the names of the function that it stands in (`nonlocal`); two more tell and
set the values of those that the blocks bind, so that an operator can build each block by itself:

    if x > 0:          def if_body():        def get_state(): return (y,)
        y = x              nonlocal y        def set_state(y__):
    else:      ->          y = x                 nonlocal y
        y = -x         ...                       (y,) = y__
                       ag__.if_stmt(x > 0, if_body, if_orelse, get_state, set_state, ("y",))
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence

from tfdist.ops.autograph import exits
from tfdist.ops.autograph.expressions import Expressions, looks_at_its_caller
from tfdist.ops.autograph.names import (
    assign,
    at,
    bound_in,
    define,
    load,
    operator,
    parameters_of,
    store,
    thunk,
    walk,
)
from tfdist.ops.autograph.source import Definition, Unconvertible

_BLOCKS = (ast.If, ast.While, ast.For)
_VALUES = "values__"


def converted_tree(definition: Definition, needs_conversion: Callable[[ast.expr], bool]) -> bool:
    """Change a function's syntax tree so that operators decide; return whether anything did.

    Args:
      definition: a copy, which is changed.
      needs_conversion: tells of the function of a call whether it may have to be converted.

    Raises:
      Unconvertible: it has to stay as it is.
    """
    change = _Statements(needs_conversion)
    if isinstance(definition, ast.Lambda):
        definition.body = change.visit(definition.body)
    else:
        definition.body = change.function_body(definition)
    return change.changed


class _Statements(Expressions):
    def __init__(self, needs_conversion: Callable[[ast.expr], bool]) -> None:
        super().__init__(needs_conversion)
        self._numbers = itertools.count(1)
        self._declared: list[ast.stmt] = []  # `global` and `nonlocal` of the user's
        self._bound_elsewhere: set[str] = set()  # the names in them

    def function_body(self, definition: ast.FunctionDef) -> list[ast.stmt]:
        """Return the statements of a function."""
        if any(isinstance(each, _BLOCKS) and looks_at_its_caller([each])
               for each in walk(definition.body)):  # fmt: skip
            raise Unconvertible("something in a branch or loop looks at the function it stands in")
        before = self._declared, self._bound_elsewhere, self.maybe_undefined
        declared = [e for e in walk(definition.body) if isinstance(e, ast.Global | ast.Nonlocal)]
        self._declared = [*declared]
        self._bound_elsewhere = {name for each in declared for name in each.names}
        statements = exits.without_exits(definition.body)
        blocks = [each for each in walk(statements) if isinstance(each, _BLOCKS)]
        names = _bound_by(blocks)
        own = names - self._bound_elsewhere - set(parameters_of(definition.args))
        inherited = self.maybe_undefined - bound_in(definition.body)
        self.maybe_undefined = (inherited - set(parameters_of(definition.args))) | own
        body = self._visited(statements)
        begin = [assign(each, operator("Undefined", ast.Constant(each))) for each in sorted(own)]
        self._declared, self._bound_elsewhere, self.maybe_undefined = before
        return [at(each, definition) for each in (*declared, *begin, *body)]

    def _visited(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for each in statements:
            found = self.visit(each)
            made += found if isinstance(found, list) else [found]
        return made

    # statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        if _is_generator(node):
            return node
        node.args = self.visit(node.args)
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.body = self.function_body(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node

    def visit_Global(self, node: ast.Global) -> list[ast.stmt]:
        return []  # stands at the beginning of the function, and of each block

    def visit_Nonlocal(self, node: ast.Nonlocal) -> list[ast.stmt]:
        return []

    def visit_Delete(self, node: ast.Delete) -> ast.stmt | list[ast.stmt]:
        if not any(isinstance(e, ast.Name) and e.id in self.maybe_undefined for e in node.targets):
            return node
        made = [
            assign(each.id, operator("Undefined", ast.Constant(each.id)))
            if isinstance(each, ast.Name)
            else ast.Delete([each])
            for each in node.targets
        ]
        return [at(each, node) for each in made]

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        message = node.msg or ast.Constant("Assertion error")
        made = operator("assert_", self.visit(node.test), thunk(self.visit(message)))
        return self._statement(made, node)

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        names = self._threaded([*node.body, *node.orelse])
        number = next(self._numbers)
        test = self.visit(node.test)
        ways = [
            self._function(f"if_{word}_{number}", statements, names, node)
            for word, statements in (("body", node.body), ("orelse", node.orelse))
        ]
        return [*ways, *self._state(names, number, node),
                self._call("if_stmt", [test], ways, names, number, node)]  # fmt: skip

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        number = next(self._numbers)
        _check_loop(node, node.test)
        body, begin, flag = self._without_exits(node, number)
        names = self._threaded(body)
        test = self.visit(node.test)
        if flag is not None:
            test = operator("and_", thunk(operator("not_", load(flag))), thunk(test))
        ways = [
            at(define(f"loop_test_{number}", [at(ast.Return(test), node)]), node),
            self._function(f"loop_body_{number}", body, names, node),
        ]
        return [*begin, *ways, *self._state(names, number, node),
                self._call("while_stmt", [], ways, names, number, node)]  # fmt: skip

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        number = next(self._numbers)
        _check_loop(node)
        body, begin, flag = self._without_exits(node, number)
        item = f"item_{number}__"
        first = at(ast.Assign([node.target], load(item)), node)
        names = self._threaded([first, *body])
        source = self.visit(node.iter)
        goes_on = operator("not_", load(flag)) if flag is not None else ast.Constant(True)
        test = [at(ast.Return(goes_on), node)]
        ways = [
            at(define(f"loop_test_{number}", test), node),
            self._function(f"loop_body_{number}", [first, *body], names, node, item),
        ]
        return [*begin, *ways, *self._state(names, number, node),
                self._call("for_stmt", [source], ways, names, number, node)]  # fmt: skip

    # parts of them

    def _without_exits(
        self, loop: ast.While | ast.For, number: int
    ) -> tuple[list[ast.stmt], list[ast.stmt], str | None]:
        """Return the body of a loop, what stands before the loop, and the flag that ends it."""
        flag = f"breaks_{number}__"
        body = exits.loop_body(loop.body, flag)
        if not exits.breaks(loop):
            return body, [], None
        return body, [at(assign(flag, ast.Constant(False)), loop)], flag

    def _threaded(self, statements: Sequence[ast.stmt]) -> list[str]:
        """Return the names whose values the blocks hand on."""
        return sorted(_bound_by(statements) - self._bound_elsewhere)

    def _function(
        self,
        name: str,
        statements: Sequence[ast.stmt],
        names: Sequence[str],
        node: ast.stmt,
        *parameters: str,
    ) -> ast.stmt:
        declared: list[ast.stmt] = [type(e)(list(e.names)) for e in self._declared]  # type: ignore
        if names:
            declared.append(ast.Nonlocal(list(names)))
        body = [*declared, *(self._visited(statements) or [ast.Pass()])]
        return at(define(name, [at(each, node) for each in body], *parameters), node)

    @staticmethod
    def _state(names: Sequence[str], number: int, node: ast.stmt) -> list[ast.stmt]:
        """Return the functions that tell and set the values of names."""
        values = ast.Tuple([load(each) for each in names], ast.Load())
        tell = define(f"get_state_{number}", [at(ast.Return(values), node)])
        change: list[ast.stmt] = []
        if names:
            targets: list[ast.expr] = [store(each) for each in names]
            target = ast.Tuple(targets, ast.Store())
            change = [ast.Nonlocal(list(names)), ast.Assign([target], load(_VALUES))]
        put = define(f"set_state_{number}", [at(e, node) for e in change], _VALUES)
        return [at(tell, node), at(put, node)]

    def _call(
        self,
        name: str,
        first: Sequence[ast.expr],
        ways: Sequence[ast.stmt],
        names: Sequence[str],
        number: int,
        node: ast.stmt,
    ) -> ast.stmt:
        functions = [load(each.name) for each in ways if isinstance(each, ast.FunctionDef)]
        state = load(f"get_state_{number}"), load(f"set_state_{number}")
        told = ast.Tuple([ast.Constant(each) for each in names], ast.Load())
        return self._statement(operator(name, *first, *functions, *state, told), node)

    def _statement(self, made: ast.expr, node: ast.stmt) -> ast.stmt:
        self.changed = True
        return at(ast.Expr(made), node)


def _bound_by(statements: Sequence[ast.AST]) -> set[str]:
    """Return the names that statements bind, with what `exits` notes of returns in their loops."""
    returns = any(isinstance(each, ast.Return) for each in walk(statements))
    return bound_in(statements) | ({exits.RESULT, exits.HAS_RETURNED} if returns else set())


def _check_loop(loop: ast.While | ast.For, *moved: ast.expr) -> None:
    if loop.orelse:
        raise Unconvertible(f"line {loop.lineno}: a loop has an else")
    if any(isinstance(each, ast.NamedExpr) for each in walk(moved)):
        raise Unconvertible(f"line {loop.lineno}: a loop's condition assigns a name")


def _is_generator(node: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in walk(node.body))
