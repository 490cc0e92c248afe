"""The reference of the protocol's messages, from the descriptors that the program itself loads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfdist.protos import pb

PATH = "reference/messages.md"
SERVICES = ("MasterService", "WorkerService")


def pages() -> Iterator[tuple[str, str]]:
    """Yield (path, Markdown) of the page."""
    yield PATH, "\n".join(_page())


def _page() -> Iterator[str]:
    yield "# Messages\n"
    yield (
        "The calls of the two services and the messages in them, with the numbers of their fields. "
        "`proto/` describes them; [the wire protocol](../wire.md) says how they are used.\n"
    )
    used: dict[str, Any] = {}
    for service in SERVICES:
        yield f"## {service}\n"
        yield "| method | takes | returns |\n|---|---|---|"
        for name, *classes in pb.method_classes(service):
            takes, returns = (each.DESCRIPTOR for each in classes)
            yield f"| {name} | {_link(takes)} | {_link(returns)} |"
            _collect(takes, used)
            _collect(returns, used)
        yield ""
    yield "## Fields\n"
    for name, message in sorted(used.items()):
        yield f"### {name}\n"
        fields = [f"| {each.number} | `{each.name}` | {_type(each)} |" for each in message.fields]
        yield "\n".join(["| number | field | type |\n|---|---|---|", *fields, ""])


def _collect(message: Any, found: dict[str, Any]) -> None:
    """Add a message and those in its fields."""
    if message.name in found:
        return
    found[message.name] = message
    for each in message.fields:
        if each.message_type is not None:
            _collect(each.message_type, found)


def _link(message: Any) -> str:
    return f"[{message.name}](#{message.name.lower()})"


def _type(field: Any) -> str:
    kinds = {
        value: name.removeprefix("TYPE_").lower()
        for name, value in vars(type(field)).items()
        if name.startswith("TYPE_")
    }
    many = "repeated " * _is_repeated(field)
    if field.message_type is not None:
        return f"{many}{_link(field.message_type)}"
    return f"{many}{field.enum_type.name if field.enum_type is not None else kinds[field.type]}"


def _is_repeated(field: Any) -> bool:
    found = getattr(field, "is_repeated", None)
    return field.label == field.LABEL_REPEATED if found is None else bool(found)
