"""What `Session.run` takes for classes of other libraries: random variables, for example.

Source: TF 1.15, tensorflow.python.client.session.register_session_run_conversion_functions, by its
documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tfdist.base.aliases import Structure

__all__ = ["register_session_run_conversion_functions"]

Fetch = Callable[[Any], tuple[Sequence[Any], Callable[[list[Any]], Any]]]
Feed = Callable[[Any, Any], Iterable[tuple[Any, Any]]]
FeedOfPartialRun = Callable[[Any], Sequence[Any]]


class Conversion(NamedTuple):
    """How objects of a class are fetched and fed; see `register_session_run_conversion_functions`.

    Attributes:
      kind: the class.
      fetch: function of an object; see there.
      feed: function of an object and what is fed for it, None if none can be.
      feed_of_partial_run: function of an object, the same.
    """

    kind: type
    fetch: Fetch
    feed: Feed | None
    feed_of_partial_run: FeedOfPartialRun | None


CONVERSIONS: list[Conversion] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Fetch,
    feed_function: Feed | None = None,
    feed_function_for_partial_run: FeedOfPartialRun | None = None,
) -> None:
    """Let objects of a class be fetched and fed by `Session.run`.

    Args:
      tensor_type: the class; its subclasses are converted, too.
      fetch_function: returns for an object the fetches that it stands for, and a function that
        makes what is returned of the list of their values.
      feed_function: returns for an object and what is fed for it the pairs (tensor, value).
      feed_function_for_partial_run: returns for an object the tensors that are fed for it.

    Raises:
      ValueError: the class, or one that is derived from it, was registered before.
    """
    if any(issubclass(each.kind, tensor_type) for each in CONVERSIONS):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    CONVERSIONS.insert(
        0, Conversion(tensor_type, fetch_function, feed_function, feed_function_for_partial_run)
    )


def conversion_of(element: Structure) -> Conversion | None:
    """Return how an object is fetched and fed if its class was registered."""
    found = (each for each in CONVERSIONS if isinstance(element, each.kind))
    return next(found, None)
