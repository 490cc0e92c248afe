"""The learning phase: whether a run of the graph trains.

It is a placeholder of the graph, False unless it is fed, until a program sets it to 0 or 1.

Source: TF 1.15 API documentation, tf.keras.backend.learning_phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.operation import Tensor
from tfdist.keras_impl.backend.graph_states import state_of
from tfdist.models.layers.training_switch import chosen, known_flag
from tfdist.ops.array.constants import placeholder_with_default

__all__ = [
    "in_test_phase", "in_train_phase", "learning_phase", "learning_phase_scope",
    "set_learning_phase",
]  # fmt: skip


def symbolic_learning_phase() -> Any:
    """Return the graph's placeholder for the phase."""
    state = state_of()
    if not isinstance(state.phase, Tensor):
        with scopes.init_scope(), scopes.name_scope(None):
            state.phase = placeholder_with_default(False, [], name="keras_learning_phase")
    return state.phase


def learning_phase() -> Any:
    """Return the learning phase: 0 or 1 if it was set, otherwise a bool tensor.

    Example:
      >>> keras.backend.learning_phase()
      <tf.Tensor 'keras_learning_phase:0' shape=() dtype=bool>
    """
    phase = state_of().phase
    return symbolic_learning_phase() if phase is None else phase


def set_learning_phase(value: int) -> None:
    """Set the learning phase of this graph, for what is built from now on.

    Args:
      value: 0 for use, 1 for training.

    Raises:
      ValueError: it is neither.
    """
    if value not in (0, 1):
        raise ValueError(f"Expected learning phase to be 0 or 1, got {value}")
    state_of().phase = value


@contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Set the learning phase within a `with` block.

    Args:
      value: 0 for use, 1 for training.

    Raises:
      ValueError: it is neither.
    """
    state = state_of()
    before = state.phase
    set_learning_phase(value)
    try:
        yield
    finally:
        state.phase = before


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """Return one value while training and another otherwise.

    Args:
      x: tensor, or function that returns it, while training.
      alt: tensor, or function that returns it, otherwise.
      training: whether it trains; the learning phase by default.
    """
    training = learning_phase() if training is None else training
    if known_flag(training) is None:
        return chosen(training, _function(x), _function(alt))
    return _function(x)() if known_flag(training) else _function(alt)()


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """Return one value in use, `x`, and another, `alt`, while training; see `in_train_phase`."""
    return in_train_phase(alt, x, training)


def _function(value: Any) -> Any:
    return value if callable(value) else lambda: value
