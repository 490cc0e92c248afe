"""`%histograms`: how the values of variables and gradients are spread, now and over steps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.errors import FailedPreconditionError
from tfdist.graph.operation import Operation
from tfdist.graph.scopes import get_default_graph
from tfdist.graph.stacks import get_default_session
from tfdist.jupyter.arguments import (
    natural,
    output_options,
    parse,
    save_shown_option,
    target_option,
    unquoted,
    variable,
)
from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, table_bundle
from tfdist.jupyter.magics.noun import Noun, usage_errors
from tfdist.jupyter.sessions import session_for, target_of
from tfdist.jupyter.trace import is_fetchable
from tfdist.ops.autodiff.gradients import gradients
from tfdist.plots.histogram.data import (
    GRADIENT,
    VARIABLE,
    Histogram,
    histogram_table,
    histograms_of,
)
from tfdist.plots.histogram.recorder import HistogramRecorder

Named = dict[tuple[str, str], Any]  # by (name, kind), what is fetched
DIGITS, FEW_DIGITS = 4, 2  # of numbers; where outputs are compared


class _Gradients(dict[tuple[str, ...], list[Any]]):
    """Those of a graph by loss and variables: each call would add their nodes once more."""


@magics_class
class HistogramsMagic(Noun):
    """The magic `%histograms`."""

    @no_var_expand
    @magic_arguments()
    @argument("fetches", nargs="*", type=unquoted, help="tensors; all trainable variables")
    @argument("--gradients", metavar="LOSS", type=unquoted, help="with its gradients by each")
    @argument("--feed", metavar="EXPR", type=unquoted, help='a dictionary: --feed "{x: data}"')
    @argument("--session", metavar="VAR", type=unquoted, help="session that has the values")
    @argument("--into", metavar="VAR", type=variable, help="adds a row to a recorder; draws all")
    @argument("--step", metavar="N", type=natural, help="of the row; else the global step's value")
    @target_option
    @save_shown_option
    @output_options("the HistogramRecorder")
    @line_magic
    def histograms(self, line: str) -> None:
        """Draw how the values of variables are spread, and of their gradients; they are fetched.

        %histograms                         all trainable variables of the default graph
        %histograms --gradients loss --feed "{x: images, y: labels}"
        %histograms w relu                  of these
        %histograms --into history          once more after some steps: ridges over steps
        """
        arguments = parse(self.histograms, line)
        if arguments is None:
            return
        recorder = self._recorder(arguments.into)
        found, step = self._fetched(arguments)
        recorder.add_histograms(found, _step(arguments.step, step, recorder))
        self.keep(arguments.into, recorder)
        self.keep(arguments.output, recorder)
        shown = histogram_bundles(recorder, self.style())
        self.show_and_save(shown, arguments, recorder.figure)

    def _recorder(self, name: str | None) -> HistogramRecorder:
        value = self.shell.user_ns.get(name) if name else None
        if value is None:
            return HistogramRecorder()
        if not isinstance(value, HistogramRecorder):
            kind = type(value).__name__
            raise UsageError(f"%histograms: {name} is {kind}, not a HistogramRecorder")
        return value

    def _fetched(self, arguments: Any) -> tuple[list[Histogram], int | None]:
        """Return the histograms of what is asked for, and the global step if there is one."""
        wanted = self._wanted(arguments)
        feed = self._value(arguments.feed, "--feed") if arguments.feed else None
        first = next(iter(wanted.values()))
        steps = first.graph.get_collection("global_step")
        with self._session(arguments, first) as session:
            try:
                values = session.run(list(wanted.values()), feed)
            except FailedPreconditionError as error:
                raise self._explained(error, arguments) from None
            step = _global_step(session, steps)
        arrays = (getattr(value, "values", value) for value in values)  # of IndexedSlices
        return usage_errors(histograms_of)(dict(zip(wanted, arrays, strict=True))), step

    def _session(self, arguments: Any, fetch: Any) -> AbstractContextManager[Any]:
        if arguments.session:
            session = self._value(arguments.session, "--session")
            if not hasattr(session, "run"):
                kind = type(session).__name__
                raise UsageError(
                    f"%histograms --session {arguments.session}: is {kind}, no session"
                )
            return nullcontext(session)
        if arguments.target:
            usage_errors(target_of)(arguments.target)
        return session_for(fetch, arguments.target)

    def _explained(self, error: FailedPreconditionError, arguments: Any) -> Exception:
        """Return the error, or what to do about it where a new session was asked in vain."""
        if arguments.session or arguments.target or get_default_session() is not None:
            return error
        return UsageError(
            f"%histograms asked a new session, which does not know the values: {error.message}; "
            "try %histograms --session sess, or make yours the default session"
        )

    def _wanted(self, arguments: Any) -> Named:
        """Return what is to be fetched: each variable with its gradient behind it."""
        loss = self._element(arguments.gradients) if arguments.gradients else None
        if isinstance(loss, list | tuple | dict):
            raise UsageError(f"%histograms --gradients {arguments.gradients}: name one tensor")
        graph = self._graph(arguments) if loss is None else loss.graph
        fetches = [each for text in arguments.fetches for each in self._elements(text)]
        fetches = fetches or graph.get_collection("trainable_variables")
        if not fetches:
            raise UsageError("%histograms: the graph has no trainable variables; name tensors")
        beside = [None] * len(fetches) if loss is None else gradients_by(loss, fetches)
        wanted: Named = {}
        for fetch, gradient in zip(fetches, beside, strict=True):
            wanted[_name(fetch), _kind(fetch)] = fetch
            if gradient is not None:
                wanted[_name(fetch), GRADIENT] = gradient
        return wanted

    def _graph(self, arguments: Any) -> Any:
        session = self._value(arguments.session, "--session") if arguments.session else None
        return getattr(session, "graph", None) or get_default_graph()

    def _elements(self, text: str) -> Sequence[Any]:
        value = self._element(text)
        if isinstance(value, dict):
            value = list(value.values())
        return value if isinstance(value, list | tuple) else [value]

    def _element(self, text: str) -> Any:
        """Return what an expression stands for, or the node or tensor of that name."""
        try:
            value = eval(text, self.shell.user_ns)
        except (NameError, SyntaxError):
            value = text
        if isinstance(value, str):
            return _named(value)
        if isinstance(value, Operation):
            raise UsageError(
                f"%histograms: {text} is an operation, which would be run; name a tensor"
            )
        if not is_fetchable(value):
            raise UsageError(f"%histograms: {text} is {type(value).__name__}, nothing to fetch")
        return value

    def _value(self, text: str, option: str) -> Any:
        try:
            return eval(text, self.shell.user_ns)
        except (NameError, SyntaxError) as error:
            raise UsageError(f"%histograms {option} {text}: {error}") from None


def gradients_by(loss: Any, variables: Sequence[Any]) -> list[Any]:
    """Return the gradients of a loss by each of some variables, None where it depends on none.

    Their nodes are added to the graph once, however often they are asked for.
    """
    known = loss.graph.kept(_Gradients)
    key = (loss.name, *(each.name for each in variables))
    if key not in known:
        try:
            with loss.graph.as_default():
                known[key] = gradients(loss, list(variables), name="histograms")
        except (RuntimeError, TypeError, ValueError) as error:  # such as a finalized graph
            raise UsageError(f"%histograms --gradients {loss.name}: {error}") from None
    return known[key]


def histogram_bundles(recorder: HistogramRecorder, style: Style) -> list[Bundle]:
    """Return the picture of histograms, and a table; without times with few digits."""
    digits = DIGITS if style.times else FEW_DIGITS
    if len(recorder.rows) == 1:
        table = histogram_table(recorder.rows[0][1], digits, style.most_rows)
    else:
        table = recorder.table(digits, style.most_rows)
    shown = [table_bundle(table, recorder.sentence)]
    if style.pictures:
        draw = partial(recorder.figure, min(digits, 3))
        shown.insert(0, picture_bundle(draw, recorder.sentence, style))
    return shown


def _named(name: str) -> Any:
    graph = get_default_graph()
    try:
        found = graph.as_graph_element(name)
    except (KeyError, ValueError) as error:
        raise UsageError(f"%histograms: {error.args[0]}") from None
    if isinstance(found, Operation) and not found.outputs:
        raise UsageError(f"%histograms: {name} has no outputs; name a tensor")
    return found.outputs[0] if isinstance(found, Operation) else found


def _name(fetch: Any) -> str:
    name: str = fetch.name
    return name.removesuffix(":0")


def _kind(fetch: Any) -> str:
    return VARIABLE if hasattr(fetch, "initializer") else "tensor"


def _global_step(session: Any, steps: Sequence[Any]) -> int | None:
    try:
        return int(session.run(steps[0])) if steps else None
    except FailedPreconditionError:  # nobody initialised it
        return None


def _step(asked: int | None, found: int | None, recorder: HistogramRecorder) -> int:
    """Return the step of a new row: as asked for, or the global step if it went on."""
    if asked is not None:
        return asked
    following = recorder.next_step()
    return found if found is not None and found >= following else following
