"""The session that tf.keras runs everything in, and functions that run a part of a graph.

Source: TF 1.15 API documentation, tf.keras.backend.get_session and its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.operation import Operation
from tfdist.graph.stacks import get_default_session
from tfdist.keras_impl.backend.graph_states import State, state_of
from tfdist.ops.array.constants import placeholder
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.variables.state_ops import is_variable_initialized
from tfdist.session.session import Session

__all__ = [
    "batch_get_value", "batch_set_value", "clear_session", "count_params", "eval", "function",
    "get_session", "get_value", "manual_variable_initialization", "set_session", "set_value",
]  # fmt: skip

_CURRENT: dict[str, Any] = {"session": None, "manual": False}


def get_session(op_input_list: Any = ()) -> Any:
    """Return the session that runs models: the default one, or one that is kept for this graph.

    Variables of layers that are not initialized yet are initialized in it.

    Args:
      op_input_list: accepted for TensorFlow's sake.

    Example:
      >>> keras.backend.get_session()
      <tf.Session open target=''>
    """
    session = get_default_session() or _kept()
    if not _CURRENT["manual"]:
        _initialize(session)
    return session


def _kept() -> Any:
    session, graph = _CURRENT["session"], scopes.get_default_graph().outermost
    if session is None or session.graph is not graph:
        session = _CURRENT["session"] = Session(graph=graph)
    return session


def set_session(session: Any) -> None:
    """Set the session that runs models where there is no default session."""
    _CURRENT["session"] = session


def clear_session() -> None:
    """Let models start anew: a new default graph, no session, and names from the beginning."""
    scopes.reset_default_graph()
    session, _CURRENT["session"] = _CURRENT["session"], None
    if session is not None:
        session.close()


def manual_variable_initialization(value: bool) -> None:
    """Say whether the program initializes variables itself."""
    _CURRENT["manual"] = value


def _initialize(session: Any) -> None:
    state = state_of(session.graph)
    fresh = _not_known(state, session)
    if not fresh:
        return
    with session.graph.as_default(), scopes.name_scope(None), scopes.control_dependencies(None):
        done = session.run([is_variable_initialized(each) for each in fresh])
        needed = [each for each, known in zip(fresh, done, strict=True) if not known]
        if needed:
            session.run([each.initializer for each in needed])
    state.known[1].update(each.op.name for each in fresh)


def _not_known(state: State, session: Any) -> list[Any]:
    """Return the variables of which it is not known that they are initialized in a session."""
    if state.known[0] is not session:
        state.known = (session, set())
    known = state.known[1]
    if len(known) == len(state.variables):
        return []
    return [each for name, each in state.variables.items() if name not in known]


# values


def get_value(x: Any) -> Any:
    """Return the value of a variable, or of a tensor.

    Example:
      >>> keras.backend.get_value(keras.backend.variable([1.0, 2.0]))
      array([1., 2.], dtype=float32)
    """
    return x.eval(session=get_session((x,))) if hasattr(x, "eval") else x


def eval(x: Any) -> Any:
    """Return the value of a variable, or of a tensor.

    Example:
      >>> keras.backend.eval(keras.backend.sum(keras.backend.variable([1.0, 2.0])))
      np.float32(3.0)
    """
    return get_value(x)


def is_symbolic(value: Any) -> bool:
    """Return whether this is a tensor or a variable, or a list or dict with one in it."""
    if isinstance(value, list | tuple | Mapping):
        inner = value.values() if isinstance(value, Mapping) else value
        return any(hasattr(each, "_as_tensor") for each in inner)
    return hasattr(value, "_as_tensor")


def with_values(*given: Any) -> list[Any]:
    """Return what is given with arrays for tensors, all computed in one run.

    Args:
      *given: each an array or tensor, or a list or dict of them.
    """
    if not any(map(is_symbolic, given)):
        return list(given)
    symbols = [each for each in nest.flatten(list(given)) if hasattr(each, "_as_tensor")]
    found = dict(zip(map(id, symbols), get_session().run(symbols), strict=True))
    return nest.map_leaves(lambda each: found.get(id(each), each), list(given))  # type: ignore[no-any-return]


def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """Return the values of several variables or tensors, in one run."""
    return get_session().run(list(tensors)) if tensors else []


def set_value(x: Any, value: Any) -> None:
    """Give a variable a value."""
    batch_set_value([(x, value)])


def batch_set_value(tuples: Iterable[tuple[Any, Any]]) -> None:
    """Give several variables values, in one run.

    Args:
      tuples: pairs of variable and value.
    """
    pairs = [(each, np.asarray(value, each.dtype.as_numpy_dtype)) for each, value in tuples]
    if not pairs:
        return
    setters = [_setter(variable) for variable, _ in pairs]
    feed = {slot: value for (slot, _), (_, value) in zip(setters, pairs, strict=True)}
    get_session().run([op for _, op in setters], feed)


def _setter(variable: Any) -> tuple[Any, Any]:
    """Return the placeholder and the operation that give a variable a value; made once."""
    made = vars(variable).get("_keras_setter")
    if made is None:
        with variable.graph.as_default(), scopes.control_dependencies(None):
            slot = placeholder(variable.dtype.base_dtype, variable.shape)
            change = variable.assign(slot)
        made = variable._keras_setter = (slot, getattr(change, "op", change))
    return made  # type: ignore[no-any-return]


def count_params(x: Any) -> int:
    """Return the number of elements of a variable or tensor, whose shape is known.

    Example:
      >>> keras.backend.count_params(zeros([2, 3]))
      6
    """
    return int(np.prod(x.shape.as_list(), dtype=np.int64))


# functions


_SETTINGS = ("feed_dict", "fetches", "options", "run_metadata")


class Function:
    """Runs a part of a graph: called with values of the inputs, it returns those of the outputs."""

    def __init__(
        self, inputs: Any, outputs: Any, updates: Any = None, name: str | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        if updates is not None and not isinstance(updates, list | tuple):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        unknown = sorted(settings.keys() - set(_SETTINGS))
        if unknown:
            raise ValueError(
                f'Invalid argument "{unknown[0]}" passed to K.function with TensorFlow backend; '
                f"it takes {', '.join(_SETTINGS)}"
            )
        self._is_one = not nest.is_nested(inputs)
        self.name = name
        self.inputs, self.outputs = nest.flatten(inputs), outputs
        changes = [_operation(each) for each in updates or ()]
        self._update = [group(*changes)] if changes else []
        self._settings = settings
        self._made: tuple[Any, Any] = (None, None)

    def __call__(self, inputs: Any) -> Any:
        """Return the outputs' values for the inputs' values, after the updates."""
        (values,) = with_values([inputs] if self._is_one else list(inputs))
        if len(values) != len(self.inputs):
            raise ValueError(f"the function takes {len(self.inputs)} inputs, but got {len(values)}")
        session = get_session()
        found = self._run(session, values)[: len(nest.flatten(self.outputs))]
        return nest.pack_as(self.outputs, list(found))

    def _run(self, session: Any, values: list[Any]) -> Any:
        given = self._settings
        fetches = nest.flatten(self.outputs) + self._update + list(given.get("fetches") or ())
        if given:  # the program may change what it gave
            feed = {**dict(zip(self.inputs, values, strict=True)), **(given.get("feed_dict") or {})}
            return session.run(fetches, feed, given.get("options"), given.get("run_metadata"))
        if self._made[0] is not session:
            self._made = (session, session.make_callable(fetches, self.inputs))
        return self._made[1](*values)


def _operation(update: Any) -> Any:
    if isinstance(update, tuple):  # (variable, its new value)
        variable, value = update
        update = variable.assign(value)
    return update if isinstance(update, Operation) else update.op


def function(
    inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any
) -> Function:
    """Return a function that runs a part of the graph.

    Args:
      inputs: placeholders, or any tensors.
      outputs: tensors whose values it returns.
      updates: operations that it runs as well, or pairs of variable and new value.
      name: of the function.
      **kwargs: `fetches`, what is run as well; `feed_dict`, of other tensors; `options` and
        `run_metadata`, as for `Session.run`.

    Raises:
      TypeError: updates are no list.
      ValueError: there is no such argument.

    Example:
      >>> x = keras.backend.placeholder([2])
      >>> keras.backend.function([x], [x * 2.0])([[1.0, 2.0]])
      [array([2., 4.], dtype=float32)]
    """
    return Function(inputs, outputs, updates, name, **kwargs)
