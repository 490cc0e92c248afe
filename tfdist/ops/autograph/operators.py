"""What converted code calls: if a tensor decides, nodes are built; else Python does as it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfdist.base import nest
from tfdist.base.dtypes import string
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.autograph.effects import with_effects
from tfdist.ops.autograph.state import Get, Put, Undefined, Values, is_same, is_symbolic, may_pass
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.tensor_array.tensor_array import TensorArray

Block = Callable[[], Any]
Names = Sequence[str]

_IN_ONE_WAY = "has a value in one branch only; give it one before, or in both branches"
_DIFFERS = "is no tensor, and not the same in both branches"
_IN_LOOP = "has no value before the loop, whose body may never run; give it one before"
_CHANGES = "is no tensor, and changes in a loop over tensors"


# expressions


def and_(one: Block, *others: Block) -> Any:
    """Return `one() and others()...`."""
    value = one()
    if not others:
        return value
    if is_symbolic(value):
        return cond(value, lambda: _bool(and_(*others)), lambda: _bool(value))
    return value and and_(*others)


def or_(one: Block, *others: Block) -> Any:
    """Return `one() or others()...`."""
    value = one()
    if not others:
        return value
    if is_symbolic(value):
        return cond(value, lambda: _bool(value), lambda: _bool(or_(*others)))
    return value or or_(*others)


def not_(value: Any) -> Any:
    """Return `not value`."""
    return raw.LogicalNot(value) if is_symbolic(value) else not value


def eq(one: Any, other: Any) -> Any:
    """Return `one == other`, of each element if one is a tensor."""
    return raw.Equal(one, other) if is_symbolic(one) or is_symbolic(other) else one == other


def not_eq(one: Any, other: Any) -> Any:
    """Return `one != other`, of each element if one is a tensor."""
    return raw.NotEqual(one, other) if is_symbolic(one) or is_symbolic(other) else one != other


def choice(test: Any, body: Block, orelse: Block) -> Any:
    """Return `body() if test else orelse()`."""
    if is_symbolic(test):
        return cond(_bool(test), lambda: with_effects(lambda: [body()])[0][0],
                    lambda: with_effects(lambda: [orelse()])[0][0])  # fmt: skip
    return body() if test else orelse()


def assert_(test: Any, message: Block) -> None:
    """Do what `assert test, message()` does."""
    if is_symbolic(test):
        Assert(test, [message()])
    elif not test:
        raise AssertionError(message())


def _bool(value: Any) -> Any:
    return convert_to_tensor(value, dtype="bool") if not is_symbolic(value) else value


# branches


def if_stmt(test: Any, body: Block, orelse: Block, get: Get, put: Put, names: Names) -> None:
    """Do what `if` does.

    Args:
      test: decides.
      body: does what is done if it is true.
      orelse: does what is done if not.
      get: returns the values of the names that both bind.
      put: gives these names values.
      names: that both bind.
    """
    if not is_symbolic(test):
        body() if test else orelse()
        return
    before = get()
    ways: list[Values] = []
    passing: list[int] = []

    def build(block: Block) -> Sequence[Any]:
        put(before)
        block()
        ways.append(tuple(get()))
        if len(ways) == 1:
            passing.extend(i for i, value in enumerate(ways[0]) if may_pass(value))
        return [_or_like(ways[-1][i], ways[0][i]) for i in passing]

    def branch(block: Block) -> Any:
        results, done = with_effects(lambda: build(block))
        return [*results, done]

    found = cond(_bool(test), lambda: branch(body), lambda: branch(orelse), strict=True)
    made = dict(zip(passing, found, strict=False))
    both = zip(names, *ways, strict=True)
    put([_merged(name, one, other, made.get(i)) for i, (name, one, other) in enumerate(both)])


def _or_like(value: Any, model: Any) -> Any:
    """Return a value; where it cannot pass, something of the other branch's kind in its place."""
    if may_pass(value):
        return value
    return nest.map_leaves(_nothing_like, model)


def _nothing_like(leaf: Any) -> Any:
    if isinstance(leaf, TensorArray):
        return leaf
    model = convert_to_tensor(leaf)
    zero = b"" if model.dtype.base_dtype is string else 0
    return raw.Fill([1] * (model.shape.ndims or 0), convert_to_tensor(zero, model.dtype.base_dtype))


