"""Iterations of loops: branches and loops of a partition, run by tokens (`plan.compiling.tokens`).

A token is what a unit gives to another one: a value, a dead value, or just that it has ended. A
unit is ready when all its tokens are there; if one is dead it ends at once and its tokens are dead,
too. A `Merge` takes the first live value. Each iteration of each running frame has values and
counts of its own; a frame ends when all its Enters were passed and its last iteration has nothing
left to do, and only then are those of its Exits dead that nothing came through.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base.aliases import TensorValue
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import DEAD
from tfdist.graph.records import Node
from tfdist.plan.compiling.program import UNMEASURED, Consumers, Frame, Program, TokenFlow
from tfdist.plan.frames import frame_number, legacy_frame_number
from tfdist.plan.segment import NOTE
from tfdist.runtime.step.failures import at_node
from tfdist.runtime.step.rendezvous import Rendezvous
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.seams import ReadyItem, SessionState, StepState, TaskState
from tfdist.runtime.step.step import QUICK
from tfdist.tracing.steps.loop_iterations import Rounds, loop_name

Ready = deque[ReadyItem]

_BURST = 1000  # units that a partition runs before others have their turn


class Iteration(Run):
    """One iteration of one running frame; the only one of what is outside of all loops is the run.

    Attributes:
      frame: the running frame that it belongs to.
      number: counts the iterations of the frame, from 0.
      busy: units of it that are ready or run, and frames inside it that run.
      doomed: units that a dead token has reached.
      inner: the frames inside it that run, by name.
      left: for Merges of branches, the number of values that may still come.
    """

    __slots__ = ("busy", "doomed", "frame", "inner", "left", "number")

    def __init__(
        self, step: StepState, task: TaskState, session: SessionState, program: Program
    ) -> None:
        super().__init__(step, task, session, program)
        self._open(RunningFrame(self), 0)
        self.busy = len(program.start)

    def _open(self, frame: RunningFrame, number: int) -> None:
        self.frame, self.number, self.busy = frame, number, 0
        self.inner: dict[str, RunningFrame] = {}
        self.doomed: set[int] = set()
        self.left: dict[int, int] = {}

    def next(self, frame: RunningFrame, number: int) -> Iteration:
        """Return iteration `number` of `frame`, which runs in the same step."""
        made = Iteration.__new__(Iteration)
        Run.__init__(made, self.step, self.task, self.session, frame.program)
        made._open(frame, number)
        made.tag = f"{frame.key}:{number}"
        if self.step.clock:
            made.notes = self.notes
            made.values[NOTE] = _notes_in(made)
        return made

    def complete(self, unit: int, ready: Ready) -> bool:
        """See `Run.complete`; runs what is ready then, and tells of the whole partition."""
        tokens, start = self.frame.tokens, time.perf_counter_ns()
        tokens.give(self, unit, unit in self.doomed)
        tokens.run(ready)
        bursts = tokens.root.frame.bindings.bursts
        spent = time.perf_counter_ns() - start
        bursts[0] += (spent - bursts[0]) >> 2
        self.task.counters.ran(spent)
        return tokens.has_ended()

    def deliver(self, rendezvous: Rendezvous) -> None:
        """See `Run.deliver`; what quick iterations send leaves in one message."""
        if UNMEASURED < self.frame.tokens.root.frame.bindings.bursts[0] < QUICK:
            self.step.deliver_soon(rendezvous)
        else:
            rendezvous.deliver()

    def kill(self, unit: int) -> None:
        """See `Run.kill`."""
        self.doomed.add(unit)

    def drop(self) -> None:
        """See `Run.drop`; in the midst of loops, what their iterations have goes with it."""
        super().drop()
        while self.inner:
            self.inner.popitem()[1].drop()


class RunningFrame:
    """A frame while it runs, inside of one iteration of the frame around it.

    Attributes:
      program: what its iterations run.
      bindings: how.
      around: the iteration that it was entered from; None outside of all loops.
      tokens: spreads the tokens of the whole partition.
      key: its number in keys of transfers.
      path: its name in that of the frames around it, of which TensorFlow 1.15 makes the number.
      iterations: those that have not ended, by number.
      oldest: number of the first of them.
      enters_left: Enters that have not led anything into it, dead or alive.
      constants: values that every iteration has.
      passed: Exits that a value came through.
      held: values for an iteration that may not begin yet.
    """

    def __init__(self, around: Iteration, program: Program | None = None) -> None:
        """Begin a frame.

        Args:
          around: the iteration that it is entered from; what is outside of all loops if there is no
            program.
          program: what its iterations run.
        """
        self.program = program or around.program
        assert self.program.frame is not None
        self.bindings: Frame = self.program.frame
        self.enters_left = self.bindings.enters
        self.oldest = 0
        self.constants: list[tuple[Consumers, Any]] = []
        self.passed: set[int] = set()
        self.held: list[tuple[int, Consumers, Any]] = []
        self.around = around if program else None
        if program is None:
            self.key, self.tokens, self.iterations = 0, _Tokens(around), {0: around}
            self.path = ""
            return
        self.path = f"{around.frame.path};{around.number};{self.bindings.name}"
        if around.session.legacy_frames:
            self.key = legacy_frame_number(self.path)
        else:
            self.key = frame_number(around.frame.key, around.number, self.bindings.name)
        self.tokens = around.frame.tokens
        self.iterations = {0: around.next(self, 0)}

    def drop(self) -> None:
        """Let go of all values."""
        self.constants.clear()
        self.held.clear()
        while self.iterations:
            self.iterations.popitem()[1].drop()


class _Tokens:
    """Spreads the tokens of a partition, and runs what is ready then.

    Attributes:
      root: the iteration outside of all loops.
      alive: how many units are ready, run or wait.
    """

    def __init__(self, root: Iteration) -> None:
        self.root = root
        self.alive = len(root.program.start)
        self._ready: deque[tuple[Iteration, int]] = deque()

    def run(self, ready: Ready) -> None:
        """Run units that are ready for a while.

        Args:
          ready: what the step goes on with: takes the units that wait for something, and one that
            may run when others have had their turn.
        """
        left = _BURST
        while self._ready:
            iteration, unit = self._ready.popleft()
            is_dead = unit in iteration.doomed
            if is_dead and unit not in iteration.frame.bindings.runs_dead:
                self.give(iteration, unit, True)
            elif iteration.program.waits[unit]:
                ready.append((iteration, unit))
            elif left <= 0 or iteration.task.disturber is not None or iteration.is_over():
                iteration.tell(iteration.program.nodes[unit][0])
                ready.append((iteration, unit))
                return
            else:
                left -= 1
                self._execute(iteration, unit)
                self.give(iteration, unit, is_dead)

    def has_ended(self) -> bool:
        """Return whether nothing is left to do.

        Raises:
          InvalidArgumentError: a node waits for what nobody will give: the graph is malformed.
        """
        if self.alive:
            return False
        for unit, count in enumerate(self.root.pending):
            if count > 0:
                raise _stuck(self.root.program.nodes[unit][0])
        return True

    def _execute(self, iteration: Iteration, unit: int) -> None:
        try:
            iteration.program.functions[unit](iteration.values)
        except Exception as error:
            raise at_node(error, iteration, unit) from error.__cause__

    def give(self, iteration: Iteration, unit: int, is_dead: bool) -> None:
        """Hand on what a unit gives that has ended."""
        frame = iteration.frame
        flow = frame.bindings.flows[unit]
        if flow is TokenFlow.SAME:
            values = iteration.values
            for place, units, merges in frame.bindings.consumers[unit]:
                dead = is_dead or (place is not None and values[place] is DEAD)
                self._reach(iteration, units, merges, dead)
        else:
            place = iteration.program.stores[unit][0]
            assert place is not None
            value = DEAD if is_dead else iteration.values[place]
            self._lead(flow, iteration, unit, value)
        self.alive -= 1
        self._release(iteration)

    def _lead(self, flow: TokenFlow, iteration: Iteration, unit: int, value: TensorValue) -> None:
        if flow is TokenFlow.NEXT_ITERATION:
            self._next_iteration(iteration, unit, value)
        elif flow is TokenFlow.ENTER:
            self._enter(iteration, unit, value)
        else:
            self._leave(iteration, unit, value)

    def _place(self, iteration: Iteration, consumers: Consumers, value: TensorValue) -> None:
        """Put a value that comes from another iteration where it is taken."""
        place, units, merges = consumers
        assert place is not None
        iteration.values[place] = value
        self._reach(iteration, units, merges, value is DEAD)

    def _reach(
        self, iteration: Iteration, units: Iterable[int], merges: Iterable[int], is_dead: bool
    ) -> None:
        """Let a token reach all that take it."""
        pending = iteration.pending
        if merges:
            units = [
                *units,
                *[each for each in merges if self._is_chosen(iteration, each, is_dead)],
            ]
        if is_dead:
            iteration.doomed.update(units)
        for unit in units:
            pending[unit] -= 1
            if not pending[unit]:
                iteration.busy += 1
                self.alive += 1
                self._ready.append((iteration, unit))

    def _is_chosen(self, iteration: Iteration, merge: int, is_dead: bool) -> bool:
        """Return whether a value is what a Merge waits for: a live one, or the last dead one."""
        left = iteration.left.get(merge, iteration.frame.bindings.merged[merge])
        iteration.left[merge] = left - 1 if is_dead else 0
        return left == 1 if is_dead else left > 0

    def _enter(self, iteration: Iteration, unit: int, value: TensorValue) -> None:
        bindings = iteration.frame.bindings
        name, is_constant = bindings.entered[unit]
        frame = iteration.inner.get(name)
        if frame is None:
            frame = iteration.inner[name] = RunningFrame(iteration, bindings.inner[name])
            iteration.busy += 1
        [consumers] = bindings.consumers[unit]
        if is_constant:
            frame.constants.append((consumers, value))
            for inside in list(frame.iterations.values()):
                self._place(inside, consumers, value)
        else:
            self._place(frame.iterations[0], consumers, value)
        frame.enters_left -= 1
        self._end_iterations(frame)

    def _leave(self, iteration: Iteration, unit: int, value: TensorValue) -> None:
        frame = iteration.frame
        if value is DEAD:  # it may come in a later iteration
            return
        assert frame.around is not None
        if unit in frame.passed:
            raise _left_twice(iteration.program.nodes[unit][0])
        frame.passed.add(unit)
        self._place(frame.around, frame.bindings.consumers[unit][0], value)

    def _next_iteration(self, iteration: Iteration, unit: int, value: TensorValue) -> None:
        if value is DEAD:
            return
        frame, number = iteration.frame, iteration.number + 1
        [consumers] = frame.bindings.consumers[unit]
        if number - frame.oldest >= frame.bindings.parallel:
            frame.held.append((number, consumers, value))
        else:
            self._place(self._iteration(frame, number), consumers, value)

    def _iteration(self, frame: RunningFrame, number: int) -> Iteration:
        found = frame.iterations.get(number)
        if found is None:
            assert frame.around is not None
            found = frame.iterations[number] = frame.around.next(frame, number)
            for consumers, value in frame.constants:
                self._place(found, consumers, value)
        return found

    def _release(self, iteration: Iteration) -> None:
        """Note that a unit or an inner frame of the iteration has ended."""
        iteration.busy -= 1
        if not iteration.busy and iteration.frame.around is not None:
            self._end_iterations(iteration.frame)

    def _end_iterations(self, frame: RunningFrame) -> None:
        """End the iterations in which nothing can happen any more, the oldest first."""
        while not frame.enters_left and frame.oldest in frame.iterations:
            if frame.iterations[frame.oldest].busy:
                return
            frame.iterations.pop(
                frame.oldest
            ).values.clear()  # an iteration stands in its own values
            frame.oldest += 1
            held, frame.held = frame.held, []
            for number, consumers, value in held:
                self._place(self._iteration(frame, number), consumers, value)
        if not frame.enters_left and not frame.iterations:
            self._end_frame(frame)

    def _end_frame(self, frame: RunningFrame) -> None:
        """Let the Exits be dead that nothing came through."""
        around, bindings = frame.around, frame.bindings
        assert around is not None
        for unit, flow in enumerate(bindings.flows):
            if flow is TokenFlow.EXIT and unit not in frame.passed:
                self._place(around, bindings.consumers[unit][0], DEAD)
        del around.inner[bindings.name]
        self._release(around)


def _stuck(node: Node) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{node.name!r} ({node.op}) never runs: nothing comes through one of its inputs, because a "
        "loop is not as loops must be"
    ).at_node(node.name, node.device)


def _left_twice(node: Node) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{node.name!r} ({node.op}) leaves its loop a second time: only what the loop's condition "
        "switches may leave"
    ).at_node(node.name, node.device)


def _notes_in(iteration: Iteration) -> Callable[[TensorValue], None]:
    """Return what notes the nodes of a traced iteration, and which one of which loops it is."""
    around: list[tuple[str, int]] = []
    each: Iteration | None = iteration
    while each is not None and each.frame.around is not None:
        around.insert(0, (loop_name(each.frame.bindings.name), each.number))
        each = each.frame.around
    loops, numbers = zip(*around, strict=True)
    where, notes = Rounds(loops, numbers), iteration.notes
    return lambda note: notes.append((*(*note, 0)[:5], where))
