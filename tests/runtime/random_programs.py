"""Random programs of nested branches and loops: built as a graph, and computed by plain Python.

A program is a tree. Each of its nodes says how to build itself of the tensors in scope, and what
it is worth for given numbers. Counters tell how often each branch and each round ran.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tfdist as tf

MODULUS = 97  # values stay small


class Tree(NamedTuple):
    """One node of a program.

    Attributes:
      build: (workshop, tensors in scope) -> a tensor.
      value: (counts of the counters, numbers in scope) -> its value.
    """

    build: Callable[[Workshop, list[Any]], Any]
    value: Callable[[list[int], list[int]], int]


class Workshop:
    """Where a program is built: its devices and counters.

    Args:
      seed: chooses devices.
      devices: that nodes may be on.
      counters: how many there are.
    """

    def __init__(self, seed: int, devices: Sequence[str], counters: int) -> None:
        self._rng, self._devices = random.Random(seed), devices
        self.counters = []
        for _ in range(counters):
            with self.device():
                self.counters.append(tf.Variable(0))

    def device(self) -> Any:
        """Return the scope of a device, the one around it perhaps."""
        return tf.device(self._rng.choice([None, *self._devices]))

    def count(self, counter: int, tensor: Any) -> Any:
        """Return `tensor`, after a counter was raised; it belongs where the tensor is."""
        with tf.control_dependencies([tensor]):
            raised = tf.assign_add(self.counters[counter], 1)
        with tf.control_dependencies([raised]):
            return tf.identity(tensor)


class Maker:
    """Makes trees.

    Attributes:
      counters: how many counters the trees made so far have.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.counters = 0

    def tree(self, depth: int, scope: int, counted: bool = True) -> Tree:
        """Return a tree.

        Args:
          depth: how deep branches and loops may nest.
          scope: number of values in scope.
          counted: whether what it does may be counted: not if it may be pruned.
        """
        kinds = [self._product, self._counted if counted else self._leaf]
        kinds += [self._sum, self._branch, self._loop, self._loop] if depth else [self._leaf] * 2
        return self._rng.choice(kinds)(depth, scope, counted)

    def _leaf(self, depth: int, scope: int, counted: bool) -> Tree:
        which = self._rng.randrange(-2, scope)
        if which < 0:
            number = self._rng.randrange(1, 5)
            return Tree(lambda shop, tensors: tf.constant(number), lambda counts, numbers: number)
        return Tree(lambda shop, tensors: tensors[which], lambda counts, numbers: numbers[which])

    def _sum(self, depth: int, scope: int, counted: bool) -> Tree:
        parts = [self.tree(depth - 1, scope, counted) for _ in range(2)]
        return _total(parts)

    def _product(self, depth: int, scope: int, counted: bool) -> Tree:
        a, b = [self._leaf(depth, scope, counted) for _ in range(2)]

        def build(shop: Workshop, tensors: list[Any]) -> Any:
            with shop.device():
                return tf.floormod(a.build(shop, tensors) * b.build(shop, tensors) + 1, MODULUS)

        def value(counts: list[int], numbers: list[int]) -> int:
            return (a.value(counts, numbers) * b.value(counts, numbers) + 1) % MODULUS

        return Tree(build, value)

    def _counted(self, depth: int, scope: int, counted: bool) -> Tree:
        inner, counter = self.tree(depth, scope, counted), self.counters
        self.counters += 1

        def value(counts: list[int], numbers: list[int]) -> int:
            counts[counter] += 1
            return inner.value(counts, numbers)

        return Tree(lambda shop, tensors: shop.count(counter, inner.build(shop, tensors)), value)

    def _predicate(self, scope: int) -> tuple[Tree, Tree]:
        return self._leaf(0, scope, False), self._leaf(0, scope, False)

    def _branch(self, depth: int, scope: int, counted: bool) -> Tree:
        low, high = self._predicate(scope)
        size, used = self._sizes()
        sides = [
            [self.tree(depth - 1, scope, counted and i < used) for i in range(size)]
            for _ in range(2)
        ]

        def build(shop: Workshop, tensors: list[Any]) -> Any:
            def side(trees: list[Tree]) -> list[Any]:
                with shop.device():
                    return [tree.build(shop, tensors) for tree in trees]

            with shop.device():
                taken = low.build(shop, tensors) < high.build(shop, tensors)
            found = tf.cond(taken, lambda: side(sides[1]), lambda: side(sides[0]), strict=True)
            return _added(found[:used])

        def value(counts: list[int], numbers: list[int]) -> int:
            taken = low.value(counts, numbers) < high.value(counts, numbers)
            return sum(tree.value(counts, numbers) for tree in sides[taken][:used]) % MODULUS

        return Tree(build, value)

    def _sizes(self) -> tuple[int, int]:
        """Return how many results there are, and how many of the first ones are used."""
        size = self._rng.choice([1, 1, 2, 3])
        return size, self._rng.randint(1, size)

    def _loop(self, depth: int, scope: int, counted: bool) -> Tree:
        size, used = self._sizes()
        starts = [self._leaf(depth, scope, counted) for _ in range(size)]
        limit = self._rng.choice([0, 1, 2, 3])
        bound = self._leaf(depth, scope, False)
        # the first variable counts the rounds; each variable may use all others
        needs = set(range(size)) if counted else set()
        bodies = [self.tree(depth - 1, scope + 1 + size, i in needs) for i in range(size)]
        parallel = self._rng.choice([1, 2, 10])
        used = size if counted else used

        def build(shop: Workshop, tensors: list[Any]) -> Any:
            with shop.device():
                rounds = tf.floormod(bound.build(shop, tensors), limit + 1)
                first = [tree.build(shop, tensors) for tree in starts]

            def cond(i: Any, *values: Any) -> Any:
                with shop.device():
                    return i < rounds

            def body(i: Any, *values: Any) -> Any:
                with shop.device():
                    return [i + 1, *(tree.build(shop, [*tensors, i, *values]) for tree in bodies)]

            found = tf.while_loop(cond, body, [0, *first], parallel_iterations=parallel)
            return _added(found[1 : 1 + used])

        def value(counts: list[int], numbers: list[int]) -> int:
            values = [tree.value(counts, numbers) for tree in starts]
            for i in range(bound.value(counts, numbers) % (limit + 1)):
                inner = [*numbers, i, *values]
                values = [tree.value(counts, inner) for tree in bodies]
            return sum(values[:used]) % MODULUS

        return Tree(build, value)


