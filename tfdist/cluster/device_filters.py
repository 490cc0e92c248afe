"""Which tasks a session spans: all, or those that its device filters let through."""

from __future__ import annotations

from tfdist.base.devices import DeviceSpec
from tfdist.errors import InvalidArgumentError


def session_tasks(names: tuple[str, ...], filters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tasks that a session spans, of all that there are; the first one is its own."""
    try:
        wanted = [DeviceSpec.from_string(text) for text in filters]
    except ValueError as error:
        raise InvalidArgumentError(f"device_filters: {error}") from None
    others = [
        task
        for task in names[1:]
        if task != names[0]
        and (not wanted or any(w.matches(DeviceSpec.from_string(task)) for w in wanted))
    ]
    return (names[0], *others)
