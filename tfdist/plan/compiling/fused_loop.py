"""One loop over the elements of arrays in the place of a chain of nodes: what runs.

NumPy goes over memory once for each operation, and takes memory for each result. Where Numba is
installed, a chain becomes machine code once enough time was spent on it the other way; both give
the same bits. Chains that are written alike share their code, as those of a network's layers are.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tfdist.base.aliases import Array, NumpyType, TensorValue
from tfdist.base.machine_code import Compiler, MachineCode
from tfdist.graph.op_def import Kernel

Sizes: TypeAlias = tuple[int, ...]

_PASS, _NUMBER = 600, 0.2  # nanoseconds of NumPy: of a pass over memory, and for each element
_OF_A_FUNCTION = 60  # passes of NumPy
_SHARED = 1 << 20  # elements, from which on several threads may have their share
_MOST_SHAPES = 64  # that a chain remembers


class Step(NamedTuple):
    """One node of a chain.

    Attributes:
      formula: of an element, of the names `v0`, `v1`, ...: operands, then the steps before it.
      takes: the numbers of these names.
      broadcasts: whether these may have different shapes.
      functions: that the formula calls, by name; see `OpDef.elementwise`.
    """

    formula: str
    takes: tuple[int, ...]
    broadcasts: bool
    functions: tuple[tuple[str, Callable[[Compiler], Kernel]], ...] = ()


class Chain(NamedTuple):
    """A chain of nodes, the last of which gives the result.

    Attributes:
      steps: in order.
      types: of the operands, and of the result behind them.
    """

    steps: tuple[Step, ...]
    types: tuple[NumpyType, ...]

    @property
    def passes(self) -> int:
        """Return how often NumPy goes over memory, about."""
        called = sum(len(step.functions) for step in self.steps)
        return called * _OF_A_FUNCTION + sum(operations(step.formula) for step in self.steps)


def cost(passes: int, size: int) -> float:
    """Return the nanoseconds that NumPy takes for passes over so many elements, about."""
    return passes * (_PASS + _NUMBER * size)


@cache
def operations(formula: str) -> int:
    """Return how many operations an expression has."""
    kinds = ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare, ast.IfExp
    return sum(isinstance(each, kinds) for each in ast.walk(ast.parse(formula)))


def renamed(formula: str, names: Sequence[str], numbers: Sequence[int]) -> str:
    """Return an expression with `vNUMBER` in the place of each name."""
    by_name = dict(zip(names, numbers, strict=True))
    return re.sub(r"[A-Za-z_]\w*", lambda word: _named(word[0], by_name), formula)


def _named(word: str, numbers: dict[str, int]) -> str:
    return f"v{numbers[word]}" if word in numbers else word


class FusedLoop:
    """What computes a chain of nodes.

    Args:
      chain: the nodes.
      share: calls work on parts of so many elements, perhaps on several threads.
    """

    __slots__ = ("_chain", "_plans", "_share")

    def __init__(
        self, chain: Chain, share: Callable[[Callable[[int, int], None], int], None]
    ) -> None:
        self._chain = chain
        self._share = share
        self._plans: dict[tuple[Sizes, ...], _Plan] = {}

    def __call__(
        self, otherwise: Callable[..., TensorValue], *operands: TensorValue
    ) -> TensorValue:
        """Return the result.

        Args:
          otherwise: takes the operands, and computes the result node by node.
          operands: arrays, or single numbers.
        """
        shapes = tuple([each.shape for each in operands])
        plan = self._plans.get(shapes)
        if plan is None:
            plan = self._plan(shapes)
        code = plan.code
        loop = None if code is None else code.instead_of(plan.cost)
        if loop is None or not all(map(_is_as_said, operands, self._chain.types)):
            return otherwise(*operands)
        operands = tuple(map(_laid_out, operands))
        made = np.empty(plan.shape, self._chain.types[-1])
        plan.run(loop, self._share, made, operands)
        return made

    def _plan(self, shapes: tuple[Sizes, ...]) -> _Plan:
        if len(self._plans) >= _MOST_SHAPES:
            self._plans.clear()
        plan = self._plans[shapes] = _plan_of(self._chain, shapes)
        return plan


def _is_as_said(value: TensorValue, dtype: NumpyType) -> bool:
    """Return whether a value is an array, or a number, of a type."""
    is_ours = type(value) is np.ndarray or isinstance(value, np.generic)
    return is_ours and bool(value.dtype == dtype)


def _laid_out(value: TensorValue) -> TensorValue:
    """Return a value as it lies in memory if a loop can go over it so, else a copy."""
    flags = value.flags
    return value if flags.c_contiguous and flags.aligned else value.copy()


class _Plan(NamedTuple):
    """How a chain is computed for operands of some shapes.

    Attributes:
      code: of the loop; None if there is none, or none is worth while.
      shape: of the result.
      cost: nanoseconds that NumPy takes, about.
      kinds: for each operand one of "e" (as many elements as the result), "n" (a number), "r" (one
        for each row), "c" (one for each column).
      sizes: rows and columns, if there are such operands.
    """

    code: MachineCode | None
    shape: Sizes = ()
    cost: int = 0
    kinds: str = ""
    sizes: Sizes = ()

    def run(
        self,
        loop: Callable[..., None],
        share: Callable[..., None],
        made: Array,
        operands: Sequence[TensorValue],
    ) -> None:
        """Write the result to `made`."""
        taken = [
            each.reshape(())[()] if kind == "n" else each
            for each, kind in zip(operands, self.kinds, strict=True)
        ]
        if not self._is_shared:
            loop(made, *taken, *self.sizes)
            return
        kinds = "e" + self.kinds
        flat = [
            each.reshape(-1) if kind == "e" else each
            for each, kind in zip((made, *taken), kinds, strict=True)
        ]

        def work(start: int, end: int) -> None:
            parts = zip(flat, kinds, strict=True)
            loop(*[each[start:end] if kind == "e" else each for each, kind in parts])

        share(work, made.size)

    @property
    def _is_shared(self) -> bool:
        return not self.sizes and math.prod(self.shape) >= _SHARED


def _plan_of(chain: Chain, shapes: Sequence[Sizes]) -> _Plan:
    shape = _shape_of(chain, shapes)
    split = None if shape is None else _split(shape, shapes)
    if shape is None or split is None:
        return _Plan(None)
    kinds, sizes = split
    size = math.prod(shape)
    is_flat = not sizes and size >= _SHARED
    axes = tuple([1 if is_flat else len(each) for each in (*shapes, shape)])
    return _Plan(_code(chain, kinds, axes), shape, int(cost(chain.passes, size)), kinds, sizes)


def _shape_of(chain: Chain, shapes: Sequence[Sizes]) -> Sizes | None:
    """Return the shape of all steps' results; None if there is none, or if they differ."""
    found = list(shapes)
    for step in chain.steps:
        taken = {found[number] for number in step.takes}
        if len(taken) > 1:
            if not step.broadcasts:
                return None
            try:
                taken = {np.broadcast_shapes(*taken)}
            except ValueError:
                return None
        found += taken
    results = set(found[len(shapes) :])
    return results.pop() if len(results) == 1 else None