def _total(parts: list[Tree]) -> Tree:
    return Tree(
        lambda shop, tensors: _added([part.build(shop, tensors) for part in parts]),
        lambda counts, numbers: sum(part.value(counts, numbers) for part in parts) % MODULUS,
    )


def _added(tensors: list[Any]) -> Any:
    total = tensors[0]
    for each in tensors[1:]:
        total = total + each
    return tf.floormod(total, MODULUS)


class Program(NamedTuple):
    """A program: a tree, and how many counters it has."""

    seed: int
    tree: Tree
    counters: int

    def build(self, devices: Sequence[str]) -> tuple[list[Any], Any, list[Any]]:
        """Return the feeds, the result and the counters of the program as a graph."""
        shop = Workshop(self.seed, devices, self.counters)
        feeds = [tf.placeholder(tf.int32, [], name=name) for name in "xy"]
        return feeds, self.tree.build(shop, feeds), shop.counters

    def value(self, numbers: Sequence[int]) -> list[int]:
        """Return the result for two numbers, and how far each counter was raised."""
        counts = [0] * self.counters
        return [self.tree.value(counts, list(numbers)), *counts]


def random_program(seed: int, depth: int = 3) -> Program:
    """Return a program; the same for the same seed."""
    maker = Maker(seed)
    parts = [maker.tree(depth, 2) for _ in range(2)]
    return Program(seed, _total(parts), maker.counters)
