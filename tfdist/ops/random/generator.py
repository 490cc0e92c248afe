"""tf.random.experimental.Generator: random numbers whose state is a variable.

Source: TF 1.15 API documentation, tf.random.experimental.Generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.framework.shared_values import refine
from tfdist.ops.random.random_ops import dims_of
from tfdist.ops.random.stateful_ops import (
    BINOMIAL,
    FULL_INT,
    NON_DETERMINISTIC_INTS,
    NORMAL,
    PHILOX,
    SKIP,
    STATE_SIZE,
    TRUNCATED,
    UNIFORM,
    UNIFORM_INT,
)
from tfdist.ops.variables.resource_variables import ResourceVariable

__all__: list[str] = []  # their home is tf.random.experimental

_THREEFRY = 2
_SIZES = {PHILOX: STATE_SIZE, _THREEFRY: 2}


def _size_of(algorithm: Any) -> int:
    """Return how many numbers the state of an algorithm has."""
    try:
        return _SIZES[int(algorithm)]
    except (KeyError, ValueError, TypeError):
        raise ValueError(
            f"Unsupported algorithm id: {algorithm}; give {PHILOX} (Philox), or {_THREEFRY} "
            "(ThreeFry, whose state can be made, but which draws nothing on a CPU)"
        ) from None


def create_rng_state(seed: Any, algorithm: Any) -> Any:
    """Return the state of a generator: a vector of int64.

    Args:
      seed: a number, or several, which are the first numbers of the state.
      algorithm: 1 (Philox) or 2 (ThreeFry).

    Raises:
      ValueError: there is no such algorithm, or `seed` has more numbers than the state.

    Example:
      >>> random.experimental.create_rng_state(7, 1)
      array([7, 0, 0])
    """
    size = _size_of(algorithm)
    numbers = [int(each) % (1 << 64) for each in np.ravel(np.asarray(seed, object))]
    if len(numbers) > size:
        raise ValueError(f"a seed has {size} numbers at most, the size of the state; got {seed}")
    state = np.zeros(size, np.uint64)
    state[: len(numbers)] = numbers
    return state.view(np.int64)


class Generator:
    """Random numbers whose state is a variable, and so lasts, and can be saved.

    A generator of the same state gives the same numbers as TensorFlow's, those of `binomial`
    excepted.

    Args:
      copy_from: another generator, whose state this one begins with.
      state: to begin with.
      alg: 1, Philox.

    Raises:
      ValueError: there is no such algorithm.

    Example:
      >>> generator = random.experimental.Generator.from_seed(42)
      >>> drawn = generator.uniform([2])
      >>> with Session() as session:
      ...     _ = session.run(global_variables_initializer())
      ...     print(session.run(drawn))
      [0.7493447  0.73561966]
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("give either `copy_from`, or `state` and `alg`")
            first, alg = copy_from.state.read_value(), copy_from.algorithm
        else:
            if alg is None or state is None:
                raise ValueError("a Generator needs `state` and `alg`, or `copy_from`")
            first = state
        _size_of(alg)
        self._algorithm = int(alg)
        value = first if hasattr(first, "op") else np.asarray(first, np.int64)
        self._state = ResourceVariable(value, trainable=False, dtype="int64")

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Return a generator that begins with `state`."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Return a generator whose state is made of a number, or of several."""
        alg = PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Return a generator of a key and a counter, one number of 64 bits and two."""
        return cls(state=_of_key(key, counter, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Return a generator whose state nobody can predict."""
        alg = PHILOX if alg is None else alg
        return cls(state=NON_DETERMINISTIC_INTS([_size_of(alg)]), alg=alg)

    # the state

    @property
    def algorithm(self) -> int:
        """Return the number of the algorithm."""
        return self._algorithm

    @property
    def state(self) -> Any:
        """Return the variable that holds the state."""
        return self._state

    @property
    def key(self) -> Any:
        """Return the key, the last number of the state."""
        state: Any = self._state.read_value()
        return state[-1]

    def reset(self, state: Any) -> Any:
        """Return the operation that sets the state."""
        return self._state.assign(state)

    def reset_from_seed(self, seed: Any) -> Any:
        """Return the operation that sets the state to that of `from_seed`."""
        return self.reset(create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Any:
        """Return the operation that sets the state to that of `from_key_counter`."""
        return self.reset(_of_key(key, counter, self._algorithm))

    def skip(self, delta: Any) -> Any:
        """Return the operation that moves the counter on by `delta`."""
        return SKIP(self._state.handle, self._algorithm, delta)

    def _draw(self, op: Any, shape: Any, *more: Any, name: str | None = None, **attrs: Any) -> Any:
        dims = dims_of(shape)
        return refine(
            op(self._state.handle, self._algorithm, dims, *more, name=name, **attrs), dims
        )

    # numbers

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Return numbers from [minval, maxval).

        Args:
          shape: integers [rank].
          minval: least number.
          maxval: upper end, not reached; by default 1, needed for integers.
          dtype: a float type, int32 or int64.
          name: prefix for the nodes.

        Raises:
          ValueError: `maxval` is missing and `dtype` is an integer type.
        """
        dtype = dtypes.as_dtype(dtype)
        if maxval is None and dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        with scopes.name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            dims = dims_of(shape)
            low = convert_to_tensor(minval, dtype, name="min")
            high = convert_to_tensor(1 if maxval is None else maxval, dtype, name="max")
            if dtype.is_integer:
                return self._draw(UNIFORM_INT, dims, low, high, name=scope)  # type: ignore[no-any-return]
            drawn = self._draw(UNIFORM, dims, dtype=dtype)
            span = raw.Sub(high, low, name="sub")
            return raw.Add(raw.Mul(drawn, span, name="mul"), low, name=scope)  # type: ignore[no-any-return]

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Return integers from the whole range of their type: 32 or 64 bits, signed or not."""
        with scopes.name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            return self._draw(FULL_INT, shape, dtype=dtype, name=scope)  # type: ignore[no-any-return]

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Return numbers of a normal distribution.

        Args:
          shape: integers [rank].
          mean: of the distribution.
          stddev: its standard deviation.
          dtype: a float type.
          name: prefix for the nodes.
        """
        return self._scaled(NORMAL, "stateful_normal", shape, mean, stddev, dtype, name)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Return numbers of a normal distribution within two standard deviations; see `normal`."""
        return self._scaled(TRUNCATED, "truncated_normal", shape, mean, stddev, dtype, name)

    def _scaled(
        self, op: Any, label: str, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str | None
    ) -> Tensor:
        with scopes.name_scope(name, label, [shape, mean, stddev]) as scope:
            dims = dims_of(shape)
            middle = convert_to_tensor(mean, dtype, name="mean")
            width = convert_to_tensor(stddev, dtype, name="stddev")
            drawn = self._draw(op, dims, dtype=dtype)
            return raw.Add(raw.Mul(drawn, width, name="mul"), middle, name=scope)  # type: ignore[no-any-return]

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        """Return how often each of `counts` tosses shows what has the probability `probs`."""
        with scopes.name_scope(name, "binomial", [shape, counts, probs]) as scope:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, counts.dtype, name="probs")
            return self._draw(BINOMIAL, shape, counts, probs, dtype=dtype, name=scope)  # type: ignore[no-any-return]

    def make_seeds(self, count: int = 1) -> Tensor:
        """Return seeds for stateless ops, int64 [2, count]."""
        drawn = self.uniform_full_int([count], dtypes.int64)
        return stack([drawn, raw.ZerosLike(drawn)])

    def split(self, count: int = 1) -> list[Generator]:
        """Return generators that begin with states of their own, drawn from this one."""
        keys: Any = self.uniform_full_int([count], dtypes.int64)
        zeros = convert_to_tensor([0, 0], "int64")
        return [
            Generator(state=concat([zeros, [keys[i]]], 0), alg=self._algorithm)
            for i in range(count)
        ]


def _of_key(key: Any, counter: Any, algorithm: Any) -> Any:
    """Return the state that has a counter and a key."""
    if _size_of(algorithm) != STATE_SIZE:
        raise ValueError(f"a key and a counter are Philox's, algorithm {PHILOX}; got {algorithm}")
    if any(hasattr(each, "op") for each in (key, counter)):
        last = raw.Reshape(convert_to_tensor(key, "int64"), [1])
        return concat([convert_to_tensor(counter, "int64"), last], 0)
    return np.array([*counter, key], np.int64)


_global_generator: Generator | None = None


def get_global_generator() -> Generator:
    """Return the generator that all of a program may use; its state cannot be predicted.

    Example:
      >>> random.experimental.get_global_generator().algorithm
      1
    """
    global _global_generator
    graph = scopes.get_default_graph().outermost
    if _global_generator is None or _global_generator.state.graph is not graph:
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator: Generator) -> None:
    """Set what `get_global_generator` returns."""
    global _global_generator
    _global_generator = generator
