"""The records of many TFRecord files, again and again, each time in another order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import numpy as np

from tfdist.errors import NotFoundError, OutOfRangeError
from tfdist.formats.glob import matching_files
from tfdist.formats.tfrecord import read_records


class Order(NamedTuple):
    """What the order of the records depends on.

    Attributes:
      seed: of what is drawn by chance.
      shift: how far the shuffled list of files is turned on each time, as a share of it.
      buffer_size: how many records wait, for the next one to be drawn from them.
      parallelism: how many files are read side by side.
    """

    seed: int = 0
    shift: float = 0.0
    buffer_size: int = 1
    parallelism: int = 1


def shuffled_records(pattern: str, order: Order, compression: str = "") -> Iterator[bytes]:
    """Yield the records of all files that match `pattern`, without end; each once in a round.

    Raises:
      NotFoundError: no file matches.
      OutOfRangeError: the files have no records.
      DataLossError: one is damaged.
    """
    files = sorted(matching_files(pattern))
    if not files:
        raise NotFoundError(f"Found no files at {pattern}")
    rng = np.random.default_rng(order.seed % 2**64)
    turned = 0.0
    while True:
        shuffled = [files[place] for place in rng.permutation(len(files))]
        start = int(turned * len(files)) % len(files)
        turned += order.shift
        found = _drawn(shuffled[start:] + shuffled[:start], order, compression, rng)
        first = next(found, None)
        if first is None:
            raise OutOfRangeError(f"the {len(files)} files at {pattern} have no records")
        yield first
        yield from found


def _drawn(
    files: Sequence[bytes], order: Order, compression: str, rng: np.random.Generator
) -> Iterator[bytes]:
    """Yield the records of one round, each drawn from a few that wait."""
    waiting: list[bytes] = []
    with closing(_side_by_side(files, max(1, order.parallelism), compression)) as records:
        for record in records:
            waiting.append(record)
            if len(waiting) >= order.buffer_size:
                yield _take_one(waiting, rng)
        while waiting:
            yield _take_one(waiting, rng)


def _take_one(waiting: list[bytes], rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(waiting)))
    waiting[place], waiting[-1] = waiting[-1], waiting[place]
    return waiting.pop()


def _side_by_side(files: Sequence[bytes], width: int, compression: str) -> Any:
    """Yield a record of each of `width` files in turn; a file that has ended gives way."""
    ahead = iter(files)
    with ExitStack() as stack:
        line: deque[Any] = deque()
        while True:
            while len(line) < width and (name := next(ahead, None)) is not None:
                records: Any = read_records(name, compression)
                line.append(stack.enter_context(closing(records)))
            if not line:
                return
            records = line.popleft()
            found = next(records, None)
            if found is not None:
                yield found[1]
                line.append(records)
