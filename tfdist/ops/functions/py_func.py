"""Python functions as nodes: `py_func`, `numpy_function`, `py_function`.

A node holds a token; the function itself stays in the process that made the node, and lives as long
as the graph that holds it. Nothing executable crosses the wire: where a token is unknown, the node
fails. Tokens are random, so that a graph from elsewhere cannot name a function of this process.

Source: TF 1.15 API documentation, tf.py_func; its errors' classes by its behaviour.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.errors import (
    InternalError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from tfdist.graph import convert
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.scopes import get_default_graph
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["numpy_function", "py_func", "py_function"]


# the functions


class _Function:
    """A user's function; a graph holds it, and the table of all of them does not."""

    __slots__ = ("__weakref__", "call", "name")

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call
        self.name: str = getattr(call, "__name__", type(call).__name__)


_functions: WeakValueDictionary[bytes, _Function] = WeakValueDictionary()
_PROCESS = os.urandom(8).hex()


def _own_prefix() -> bytes:
    """Return how tokens begin that this process makes; one that it forks is another process."""
    return f"pyfunc_{_PROCESS}_{os.getpid()}_".encode()


def _find(token: bytes) -> _Function:
    """Return the function of a token.

    Raises:
      InvalidArgumentError: it is not in this process, or no more.
    """
    function = _functions.get(token)
    if function is not None:
        return function
    if token.startswith(_own_prefix()):
        raise InvalidArgumentError(
            "the Python function of this node is gone with the graph that it was made for: keep "
            "that graph as long as copies of the node run"
        )
    raise InvalidArgumentError(
        "the Python function of this node is not found in the process of this device: functions "
        "do not cross the wire, so the node must run in the process that made it. Place it with "
        "tf.device on a task of that process, which can be one of the cluster's "
        "(tf.train.Server), or compute it in a session without a target and feed the result"
    )


# what they get, and what they give


def _argument(value: Any) -> Any:
    """Return an input as a function gets it: a number, bytes, or an array of its own."""
    return value.copy() if getattr(value, "ndim", 0) else as_elements(value)[()]


class _Value(np.ndarray[Any, Any]):
    """An array with the `numpy()` of an eager tensor."""

    def numpy(self) -> Any:
        """Return what NumPy has for it: a number, bytes, or an array."""
        return self.view(np.ndarray) if self.ndim else self[()]


def _value(value: Any) -> _Value:
    """Return an input as the function of a `py_function` gets it."""
    return np.array(as_elements(value)).view(_Value)


def _listed(returned: Any, function: _Function, count: int) -> list[Any]:
    """Return the results one by one; InvalidArgumentError if there are not `count`."""
    if returned is None:
        returned = ()
    results = list(returned) if isinstance(returned, list | tuple) else [returned]
    if len(results) != count:
        raise InvalidArgumentError(
            f"{function.name} returns {len(results)} values, but expects to see {count} values; "
            "a list or tuple counts as several, np.array(...) as one"
        )
    return results


def _results(
    results: list[Any], function: _Function, types: Sequence[DType], casts: bool
) -> list[Any]:
    """Return the results as values of tensors, in the same list.

    Args:
      results: what the function gave.
      function: for messages.
      types: what was promised.
      casts: whether a number of a similar type is converted to the promised one.

    Raises:
      InvalidArgumentError: a result has another type.
      InternalError: it can be no tensor at all.
    """
    for position, wanted in enumerate(types):
        array = _array(results[position])
        found = _type_of(array)
        if found is not wanted:
            if not (casts and np.can_cast(array.dtype, wanted.as_numpy_dtype, "same_kind")):
                raise InvalidArgumentError(
                    f"{position}-th value returned by {function.name} is {found.name}, but "
                    f"expects {wanted.name}"
                )
            array = array.astype(wanted.as_numpy_dtype)
        results[position] = array
        del array  # who holds it is counted now
        results[position] = _private(results, position)
    return results


