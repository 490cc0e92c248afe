"""Functions that kernels call while they run: compiled once for a session, called by pipelines.

`Callee` is a compiled function, `Bound` one for the calls of an iteration
(`ops.dataset.dataset_value.Call`). A call that cannot wait is a list of values and the compiled
units, one after the other. Another one is a generator that yields the waits of its units; a wait
that was given up is yielded again, with the step that asks then, and the call goes on where it
stood.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable
from operator import itemgetter
from typing import Any, NamedTuple

from tfdist.base.aliases import TaskResource, TensorValue
from tfdist.base.dtypes import DType, as_dtype
from tfdist.errors import InvalidArgumentError
from tfdist.graph.functions import NO_FUNCTIONS, Library, NameAttrList
from tfdist.graph.items import GIVEN_UP, TICK, Failure, Mark
from tfdist.graph.op_def import DEAD, Wait
from tfdist.plan.compiling.node_bindings import RuntimeCallbacks
from tfdist.plan.compiling.program import Program
from tfdist.plan.segment import ENVIRONMENT, FIRST_VALUE, NOTE
from tfdist.runtime.resources.generators import Generators
from tfdist.runtime.step.failures import at_node
from tfdist.runtime.step.parallel import execute
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.token_executor import Iteration

Element = tuple[Any, ...]
Yielded = Wait | Mark  # what a call waits for, or `TICK`: it only looks whether to go on


class Functions:
    """The functions that the kernels of a session may call on one task.

    Args:
      callbacks: what compiled code calls.
      compiled: whether Python is generated, or nodes are walked.
    """

    def __init__(self, callbacks: RuntimeCallbacks, compiled: bool) -> None:
        self._callbacks, self._compiled = callbacks, compiled
        self._library = NO_FUNCTIONS
        self._made: dict[tuple[str, str], Callee] = {}

    def add(self, library: Library) -> None:
        """Learn the functions that come with a partition."""
        self._library = self._library.merged(library)

    def find(self, function: NameAttrList, device: str) -> Callee:
        """Return a function that runs on `device`; InvalidArgumentError if it cannot."""
        name = repr(function) if function.attrs else function.name
        made = self._made.get((name, device))
        if made is None:
            # most sessions call no functions so
            from tfdist.plan.compiling.compile import build_program
            from tfdist.plan.functions.function_body import body_partition

            partition, types = body_partition(function, self._library, device)
            program = build_program(partition, self._callbacks, compiled=self._compiled)
            arguments = Arguments(function.name, types)
            made = self._made.setdefault((name, device), Callee(program, arguments))
        return made


class Arguments(NamedTuple):
    """What a function takes.

    Attributes:
      name: of the function.
      types: of its arguments.
    """

    name: str
    types: tuple[DType, ...]

    def check(self, given: Element) -> None:
        """Raise InvalidArgumentError if the function does not take what is `given`."""
        got = [as_dtype(getattr(each, "dtype", object)) for each in given]
        # strings, handles and variants are all objects
        kinds = [[each.as_numpy_dtype for each in types] for types in (got, self.types)]
        if kinds[0] != kinds[1]:
            raise InvalidArgumentError(
                f"function {self.name!r} takes {_names(self.types)}, but is called with "
                f"{_names(got)}"
            )


def _names(types: Iterable[DType]) -> str:
    return f"({', '.join([each.name for each in types])})"


class Callee:
    """A compiled function.

    Attributes:
      program: its body.
      arguments: what it takes.
      order: its units one after the other, None if one of them may wait.
    """

    def __init__(self, program: Program, arguments: Arguments) -> None:
        self.program, self.arguments = program, arguments
        waits = program.can_block or program.frame is not None
        self.order = None if waits else _in_order(program)

    def bound(self, iteration: TaskResource) -> Bound:
        """Return the function for the calls of one iteration."""
        return Bound(self, iteration)


def _in_order(program: Program) -> list[int]:
    pending, ready = list(program.pending), deque(program.start)
    order: list[int] = []
    while ready:
        unit = ready.popleft()
        order.append(unit)
        for dependent in program.dependents[unit]:
            pending[dependent] -= 1
            if not pending[dependent]:
                ready.append(dependent)
    return order


class _Home:
    """What a session is to the functions of one iteration: random numbers begin anew with it."""

    legacy_frames = False  # no other task takes part in their loops

    def __init__(self, iteration: TaskResource) -> None:
        session = iteration.ctx.run.session
        self.resources, self.functions = session.resources, session.functions
        self.own_prefix, self.known = session.own_prefix, dict[str, Any]()
        self.generators = iteration.state(Generators, Generators)  # also of what threads make
        self.step = _PresentStep(iteration)


class _PresentStep:
    """The step that asks for an element now, as a `runtime.step.step.Step`.

    Attributes:
      clock: None: functions of pipelines are not traced.
    """

    clock = None

    def __init__(self, iteration: TaskResource) -> None:
        self._iteration = iteration

    def __getattr__(self, name: str) -> TaskResource:
        return getattr(self._iteration.ctx.run.step, name)


class Bound:
    """A function bound to one iteration; see `ops.dataset.dataset_value.Call`.

    Attributes:
      is_slow: whether a call may take any time.
      now: gives the results of a call, or a Failure; None if a call may have to wait.
    """

    def __init__(self, callee: Callee, iteration: TaskResource) -> None:
        self._program, self._iteration = callee.program, iteration
        self._arguments, order = callee.arguments, callee.order
        if iteration.home is None:
            iteration.home = _Home(iteration)
        self.is_slow = self._program.may_run_on
        self.now = None if order is None else self._quick(order)

    def _run(self) -> Run:
        """Return a new run of the function."""
        kind = Iteration if self._program.frame else Run
        home = self._iteration.home
        return kind(home.step, self._iteration.ctx.run.task, home, self._program)

    def _quick(self, order: list[int]) -> Callable[[Element], Element | Failure]:
        program, run = self._program, self._run()
        template, last = list(program.template), FIRST_VALUE + program.feed_count
        template[ENVIRONMENT], template[NOTE] = run, run.notes.append
        results = _getter([fetched.place for fetched in program.fetches])
        units = [(unit, program.functions[unit]) for unit in order]

        unchecked = [True]  # all calls of an iteration are with the same types

        def call(arguments: Element) -> Element | Failure:
            if unchecked:
                try:
                    self._arguments.check(arguments)
                    unchecked.clear()
                except InvalidArgumentError as error:
                    return Failure(error)
            values = template.copy()
            values[FIRST_VALUE:last] = arguments
            for unit, function in units:
                try:
                    function(values)
                except Exception as error:
                    return Failure(at_node(error, run, unit))
                except BaseException as error:  # Ctrl-C: the pipeline goes on after it
                    return Failure(error)
            return results(values)

        return call

    def later(self, arguments: Element) -> Generator[Yielded, None, Element | Failure]:
        """See `ops.dataset.dataset_value.Call`."""
        run = self._run()
        try:
            self._arguments.check(arguments)
            ready: deque[Any] = deque(run.begin(list(arguments)))
            while ready:
                part, unit = ready.popleft()
                yield from self._unit(part, unit)
                if part.complete(unit, ready):
                    break
            return tuple(run.fetch(lambda variable: variable.read(), private=False))
        except Exception as error:
            return Failure(error if hasattr(error, "node_name") else at_node(error, run, 0))
        finally:
            run.values.clear()  # a run stands in its own values

    def _unit(self, run: Run, unit: int) -> Generator[Yielded, None, None]:
        try:
            if run.program.waits[unit]:
                yield from self._waited(run, unit)
            else:
                yield TICK
                execute(run, unit)
        except Exception as error:
            raise at_node(error, run, unit) from error.__cause__

    def _waited(self, run: Run, unit: int) -> Generator[Yielded, None, None]:
        """Drive the kernel of a waiting unit to its end."""
        kernel, iteration = run.program.functions[unit](run.values), self._iteration
        outcome: Any = None
        while True:
            try:
                error = isinstance(outcome, BaseException)
                wait = kernel.throw(outcome) if error else kernel.send(outcome)
            except StopIteration as stop:
                _store(run, unit, stop.value)
                return
            yield wait
            while iteration.outcome is GIVEN_UP:
                yield wait
            outcome, iteration.outcome = iteration.outcome, None


def _getter(places: list[int]) -> Callable[[list[TensorValue]], Element]:
    """Return what takes the values at `places`."""
    if len(places) > 1:
        return itemgetter(*places)
    if not places:
        return lambda values: ()
    [place] = places
    return lambda values: (values[place],)


def _store(run: Run, unit: int, result: TensorValue) -> None:
    """Put what a waiting unit gives where it is taken."""
    if result is DEAD:
        run.kill(unit)
    node = run.program.nodes[unit][0]
    results = [result] if node.op_def.has_one_output else result or ()
    for place, value in zip(run.program.stores[unit], results, strict=True):
        if place is not None:
            run.values[place] = value


NUMBERS = itertools.count(1)  # sessions of workers, whose own resources have different names
