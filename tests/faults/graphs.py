"""The small graphs of the bench: a queue somewhere, a counter somewhere, and runs in a loop."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

import tfdist as tf


class Named(Protocol):
    """A task, for those who only name it."""

    @property
    def name(self) -> str:
        """Return "/job:J/task:I"."""


class Queue:
    """A FIFO queue of int32 on a task, with the nodes that use it.

    Args:
      task: where it is.
      name: its name, for messages.
      capacity: elements.
    """

    def __init__(self, task: Named, name: str = "letters", capacity: int = 1000) -> None:
        self.name = name
        with tf.device(task.name):
            queue = tf.FIFOQueue(capacity, tf.int32, shapes=[[]], shared_name=name, name=name)
            self.element = tf.placeholder(tf.int32, [], name=f"{name}_element")
            self.elements = tf.placeholder(tf.int32, [None], name=f"{name}_elements")
            self.count = tf.placeholder(tf.int32, [], name=f"{name}_count")
            self.put = queue.enqueue(self.element)
            self.put_many = queue.enqueue_many(self.elements)
            self.take = queue.dequeue(name=f"{name}_take")
            self.take_many = queue.dequeue_many(self.count)
            self.size = queue.size()

    def add(self, session: Any, *elements: int) -> None:
        """Put elements in."""
        session.run(self.put_many, {self.elements: elements})

    def inside(self, session: Any) -> list[int]:
        """Return the elements, which stay in; nobody else uses the queue meanwhile."""
        size = session.run(self.size)
        if not size:
            return []
        found = session.run(self.take_many, {self.count: size})
        session.run(self.put_many, {self.elements: found})
        return [int(each) for each in found]


class Pairs:
    """A FIFO queue of elements (producer, number) on a task, with nodes for one or several.

    Args:
      task: where it is.
      client: the name of who uses it, for the names of the nodes that wait.
      capacity: elements.
    """

    def __init__(self, task: Named, client: str = "bench", capacity: int = 50) -> None:
        with tf.device(task.name):
            queue = tf.FIFOQueue(
                capacity, [tf.int32] * 2, shapes=[[], []], shared_name="pairs", name="pairs"
            )
            self._element = [tf.placeholder(tf.int32, []) for _ in range(2)]
            self._elements = [tf.placeholder(tf.int32, [None]) for _ in range(2)]
            self._count = tf.placeholder(tf.int32, [])
            self._put = queue.enqueue(self._element, name=f"{client}_put")
            self._put_many = queue.enqueue_many(self._elements, name=f"{client}_put_many")
            self._take = queue.dequeue(name=f"{client}_take")
            self._take_many = queue.dequeue_many(self._count, name=f"{client}_take_many")
            self.size, self.close = queue.size(), queue.close()

    def put(self, session: Any, producer: int, numbers: range) -> None:
        """Put elements of a producer in; one is put as one, by `enqueue`."""
        if len(numbers) == 1:
            session.run(self._put, dict(zip(self._element, (producer, numbers[0]), strict=True)))
            return
        components = (np.full(len(numbers), producer), np.asarray(numbers))
        session.run(self._put_many, dict(zip(self._elements, components, strict=True)))

    def take(self, session: Any, count: int) -> list[tuple[int, int]]:
        """Take so many elements; one is taken as one, by `dequeue`."""
        if count == 1:
            producer, number = session.run(self._take)
            return [(int(producer), int(number))]
        components = session.run(self._take_many, {self._count: count})
        return list(zip(*(each.tolist() for each in components), strict=True))

    def drained(self, session: Any) -> list[tuple[int, int]]:
        """Take all elements; nobody else uses the queue meanwhile."""
        left = int(session.run(self.size))
        return self.take(session, left) if left else []


class Counter:
    """A variable on a task that counts.

    Args:
      task: where it is.
      name: its name, for messages.
    """

    def __init__(self, task: Named, name: str = "counter") -> None:
        self.name = name
        with tf.device(task.name):
            self.variable = tf.Variable(0, dtype=tf.int32, name=name)
            self.value = tf.identity(self.variable, name=f"{name}_value")
        self.start = self.variable.initializer

    def added(self, by: Any) -> Any:
        """Return a tensor of the value after adding `by`, a tensor of any task."""
        with tf.device(self.variable.device):
            return tf.identity(tf.assign_add(self.variable, by))


class Page:
    """A large variable of int32 on a task, which is written as a whole.

    Args:
      task: where it is.
    """

    size = 2_000_000  # elements: 8 MB

    def __init__(self, task: Named) -> None:
        with tf.device(task.name):
            self.fed = tf.placeholder(tf.int32, [self.size], name="page_fed")
            variable = tf.Variable(tf.zeros([self.size], tf.int32), name="page")
            self.write = tf.assign(variable, self.fed).op
            self.value = tf.identity(variable, name="page_value")
        self.start = variable.initializer


class Loop:
    """Runs the same thing again and again, until it fails.

    Attributes:
      values: what each run gave.
    """

    def __init__(self, session: Any, fetches: Any) -> None:
        self._session, self._fetches = session, fetches
        self.values: list[Any] = []

    def __call__(self) -> None:
        while True:
            self.values.append(self._session.run(self._fetches))


def on(task: Named, value: Any, name: str | None = None) -> Any:
    """Return a constant that is computed on a task, at each run."""
    with tf.device(task.name):
        return tf.identity(tf.constant(np.asarray(value, np.int32)), name=name)