def _array(value: Any) -> Any:
    """Return a result as an array; strings of any kind become bytes."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        raise _unsupported([value]) from None
    if array.dtype.kind in "SUO":
        try:
            return convert.to_array(value, dtypes.string)
        except NotImplementedError as error:  # a tensor
            raise UnimplementedError(f"{type(error).__name__}: {error}") from None
        except (TypeError, ValueError):
            raise _unsupported(array.reshape(-1).tolist()) from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _unsupported(elements: list[Any]) -> InternalError:
    odd = next((each for each in elements if not isinstance(each, str | bytes)), elements)
    return InternalError(f"Unsupported object type {type(odd).__name__}: no tensor can hold it")


def _type_of(array: Any) -> DType:
    try:
        return dtypes.as_dtype(array.dtype)
    except TypeError:
        raise InternalError(f"Unsupported numpy type: {array.dtype}") from None


def _private(results: list[Any], position: int) -> Any:
    """Return a result that nobody can write to any more: a copy, if anybody else has it."""
    value, results[position] = results[position], None
    if not value.ndim:
        return value[()]
    # two references: this variable and the argument of getrefcount
    is_ours = value.base is None and sys.getrefcount(value) == 2 and value.flags.owndata
    return value if is_ours and value.flags.c_contiguous else value.copy()


# what they raise

_ERRORS: list[tuple[type[BaseException], type[OpError]]] = [
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
    (BaseException, UnknownError),
]


def _call(function: _Function, arguments: Iterable[Any]) -> Any:
    """Return what the function returns.

    Raises:
      OpError: of the class that TensorFlow has for what the function raised.
      KeyboardInterrupt: Ctrl-C was pressed twice.
    """
    try:
        # kernels keep NumPy quiet, but a user's code is warned as everywhere
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function.call(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _told(error) from None


def _told(error: BaseException) -> OpError:
    """Return what a function raised, with the traceback below our own frames in its message."""
    kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
    what = f"{type(error).__name__}: {error}"
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    if trace is None:  # it could not even be called
        return kind(what)
    lines = "".join(traceback.format_exception(type(error), error, trace))
    return kind(f"{what}\n{lines.rstrip()}")


# the ops

_ATTRIBUTES = "Tin: list(type) >=0; Tout: list(type) >=0"

PY_FUNC = OpDef(
    f"PyFunc(input: Tin) -> output: Tout [token: string; {_ATTRIBUTES}] !", may_run_on=True
).not_differentiable()
PY_FUNC_STATELESS = OpDef(
    f"PyFuncStateless(input: Tin) -> output: Tout [token: string; {_ATTRIBUTES}]", may_run_on=True
).not_differentiable()
EAGER_PY_FUNC = OpDef(
    "EagerPyFunc(input: Tin) -> output: Tout [token: string; is_async: bool = False; "
    f"{_ATTRIBUTES}] !",
    may_run_on=True,
)


@PY_FUNC.kernel
@PY_FUNC_STATELESS.kernel
def py_func_kernel(input: list[Any], *, token: bytes, Tout: list[DType]) -> list[Any]:
    return _run(token, map(_argument, input), Tout, casts=False)


@EAGER_PY_FUNC.kernel
def eager_py_func_kernel(input: list[Any], *, token: bytes, Tout: list[DType]) -> list[Any]:
    return _run(token, map(_value, input), Tout, casts=True)


def _run(token: bytes, arguments: Iterable[Any], types: Sequence[DType], casts: bool) -> list[Any]:
    function = _find(token)
    return _results(
        _listed(_call(function, arguments), function, len(types)), function, types, casts
    )


def py_func(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """Return the results of calling a Python function in each step.

    The function runs in this process only: where a cluster has several, place the node on a task
    of this one. It lives as long as the graph.

    Args:
      func: takes one value per input: a NumPy number, bytes, or an array of its own, to which it
        may write. Returns an array or number for each type in Tout, a list or tuple if there are
        several, None if there are none. It has to give exactly these types: a Python float is
        float64, a Python int int64, for others there is `np.float32(...)`.
      inp: list of tensors.
      Tout: list of the results' types, or one type.
      stateful: whether two calls with the same inputs may differ.
      name: of the node.

    Returns:
      A tensor of unknown shape, or a list of them if Tout is a list; the operation if it is
      empty. No gradient flows through, but `gradient_override_map` can define one.

    Raises:
      ValueError: `func` cannot be called.
      InvalidArgumentError: when it runs and gives something else than Tout, or raises ValueError
        or TypeError. StopIteration becomes OutOfRangeError, MemoryError ResourceExhaustedError,
        NotImplementedError UnimplementedError, and everything else UnknownError.

    Example:
      >>> scaled = py_func(lambda x: x * np.float32(2), [[1.0, 2.0]], "float32")
      >>> Session().run(scaled)
      array([2., 4.], dtype=float32)
    """
    return _build(raw.PyFunc if stateful else raw.PyFuncStateless, func, inp, Tout, name)


def numpy_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """Return the results of calling a Python function in each step; see `py_func`.

    Example:
      >>> Session().run(numpy_function(np.sort, [[3, 1, 2]], "int32"))
      array([1, 2, 3], dtype=int32)
    """
    return _build(raw.PyFunc, func, inp, Tout, name)


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """Return the results of calling a Python function that asks its arguments for `numpy()`.

    There are no eager tensors here: what the function gets are NumPy arrays that have `numpy()`
    besides. Other ops applied to them make nodes, which have no value that could be returned, and
    no gradient flows through.

    Args:
      func: as for `py_func`, but numbers that it returns are converted to the types in Tout.
      inp: list of tensors.
      Tout: list of the results' types, or one type.
      name: of the node.

    Raises:
      ValueError: `func` cannot be called.
      InvalidArgumentError: see `py_func`.

    Example:
      >>> Session().run(py_function(lambda x: x.numpy().sum(), [[1.5, 2.0]], "float32"))
      np.float32(3.5)
    """
    return _build(raw.EagerPyFunc, func, inp, Tout, name)


def _build(op_def: OpDef, call: Callable[..., Any], inp: Any, Tout: Any, name: str | None) -> Any:
    if not callable(call):
        raise ValueError(f"Expected func to be callable, got func of type {type(call)}")
    if not isinstance(inp, list | tuple):
        raise TypeError(f"{op_def.name} takes a list of tensors, got {inp!r}")
    token, function = _own_prefix() + os.urandom(16).hex().encode(), _Function(call)
    types = list(Tout) if isinstance(Tout, list | tuple) else [Tout]
    default = get_default_graph()
    graph = next((each.graph for each in inp if hasattr(each, "graph")), default)
    if default.outermost is graph.outermost:  # within a function, inputs from outside are captured
        graph = default
    with graph.as_default(), graph.name_scope(name or op_def.name) as scope:
        outputs = op_def(inp, token=token, Tout=types, name=scope)
    vars(graph).setdefault("_py_functions", []).append(function)  # lives as long as the graph
    _functions[token] = function
    if not types:
        return graph.get_operation_by_name(scope[:-1])
    return outputs if isinstance(Tout, list | tuple) else outputs[0]
