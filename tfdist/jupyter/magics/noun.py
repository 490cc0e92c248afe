"""What magics have in common: each parses its line, calls a function, shows what that returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, magics_class
from IPython.display import display

from tfdist.base.extras import MissingExtra
from tfdist.jupyter.bundles import Bundle, Style, sentence_bundle
from tfdist.jupyter.export import Export, export
from tfdist.jupyter.settings import TFDist
from tfdist.launch.outcome import cause_of

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure


@magics_class
class Noun(Magics):
    """The magics of one noun.

    Args:
      shell: IPython's.
      settings: of all nouns.
    """

    shell: Any  # IPython sets it

    def __init__(self, shell: Any, settings: TFDist) -> None:
        super().__init__(shell)
        self.settings = settings

    def style(self) -> Style:
        """Return how much is shown."""
        return self.settings.style()

    def show(self, shown: Iterable[Bundle], quiet: bool) -> None:
        """Display bundles, unless quiet is wanted."""
        for bundle in () if quiet else shown:
            each = bundle.text_only() if self.settings.live == "text" else bundle
            display(each.data, raw=True, metadata=each.metadata)

    def keep(self, name: str | None, value: Any) -> None:
        """Put what `-o` asks for into the user's variable."""
        if name:
            self.shell.push({name: value})

    def save(self, path: str | None, what: Export, quiet: bool = False) -> None:
        """Write what `--save` asks for, if it does, and say so; UsageError if that cannot be."""
        if path:
            usage_errors(export)(path, what, self.settings.theme)
            self.show([sentence_bundle(f"wrote {path}")], quiet)

    def show_and_save(
        self, shown: Sequence[Bundle], arguments: Any, figure: Callable[[], Figure] | None = None
    ) -> None:
        """Display bundles unless -q is given, and write them if --save is.

        Args:
          shown: to display.
          arguments: of the magic.
          figure: draws what a picture of them has.
        """
        self.show(shown, arguments.quiet)
        self.save(arguments.save, Export(figure, shown=shown), arguments.quiet)


def usage_errors(function: Callable[..., Any], magic: str = "") -> Callable[..., Any]:
    """Return `function` with ValueErrors, OSErrors and MissingExtra as one-line UsageErrors.

    Args:
      function: that is called.
      magic: what a line of these begins with.
    """

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (ValueError, OSError, MissingExtra) as error:
            raise UsageError(": ".join(filter(None, [magic, cause_of(error)]))) from None

    return call