def _split(shape: Sizes, shapes: Sequence[Sizes]) -> tuple[str, Sizes] | None:
    """Return the kinds of operands, and rows and columns; None if there is no such division."""
    for rank in range(len(shape) + 1):
        kinds = [_kind(shape, each, rank) for each in shapes]
        if all(kinds):
            is_plain = {"r", "c"}.isdisjoint(kinds)
            sizes = () if is_plain else (math.prod(shape[:rank]), math.prod(shape[rank:]))
            return "".join(kinds), sizes
    return None


def _kind(shape: Sizes, other: Sizes, rank: int) -> str:
    """Return the kind of an operand, "" if there is none, if rows have `rank` axes."""
    if other == shape:
        return "e"
    if math.prod(other) == 1:
        return "n"
    whole = (1,) * (len(shape) - len(other)) + other
    left, right = whole[:rank], whole[rank:]
    if left == shape[:rank] and math.prod(right) == 1:
        return "r"
    return "c" if math.prod(left) == 1 and right == shape[rank:] else ""


@lru_cache(1_024)
def _code(chain: Chain, kinds: str, axes: Sizes) -> MachineCode:
    """Return the code of a loop.

    Args:
      chain: what it computes.
      kinds: of the operands.
      axes: number of axes of the operands, and of the result.
    """

    def compile(compiler: Compiler) -> Callable[..., None]:
        *types, made = chain.types
        given = [
            compiler.number(dtype) if kind == "n" else compiler.read(dtype, count)
            for dtype, kind, count in zip(types, kinds, axes, strict=False)
        ]
        has_rows = not {"r", "c"}.isdisjoint(kinds)
        sizes = [compiler.number(np.int64)] * 2 if has_rows else []
        names: dict[str, Any] = {"np": np, "one": made.type(1), "two": made.type(2)}
        called = dict(pair for step in chain.steps for pair in step.functions)
        names.update({name: function(compiler) for name, function in called.items()})
        write = _in_rows if has_rows else _in_one
        exec("\n".join(write(chain, kinds)), names)  # names and formulas that are ours only
        types_of_all = compiler.written(made, axes[-1]), *given, *sizes
        loop: Callable[..., None] = compiler.procedure(names["loop"], *types_of_all)
        return loop

    return MachineCode(compile)


