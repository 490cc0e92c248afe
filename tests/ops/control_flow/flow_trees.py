"""Random programs of nested conds and loops, and the same without any: unrolled while built.

A program is a tree. Its predicates and the lengths of its loops depend on rounds only, so that
Python can take every branch and go through every round when it builds the plain graph.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tfdist as tf


class Assign(NamedTuple):
    """Variable `target` becomes a function of others."""

    target: int
    kind: str
    sources: tuple[int, int]


class Cond(NamedTuple):
    """One of two blocks runs, as the sum of the rounds so far is even or odd."""

    sides: tuple[Block, Block]


class Loop(NamedTuple):
    """A block runs again and again; `more` rounds, and as many as the round around if `grows`."""

    more: int
    grows: bool
    block: Block


Block = tuple[Any, ...]

KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "mul": lambda a, b: a * b,
    "add": lambda a, b: a + b * 0.5,
    "sin": lambda a, b: tf.sin(a) - b,
    "tanh": lambda a, b: tf.tanh(a * b),
    "stop": lambda a, b: tf.stop_gradient(a) * b,
    "square": lambda a, b: a * a * 0.3,
    "copy": lambda a, b: b,
}


def block(rng: random.Random, variables: int, depth: int) -> Block:
    """Return a random block on so many variables, with so many levels inside at most."""
    return tuple(statement(rng, variables, depth) for _ in range(rng.randint(1, 3)))


def statement(rng: random.Random, variables: int, depth: int) -> Any:
    """Return a random statement."""
    kind = rng.random()
    if depth and kind < 0.35:
        return Cond((block(rng, variables, depth - 1), block(rng, variables, depth - 1)))
    if depth and kind < 0.75:
        return Loop(rng.randint(0, 2), rng.random() < 0.5, block(rng, variables, depth - 1))
    sources = (rng.randrange(variables), rng.randrange(variables))
    return Assign(rng.randrange(variables), rng.choice(sorted(KINDS)), sources)


Values = list[Any]


def unrolled(tree: Block, values: Values, rounds: int = 0) -> Values:
    """Return the variables after a block, built without conds and loops."""
    for each in tree:
        if isinstance(each, Assign):
            values = assigned(each, values)
        elif isinstance(each, Cond):
            values = unrolled(each.sides[rounds % 2], values, rounds)
        else:
            for number in range(each.more + each.grows * rounds):
                values = unrolled(each.block, values, rounds + number)
    return values


def flowing(tree: Block, values: Values, rounds: Any = 0) -> Values:
    """Return the variables after a block, built with conds and loops."""
    for each in tree:
        if isinstance(each, Assign):
            values = assigned(each, values)
        elif isinstance(each, Cond):
            values = branched(each, values, rounds)
        else:
            values = looped(each, values, rounds)
    return values


def assigned(each: Assign, values: Values) -> Values:
    a, b = (values[source] for source in each.sources)
    return [KINDS[each.kind](a, b) if i == each.target else v for i, v in enumerate(values)]


def branched(each: Cond, values: Values, rounds: Any) -> Values:
    sides = [lambda side=side: flowing(side, values, rounds) for side in each.sides]
    even = tf.equal(tf.convert_to_tensor(rounds) % 2, 0)
    return list(tf.cond(even, *sides, strict=True))


def looped(each: Loop, values: Values, rounds: Any) -> Values:
    last = each.more + rounds if each.grows else each.more

    def body(number: Any, *inner: Any) -> Sequence[Any]:
        return [number + 1, *flowing(each.block, list(inner), rounds + number)]

    return list(tf.while_loop(lambda number, *_: number < last, body, [0, *values])[1:])
