"""What TAB offers behind a magic: options, verbs, tasks, clusters, variables with traces.

Options, verbs and choices come from the magics' own parsers; the tables say what the words after
them name. Where nothing here fits, IPython's own completions are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from IPython.core.error import TryNext

from tfdist.errors import OpError
from tfdist.jupyter.exercises.course import EXERCISES
from tfdist.jupyter.trace import Trace
from tfdist.launch.clusters import running_clusters
from tfdist.launch.connection_file import connections
from tfdist.launch.disturbances import FORMS
from tfdist.launch.engines import TENSORFLOW, TFDIST
from tfdist.tracing.device_names import short_name
from tfdist.tracing.disturbances import ALL

HOOK = "complete_command"

Names = Callable[[Any], Iterable[str]]  # of the shell makes what can be typed


def tasks(shell: Any) -> list[str]:
    """Return the tasks of the running clusters, as one types them: "worker:1"."""
    servers = [server for cluster in running_clusters() for server in cluster.servers]
    return [short_name(each.task_name) for each in servers]


def places(shell: Any) -> list[str]:
    """Return what can be disturbed: tasks, all of a job, all."""
    names = tasks(shell)
    return [*names, *dict.fromkeys(name.partition(":")[0] for name in names), ALL]


def clusters(shell: Any) -> list[str]:
    """Return the names of the clusters that run in this kernel."""
    return [cluster.name for cluster in running_clusters()]


def connectable(shell: Any) -> list[str]:
    """Return the names of the clusters of all kernels of this user."""
    try:
        return [each.path.stem for each in connections() if each.path]
    except (OSError, OpError):
        return []


def targets(shell: Any) -> list[str]:
    """Return what a session's target can be."""
    return [*tasks(shell), "local"]


def traces(shell: Any) -> list[str]:
    """Return the user's variables that a timeline can be drawn of."""
    names = shell.user_ns.items()
    return [name for name, value in names if not name.startswith("_") and _is_traced(value)]


def specs(shell: Any) -> list[str]:
    """Return the user's variables that a cluster can be started from."""
    names = shell.user_ns.items()
    return [name for name, value in names if not name.startswith("_") and isinstance(value, dict)]


def one_of(*words: str) -> Names:
    """Return what offers the same words always."""
    return lambda shell: words


# Value of an option, or a word, by its name in the parser.
VALUES: dict[str, Names] = {
    "name": clusters,
    "target": targets,
    "variable": traces,
    "against": traces,
    "engine": one_of(TFDIST, TENSORFLOW, f"worker={TENSORFLOW}"),
    "devices": one_of("cpu:1", "cpu:2"),
}
# Words behind a verb.
WORDS: dict[tuple[str, str], Names] = {
    ("cluster", "start"): lambda shell: [*one_of("ps=", "worker=")(shell), *specs(shell)],
    ("cluster", "status"): clusters,
    ("cluster", "stop"): clusters,
    ("cluster", "stream"): clusters,
    ("cluster", "dashboard"): clusters,
    ("cluster", "spec"): clusters,
    ("cluster", "attach"): connectable,
    ("cluster", "logs"): tasks,
    ("cluster", "kill"): tasks,
    ("cluster", "restart"): tasks,
    **{("cluster", verb): places for verb in FORMS},
    ("cluster", "thaw"): tasks,
    ("cluster", "heal"): lambda shell: [*FORMS, *places(shell)],
    ("cluster", "faults"): clusters,
    ("tfdist", "check"): one_of(*(each.name for each in EXERCISES)),
}


def register(shell: Any, names: Iterable[str]) -> None:
    """Have TAB ask here behind the magics of these names."""
    for key in _keys(names):
        shell.set_hook(HOOK, complete, str_key=key)


def unregister(shell: Any, names: Iterable[str]) -> None:
    """Undo `register`; completions of others stay."""
    by_key = shell.strdispatchers[HOOK].strs
    for key in _keys(names):
        if key in by_key:
            chain = by_key[key].chain
            chain[:] = [each for each in chain if not _is_ours(each[1])]
            if not chain:
                del by_key[key]


def complete(shell: Any, event: Any) -> list[str]:
    """Return what fits at the cursor, as far as IPython counts the word before it.

    Raises:
      TryNext: nothing does; IPython's own completions are asked.
    """
    name = event.command.lstrip("%")
    magic = shell.find_line_magic(name) or shell.find_cell_magic(name)
    before = event.text_until_cursor.split()
    word = "" if event.text_until_cursor[-1:].isspace() else before.pop()
    fitting = offered(shell, magic, name, before[1:], word)
    found = [each for each in fitting if each.startswith(word)]
    if not found:
        raise TryNext
    known = len(word) - len(event.symbol)  # IPython's words end at ":" and "="
    return [each[known:] for each in found]


def offered(shell: Any, magic: Any, name: str, before: list[str], word: str) -> list[str]:
    """Return what may stand in the place of a word.

    Args:
      shell: IPython's.
      magic: with a parser.
      name: of the magic.
      before: the words between the magic and this one.
      word: what is typed of it so far.
    """
    options = magic.parser._option_string_actions
    option, equals, _ = word.partition("=")
    if equals and option in options:
        return [f"{option}={each}" for each in _values(shell, options[option])]
    if before and before[-1] in options and options[before[-1]].nargs != 0:
        return _values(shell, options[before[-1]])
    if word.startswith("-"):
        return sorted(each for each in options if each.startswith("--"))
    return _words(shell, magic, name, _plain(before, options))


def _words(shell: Any, magic: Any, name: str, words: list[str]) -> list[str]:
    """Return what may be the next word that is no option."""
    verbs = verbs_of(magic)
    if verbs:
        return list(WORDS.get((name, words[0]), one_of())(shell)) if words else verbs
    places = [each for each in magic.parser._actions if not each.option_strings]
    return _values(shell, places[min(len(words), len(places) - 1)]) if places else []


def verbs_of(magic: Any) -> list[str]:
    """Return the verbs that a magic takes as its first word, as its parser lists them."""
    told = [each.help or "" for each in magic.parser._actions if each.dest == "verb"]
    return [verb for text in told for verb in text.split(", ")]


def _plain(before: Iterable[str], options: Any) -> list[str]:
    """Return the words that are neither options nor their values."""
    found, is_value = [], False
    for each in before:
        action = options.get(each)
        if not is_value and action is None and not each.startswith("-"):
            found.append(each)
        is_value = not is_value and action is not None and action.nargs != 0
    return found


def _values(shell: Any, action: Any) -> list[str]:
    if action.choices:
        return [str(each) for each in action.choices]
    return list(VALUES.get(action.dest, one_of())(shell))


def _keys(names: Iterable[str]) -> list[str]:
    return [f"{mark}{name}" for name in names for mark in ("%", "%%")]


def _is_ours(function: Any) -> bool:
    return getattr(function, "__func__", None) is complete  # a hook is made a shell's method


def _is_traced(value: Any) -> bool:
    return isinstance(value, Trace) or hasattr(type(value), "step_stats")