def _in_one(chain: Chain, kinds: str) -> Iterator[str]:
    """Yield the source of a loop over elements."""
    numbers = range(len(kinds))
    arrays = [i for i in numbers if kinds[i] == "e"]
    yield f"def loop(made, {', '.join(_given(kinds))}):"
    yield "  made = made.ravel()"
    yield from [f"  a{i} = a{i}.ravel()" for i in arrays]
    yield "  for at in range(made.size):"
    yield from [f"    v{i} = a{i}[at]" for i in arrays]
    yield from _steps(chain, kinds, "    made[at]")


def _in_rows(chain: Chain, kinds: str) -> Iterator[str]:
    """Yield the source of a loop over rows and columns."""
    of = {kind: [i for i in range(len(kinds)) if kinds[i] == kind] for kind in "erc"}
    yield f"def loop(made, {', '.join(_given(kinds))}, rows, columns):"
    yield "  made = made.reshape((rows, columns))"
    yield from [f"  a{i} = a{i}.reshape((rows, columns))" for i in of["e"]]
    yield from [f"  a{i} = a{i}.ravel()" for i in (*of["r"], *of["c"])]
    yield "  for row in range(rows):"
    yield "    made_row = made[row]"
    yield from [f"    row{i} = a{i}[row]" for i in of["e"]]
    yield from [f"    v{i} = a{i}[row]" for i in of["r"]]
    yield "    for at in range(columns):"
    yield from [f"      v{i} = row{i}[at]" for i in of["e"]]
    yield from [f"      v{i} = a{i}[at]" for i in of["c"]]
    yield from _steps(chain, kinds, "      made_row[at]")


def _given(kinds: str) -> list[str]:
    """Return the names of the operands as they are given: numbers are values already."""
    return [f"v{i}" if kind == "n" else f"a{i}" for i, kind in enumerate(kinds)]


def _steps(chain: Chain, kinds: str, target: str) -> Iterator[str]:
    indent = " " * (len(target) - len(target.lstrip()))
    for number, step in enumerate(chain.steps[:-1], len(kinds)):
        yield f"{indent}v{number} = {step.formula}"
    yield f"{target} = {chain.steps[-1].formula}"
