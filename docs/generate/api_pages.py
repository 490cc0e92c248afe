"""The reference of the public names: a page for each namespace, described by the docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from entries import entry
from namespaces import Name, home_of, homes, names, namespaces

FOLDER = "reference/api"


def pages() -> Iterator[tuple[str, str]]:
    """Yield (path, Markdown) of every page: the index last."""
    for namespace in namespaces():
        yield page_of(namespace), "\n".join(_page(namespace))
    yield f"{FOLDER}/index.md", "\n".join(_index())


def page_of(namespace: str) -> str:
    """Return the path of a namespace's page."""
    return f"{FOLDER}/{namespace}.md"


def _page(namespace: str) -> Iterator[str]:
    yield f"# {namespace}\n"
    yield f"{_about(namespace)}\n"
    inside = [path for path in namespaces() if path.rpartition(".")[0] == namespace]
    if inside:
        yield "Namespaces in it: " + ", ".join(f"[{each}]({each}.md)" for each in inside) + ".\n"
    own = [name for name in names() if name.namespace == namespace]
    described = [name for name in own if homes().get(id(name.value)) == name]
    for name in described:
        yield entry(name.path, name.value)
    elsewhere = [name for name in own if name.is_described and name not in described]
    if elsewhere:
        yield "## Described elsewhere\n"
        yield "| name | is |\n|---|---|"
        for name in elsewhere:
            yield f"| `{name.path}` | {_link(home_of(name))} |"
        yield ""
    others = [name for name in own if not name.is_described]
    if others:
        yield "## Values and messages\n"
        yield "| name | what it is |\n|---|---|"
        yield from (f"| `{name.path}` | {_value(name)} |" for name in others)


def _about(namespace: str) -> str:
    """Return what a namespace says of itself, without its name."""
    text = inspect.getdoc(namespaces()[namespace]) or ""
    return text.split("\n\n", 1)[0] if namespace == "tf" else text


def _short(name: Name) -> str:
    return name.path.rpartition(".")[2]


def _value(name: Name) -> str:
    """Return a value in one line of a table."""
    descriptor = getattr(name.value, "DESCRIPTOR", None)
    if descriptor is not None and hasattr(descriptor, "full_name"):
        fields = ", ".join(f"`{each.name}`" for each in getattr(descriptor, "fields", ()))
        return f"message `{descriptor.full_name}` of {fields or 'no fields'}"
    if callable(name.value):
        return (inspect.getdoc(name.value) or "").partition("\n")[0].replace("|", "\\|")
    return f"`{_cut(repr(name.value))}`"


def _cut(text: str, most: int = 80) -> str:
    text = text.replace("|", "\\|").replace("`", "'")
    return text if len(text) <= most else f"{text[:most]}..."


def _index() -> Iterator[str]:
    yield "# Every public name\n"
    yield (
        f"{len(names())} names in {len(namespaces())} namespaces, with the place where each is "
        "described. The search box finds them, too.\n"
    )
    for letter, group in _by_letter().items():
        yield f"## {letter}\n"
        yield "\n".join(f"- {_link(name)}" for name in group) + "\n"


def _link(name: Name) -> str:
    home = home_of(name)
    anchor = home.path if home.is_described else "values-and-messages"
    return f"[`{name.path}`]({home.namespace}.md#{anchor})"


def _by_letter() -> dict[str, list[Name]]:
    found: dict[str, list[Name]] = {}
    for name in sorted(names(), key=lambda each: (_short(each).lower(), each.path)):
        found.setdefault(_short(name)[0].upper(), []).append(name)
    return found
