"""What variant tensors hold, in the form in which it crosses to other processes.

Values of variants are objects that kernels know. The few that may leave their process are noted
here, with the name that TensorFlow gives them in a VariantTensorDataProto.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.errors import InvalidArgumentError


class Content(NamedTuple):
    """A value as a message holds it: what is no tensor, and the tensors."""

    metadata: bytes
    tensors: Sequence[Any]


class Form(NamedTuple):
    """How values of one kind cross.

    Attributes:
      name: TensorFlow's for the kind.
      write: from a value to its content.
      read: from its content to a value.
    """

    name: str
    write: Callable[[Any], Content]
    read: Callable[[Content], Any]


_FORMS: dict[type, Form] = {}

# What registers them: imported when the first variant crosses.
_MODULES = (
    "tfdist.ops.functions.calls",
    "tfdist.ops.sparse.serialization",
    "tfdist.ops.tensor_list.message",
)


def register(kind: type, form: Form) -> None:
    """Let values of `kind` cross."""
    _FORMS[kind] = form


def form_of(value: TensorValue) -> Form | None:
    """Return how `value` crosses, None if it does not."""
    return None if isinstance(value, np.ndarray | np.generic | bytes) else _forms().get(type(value))


@cache
def _forms() -> dict[type, Form]:
    for module in _MODULES:
        import_module(module)
    return _FORMS


def form_named(name: str) -> Form:
    """Return the form that TensorFlow calls `name`; InvalidArgumentError if there is none here."""
    for form in _forms().values():
        if form.name == name:
            return form
    known = ", ".join(sorted(form.name for form in _FORMS.values()))
    raise InvalidArgumentError(f"a variant holds a {name!r}, which is not known here; {known} are")
