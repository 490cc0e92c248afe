"""`Program`: a partition that is ready to run, as functions and what follows what.

A unit is a function of one list, the slots of a run's values: `values[0]` is the run's environment,
`values[1]` where a traced run notes its nodes, then come feeds and the values that cross units.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from tfdist.graph.records import Node
from tfdist.plan.compiling.node_bindings import Lines

UNMEASURED = -1


class Fetch(NamedTuple):
    """A fetched value.

    Attributes:
      place: its slot.
      variable: the node of a variable in that slot, whose value is to be read, or None.
      endpoint: which tensor it is, as this task knows it.
    """

    place: int
    variable: Node | None
    endpoint: tuple[str, int]


NONBLOCKING_PASS = -1  # in place of a unit's number: the whole non-blocking pass

Units = tuple[tuple[int, Callable[[list[Any]], Any]], ...]


class NonblockingPass(NamedTuple):
    """All units in topological order, to run until one would block (`nonblocking_pass`).

    Attributes:
      units: each with a function that runs it, or returns `PENDING` if that would block.
      idempotent: how many of them, at the beginning, are idempotent.
    """

    units: Units
    idempotent: int


class Program(NamedTuple):
    """A partition, ready to run.

    Attributes:
      functions: for each unit a function of a run's values; for a waiting one, a function that
        returns its generator.
      waits: for each unit, whether it waits.
      stores: for a waiting unit, the slots of its outputs (None for an output without consumers).
      dependents: for each unit, the units that wait for it.
      pending: for each unit, the number of units it waits for.
      start: units that wait for none.
      template: a run's values at its start.
      feed_count: number of feeds; they stand behind environment and note.
      fetches: the fetched values.
      nodes: for each unit, its nodes.
      lines: for a compiled unit, which node stands on which line, to find who raised.
      is_compiled: whether Python was generated.
      may_run_on: whether a unit's time is unbounded: it has loops, or calls a user's function.
      has_dynamic_sizes: whether a value from outside tells how large a result is.
      can_block: whether a run may have to wait.
      is_stateful: whether a run leaves something behind in the task.
      costs: nanoseconds that each unit took lately, `UNMEASURED` before it ran; a moving average
          that the executor writes.
      fed: one entry, the bytes that were fed lately, by the same average as `costs`.
      kept: what floors above keep for the program, by type.
      send_dead: for each unit a function that, when only dead values reach it, sends dead tensors
        to other tasks (dead propagation).
      nonblocking_pass: the non-blocking pass; None if there is none.
      frame: if it runs by token-based dataflow, how; `dependents` is empty then.
    """

    functions: tuple[Callable[..., Any], ...]
    waits: tuple[bool, ...]
    stores: tuple[tuple[int | None, ...], ...]
    dependents: tuple[tuple[int, ...], ...]
    pending: tuple[int, ...]
    start: tuple[int, ...]
    template: tuple[Any, ...]
    feed_count: int
    fetches: tuple[Fetch, ...]
    nodes: tuple[tuple[Node, ...], ...]
    lines: tuple[Lines, ...]
    is_compiled: bool
    can_block: bool
    is_stateful: bool
    costs: list[int]
    fed: list[int]
    kept: dict[type, Any]
    send_dead: tuple[Callable[..., Any], ...] = ()
    may_run_on: bool = False
    has_dynamic_sizes: bool = False
    nonblocking_pass: NonblockingPass | None = None
    frame: Frame | None = None


class TokenFlow(Enum):
    """To which frame and iteration the tokens of a unit go."""

    SAME = "to its own iteration"
    ENTER = "into the first iteration of an inner frame"
    EXIT = "to the iteration around its frame"
    NEXT_ITERATION = "to the next iteration"


class Consumers(NamedTuple):
    """The consumers of what a unit gives.

    Attributes:
      place: slot of the value that may be dead; None if it is alive whenever the unit ran.
      units: those that count it among the tokens that they wait for.
      merges: Merges of branches, which wait for one of several values only.
    """

    place: int | None
    units: tuple[int, ...]
    merges: tuple[int, ...]


class Frame(NamedTuple):
    """How a program runs by token-based dataflow, tokens dead or alive: its branches and loops.

    Each frame of a partition is a program of its own; its units are single nodes, and its values
    are those of one iteration. What a unit hands on to another frame or iteration is in its
    `stores`.

    Attributes:
      name: of the frame, "" for what is outside of all loops.
      flows: where the outputs of each unit go.
      consumers: for each unit, its consumers: several entries if its outputs may be dead one by
          one, one entry for the only output of a unit that leads elsewhere.
      merged: for each Merge of branches, the number of values that may come.
      runs_dead: units that run for dead inputs too, to propagate them to other tasks.
      entered: for each Enter, the name of the frame, and whether the value is a loop invariant.
      enters: number of Enters that lead into this frame.
      inner: the frames inside, by name.
      parallel: number of iterations that may overlap (`parallel_iterations`).
      bursts: one entry, the nanoseconds that units ran in a row lately until all the rest waited;
        whoever runs the program writes it, at what is outside of all loops.
    """

    name: str
    flows: tuple[TokenFlow, ...]
    consumers: tuple[tuple[Consumers, ...], ...]
    merged: dict[int, int]
    runs_dead: frozenset[int]
    entered: dict[int, tuple[str, bool]]
    enters: int
    inner: dict[str, Program]
    parallel: int
    bursts: list[int]
