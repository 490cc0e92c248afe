"""Running a magic's code as the notebook would, with one difference: every error comes out.

`shell.run_cell` keeps errors for itself: it prints a traceback and returns, and the notebook goes
on with the cells that were waiting, Ctrl-C or not. Code that a magic runs is therefore compiled and
run here. It sees the user's variables; its text is known to tracebacks.
"""

from __future__ import annotations

import ast
from typing import Any


def run_code(shell: Any, code: str) -> Any:
    """Run `code` in the user's namespace and return the value of its last expression, or None.

    Args:
      shell: the IPython shell.
      code: as in a cell; magics and "!" in it work. A ";" at its end suppresses the value.

    Raises:
      Whatever the code raises, SyntaxError included.
    """
    __tracebackhide__ = True  # IPython leaves this frame out of tracebacks
    transformed = shell.transform_cell(code)
    name = shell.compile.cache(transformed, shell.execution_count, raw_code=code)
    tree = shell.transform_ast(ast.parse(transformed, name))
    body, last = _split(tree)
    if body.body:
        exec(shell.compile(body, name, "exec"), shell.user_ns)
    if last is None:
        return None
    value = eval(shell.compile(last, name, "eval"), shell.user_ns)
    return None if transformed.rstrip().endswith(";") else value


def _split(tree: ast.Module) -> tuple[ast.Module, ast.Expression | None]:
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        return ast.Module(tree.body[:-1], tree.type_ignores), ast.Expression(last.value)
    return tree, None
