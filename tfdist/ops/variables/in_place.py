"""`v += 1` on a variable: Python would give the name `v` to a new tensor, so it is refused."""

from __future__ import annotations

from typing import Any, NoReturn

__all__: list[str] = []  # variables have the public names

_IN_PLACE = {
    "__iadd__": ("+=", "assign_add(value)", "+"), "__isub__": ("-=", "assign_sub(value)", "-"),
    "__imul__": ("*=", "assign(variable * value)", "*"),
    "__itruediv__": ("/=", "assign(variable / value)", "/"),
    "__ipow__": ("**=", "assign(variable ** value)", "**"),
}  # fmt: skip


def refuse_changes_in_place(variables: type) -> None:
    """Let the operators that look like changes of a variable raise RuntimeError.

    Args:
      variables: the class of the variables.
    """
    for name, said in _IN_PLACE.items():
        setattr(variables, name, _refusal(name, *said))


def _refusal(name: str, operator: str, change: str, plain: str) -> Any:
    def refused(self: Any, value: Any) -> NoReturn:
        raise RuntimeError(
            f"Variable {operator} value not supported. Use variable.{change} to modify the "
            f"variable value and variable = variable {plain} value to get a new Tensor object: "
            f"{self!r}"
        )

    refused.__name__ = name
    return refused