def _merged(name: str, one: Any, other: Any, made: Any) -> Any:
    """Return what a name has behind a branch."""
    if is_same(one, other):
        return one
    if may_pass(one) and may_pass(other):
        return made
    undefined = isinstance(one, Undefined) or isinstance(other, Undefined)
    return Undefined(name, _IN_ONE_WAY if undefined else _DIFFERS)


# loops


def while_stmt(test: Block, body: Block, get: Get, put: Put, names: Names) -> None:
    """Do what `while` does; see `if_stmt`, and `test` gives what decides."""
    first = test()
    if is_symbolic(first):
        turns = _Place()
        _loop(turns, test, lambda: turns.advance(body), get, put, names)
        return
    while first:
        body()
        first = test()


def for_stmt(
    items: Any, goes_on: Block, body: Callable[[Any], Any], get: Get, put: Put, names: Names
) -> None:
    """Do what `for` does.

    Args:
      items: what it goes through: a tensor by its first dimension.
      goes_on: returns whether no `break` was met.
      body: does what is done with an item.
      get: returns the values of the names that it binds.
      put: gives these names values.
      names: that it binds.
    """
    if is_symbolic(items):
        _loop_over(convert_to_tensor(items), goes_on, body, get, put, names)
    elif hasattr(items, "_variant_tensor"):
        _reduce(items, body, get, put, names)
    else:
        _each(items, goes_on, body)


def _each(items: Iterable[Any], goes_on: Block, body: Callable[[Any], Any]) -> None:
    for item in items:
        body(item)
        if not goes_on():
            break


def _loop_over(
    items: Any, goes_on: Block, body: Callable[[Any], Any], get: Get, put: Put, names: Names
) -> None:
    count = raw.StridedSlice(raw.Shape(items), [0], [1], [1], shrink_axis_mask=1)
    rows = TensorArray(items.dtype, count, element_shape=items.shape[1:]).unstack(items)
    place = _Place()
    _loop(
        place,
        lambda: and_(lambda: raw.Less(place.index, count), goes_on),
        lambda: place.advance(lambda: body(rows.read(place.index))),
        get, put, names,
    )  # fmt: skip


class _Place:
    """The number of the turn that a loop is at."""

    def __init__(self) -> None:
        self.index: Any = 0

    def advance(self, body: Block) -> None:
        """Do what is done in a turn, and go on."""
        body()
        self.index = raw.AddV2(self.index, 1)


def _loop(place: _Place, test: Block, body: Block, get: Get, put: Put, names: Names) -> None:
    """Build a loop that hands on the values of names, as far as they can pass."""
    before = tuple(get())
    passing = [i for i, value in enumerate(before) if may_pass(value)]
    after: list[Values] = []

    def enter(values: Values) -> None:
        current = list(before)
        place.index = values[0]
        for i, value in zip(passing, values[1:], strict=True):
            current[i] = value
        put(current)

    def build() -> Sequence[Any]:
        body()
        after.append(tuple(get()))
        return [place.index, *(after[-1][i] for i in passing)]

    def turn(*values: Any) -> Any:
        enter(values)
        return with_effects(build)[0]

    def decide(*values: Any) -> Any:
        enter(values)
        return _bool(test())

    begin = [place.index, *(before[i] for i in passing)]
    enter(while_loop(decide, turn, begin, return_same_structure=True))
    _poison(before, after[-1], passing, get, put, names)


def _poison(
    before: Values, after: Values, passing: Sequence[int], get: Get, put: Put, names: Names
) -> None:
    """Let names that did not pass tell why they have no value, if they were bound in the loop."""
    current = list(get())
    for i, name in enumerate(names):
        if i not in passing and not is_same(before[i], after[i]):
            reason = _IN_LOOP if isinstance(before[i], Undefined) else _CHANGES
            current[i] = Undefined(name, reason)
    put(current)


def _reduce(dataset: Any, body: Callable[[Any], Any], get: Get, put: Put, names: Names) -> None:
    """Go through a dataset; what the names have goes from element to element."""
    before = tuple(get())
    passing = [i for i, value in enumerate(before) if may_pass(value)]
    after: list[Values] = []

    def enter(values: Values) -> None:
        current = list(before)
        for i, value in zip(passing, values, strict=True):
            current[i] = value
        put(current)

    def turn(values: Any, item: Any) -> Any:
        enter(values[1:])
        body(item)
        after.append(tuple(get()))
        return (values[0], *(after[-1][i] for i in passing))

    begin = (convert_to_tensor(0), *(before[i] for i in passing))
    enter(dataset.reduce(begin, turn)[1:])
    _poison(before, after[-1], passing, get, put, names)
