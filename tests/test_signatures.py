"""Public functions, classes and methods take what those of 1.15.5 take, in that order."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import tfdist as tf
from tests.signatures import OTHERWISE, arguments, found, table

THERE = table()
DIFFERENT = set(Path(OTHERWISE).read_text("utf-8").split("\n")) - {""}


def differences(path: str) -> Iterator[str]:
    """Yield what a caller of 1.15.5's function, class or method would stumble over."""
    ours = arguments(found(tf, path))
    if ours is None:
        return
    known = dict(ours)
    if "*" in known and "**" in known:  # it hands all on
        return
    place = 0
    for name, default in THERE[path]:
        if name not in known:
            if name.startswith("*") or "**" not in known:
                yield f"no {name}"
        elif [each for each, _ in ours].index(name) < place:
            yield f"{name} comes earlier than there"
        elif default and "?" not in default + known[name] and not _same(default, known[name]):
            yield f"{name} is {known[name]}, not {default}"
        place += name in known
    yield from (
        f"{name} has no default" for name, value in ours
        if not value and not name.startswith("*") and name not in dict(THERE[path])
    )  # fmt: skip


def _same(one: str, other: str) -> bool:
    """Return whether defaults are alike; those that are not told stand for the plainest."""
    first = {each.strip("[]").partition("/")[0] for each in (one, other)}
    return one == other or (len(first) == 1 and "/" in one + other)


def test_the_table_is_of_names_that_are_here_or_are_told():
    missing = [path for path in THERE if path not in DIFFERENT and not _is_here(path)]
    assert missing == []


def _is_here(path: str) -> bool:
    try:
        found(tf, path)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("space", sorted({path.rpartition(".")[0] for path in THERE}))
def test_what_a_namespace_holds_takes_the_same(space):
    wrong = {
        path: told
        for path in THERE
        if path.rpartition(".")[0] == space and path not in DIFFERENT and _is_here(path)
        for told in [list(differences(path))]
        if told
    }
    assert wrong == {}
