"""Kernels with bad inputs: the samples of all ops, mutated, through placeholders without a shape.

Shape rules know nothing then, so that kernels are the only ones who check. Each answers with
values, or with an error of TensorFlow's classes that names the node, in words of ours.

By hand, any number: `python -m tests.fuzz.kernels --cases 100 --seed 7`, as many for each sample.
What fails prints its sample; `--only OP` plays that op alone and shows where the words come from.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import tfdist as tf
from tests.fuzz.verdicts import complaint
from tests.ops.samples import SAMPLES, samples_of
from tfdist.errors import InternalError, OpError, UnknownError
from tfdist.graph.op_def import REGISTRY
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.refusals import objection

_MEMORY = 5 << 30  # bytes of addresses that a process by hand may have
_SLOW = 5.0  # seconds; nothing here is large
_OPTIONS = tf.RunOptions(timeout_in_ms=int(_SLOW * 1000))

# Ops that are not played, and why.
LEFT_OUT = {
    **dict.fromkeys(("Print", "PrintV2"), "print what they are given"),
    "Abort": "ends the process",
}

# Ops whose kernels take more than their shape rules do, as in TensorFlow 1.15.5, and what.
TAKES_MORE = {
    **dict.fromkeys(
        (
            "Dequantize", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsGradient",
            "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeV2",
        ),
        "ends of a range in one element",
    ),
    "DeserializeManySparse": "serialized tensors in batches",
    "PlaceholderWithDefault": "a default of another shape",
    "UnicodeEncode": "letters of any rank",
}  # fmt: skip

_INTS = (-1, 0, 1, 2, 3, 7, 100, -100, 1000)
_REALS = (0.0, -1.0, 1e30, -1e30, float("nan"), float("inf"), float("-inf"), 0.5)
_TEXTS = (b"", b"\xff\xfe", b"\0", b"a", b" ", b"-1", b"1e999", b"nan", b"\xe5\x90", b"x" * 300)


class Failure(NamedTuple):
    """A mutated sample that was not answered as it must be."""

    op: str
    inputs: list[Any]
    attrs: dict[str, Any]
    what: str

    def __str__(self) -> str:
        shown = [f"{a.dtype}{list(a.shape)} {str(a.tolist())[:60]}" for a in self.inputs]
        return f"{self.op} {shown} {self.attrs}:\n  {self.what}"


class Sample:
    """An op with one sample, as a node that takes whatever it is fed.

    Args:
      op: its name.
      inputs: an array for each input of the signature, a list of them for a list input.
      attrs: of it.
    """

    def __init__(self, op: str, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        self.op, self.attrs = op, attrs
        self.flat = [
            np.asarray(each) for one in inputs for each in (one if isinstance(one, list) else [one])
        ]
        self.graph = tf.Graph()
        with self.graph.as_default():
            self._fed = [tf.placeholder(each.dtype) for each in self.flat]
            rest = iter(self._fed)
            grouped = [
                [next(rest) for _ in o] if isinstance(o, list) else next(rest) for o in inputs
            ]
            made = REGISTRY[op](*grouped, **attrs)
        parts = made if isinstance(made, list | tuple) else [made]
        self._fetched = [
            each if each.dtype not in (tf.variant, tf.resource) else each.op
            for each in parts
            if isinstance(each, Tensor)
        ] or [part for part in parts if isinstance(part, Operation)]
        self._node = next(part if isinstance(part, Operation) else part.op for part in parts)
        self._session = tf.Session(graph=self.graph)
        self.strict = False

    def run(self, values: list[Any]) -> Any:
        """Return what the node makes of `values`."""
        feed = dict(zip(self._fed, values, strict=True))
        return self._session.run(self._fetched, feed, options=_OPTIONS)

    def failure(self, values: list[Any]) -> Failure | None:
        """Return what is wrong with the answer to `values`."""
        began = time.monotonic()
        try:
            self.run(values)
            what = self._overlooked(values)
        except OpError as error:
            what = self._complaint(error)
        except Exception as error:
            what = f"{type(error).__name__} came through: {error}"
        if time.monotonic() - began > _SLOW:
            what = what or "it took too long"
        return Failure(self.op, values, self.attrs, what) if what else None

    def _overlooked(self, values: list[Any]) -> str:
        if self.op in TAKES_MORE:
            return ""
        found = [np.shape(each) for each in values]
        unseen = [None] * len(values)
        told = objection(REGISTRY[self.op], self._node._attrs, found, unseen)
        return f"computed what its shape rule refuses: {told}" if told else ""

    def _complaint(self, error: OpError) -> str:
        found = complaint(error)
        if not found and not error.node_name:
            found = "no node is named"
        if not found and self.strict and "takes these inputs" in error.message:
            found = "nobody says what is wrong"
        if isinstance(error, InternalError | UnknownError) and not found:
            found = "a fault of ours"
        where = "" if error.__cause__ is None else _innermost(error.__cause__)
        return f"{found}: {error!r:.300}{where}" if found else ""

    def close(self) -> None:
        """Close the session."""
        self._session.close()


def _innermost(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "tfdist/ops" in f.filename or "tfdist/formats" in f.filename]
    return "".join(
        f"\n    {f.filename.split('tfdist/')[-1]}:{f.lineno} {f.line}" for f in ours[-2:]
    )


def mutated(rng: random.Random, arrays: list[Any]) -> list[Any]:
    """Return arrays of which one or two are bad in some way."""
    found = [np.array(each) for each in arrays]
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(found))
        change = rng.choice((_shape, _shape, _value, _value, _all_values))
        found[at] = np.asarray(change(rng, found[at]))
    return found


def _shape(rng: random.Random, array: Any) -> Any:
    kind = rng.randrange(8)
    if kind == 0:
        return array.reshape(-1)[:0]
    if kind == 1:
        return array.reshape(-1)[0] if array.size else array
    if kind == 2:
        return array[None]
    if kind == 3:
        return array[..., None]
    if not array.ndim:
        return array.reshape(1)
    axis = rng.randrange(array.ndim)
    if kind == 4:
        return array.take(range(max(0, array.shape[axis] - 1)), axis)
    if kind == 5:
        return np.concatenate([array, array], axis)
    if kind == 6:
        return array.take([], axis)
    return array.reshape(-1)


def _value(rng: random.Random, array: Any) -> Any:
    if not array.size:
        return array
    found = array.copy()
    found.reshape(-1)[rng.randrange(found.size)] = _other(rng, found)
    return found


def _all_values(rng: random.Random, array: Any) -> Any:
    found = array.copy()
    if array.size:
        found[...] = _other(rng, found)
    return found


def _other(rng: random.Random, array: Any) -> Any:
    kind = array.dtype.kind
    if kind == "O":
        old = array.reshape(-1)[rng.randrange(array.size)]
        cut = rng.randrange(len(old) + 1) if isinstance(old, bytes) else 0
        return rng.choice((*_TEXTS, old[:cut], old[cut:], old + old))
    if kind == "b":
        return rng.random() < 0.5
    if kind in "iu":
        info = np.iinfo(array.dtype)
        return rng.choice([*(n for n in _INTS if info.min <= n <= info.max), info.min])
    if kind in "fcV":
        return np.array(rng.choice(_REALS)).astype(array.dtype)
    return array.reshape(-1)[0]


def samples(only: str = "") -> Iterator[Sample]:
    """Yield a node for each sample that has inputs."""
    for op in [only] if only else sorted(SAMPLES):
        if op in LEFT_OUT:
            continue
        for inputs, attrs in samples_of(op):
            if inputs:
                yield Sample(op, inputs, attrs)


def failures(sample: Sample, seed: int, cases: int) -> Iterator[Failure]:
    """Yield what fails of so many mutations of a sample."""
    rng = random.Random(f"{seed}/{sample.op}/{sample.attrs}")
    for _ in range(cases):
        values = mutated(rng, sample.flat)
        failure = sample.failure(values)
        if failure is not None:
            yield failure


def main(words: list[str]) -> int:
    """Play cases as the command line says; returns how many failed."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.fuzz.kernels")
    parser.add_argument("--cases", type=int, default=20, help="for each sample")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="an op")
    parser.add_argument("--most", type=int, default=3, help="failures that are shown of an op")
    parser.add_argument("--strict", action="store_true", help="want to be told what is wrong")
    asked = parser.parse_args(words)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    faulthandler.enable()
    failed = 0
    for sample in samples(asked.only):
        sample.strict = asked.strict
        print(f"{sample.op} {sample.attrs}", file=sys.stderr, flush=True)
        faulthandler.dump_traceback_later(60, exit=True)
        shown: dict[str, Failure] = {}
        for failure in failures(sample, asked.seed, asked.cases):
            shown.setdefault(failure.what[:80], failure)
            failed += 1
        for failure in list(shown.values())[: asked.most]:
            print(failure, flush=True)
        sample.close()
    print(f"{failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
