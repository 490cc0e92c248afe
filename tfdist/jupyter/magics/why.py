"""`%why`: what every step in flight waits for."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.errors import OpError
from tfdist.jupyter.arguments import output_options, parse, save_shown_option, unquoted
from tfdist.jupyter.magics.noun import Noun
from tfdist.jupyter.why import why_bundles
from tfdist.launch.outcome import cause_of
from tfdist.plots.live.why import why


@magics_class
class WhyMagic(Noun):
    """The magic `%why`."""

    @magic_arguments()
    @argument(
        "target",
        nargs="?",
        type=unquoted,
        help="grpc://HOST:PORT, or what %%cluster attach takes; by default this kernel is asked",
    )
    @save_shown_option
    @output_options("what was found (`tfdist.why`)")
    @line_magic
    def why(self, line: str) -> None:
        """Say what every step in flight waits for, and why; deadlocks are named.

        %why                     this kernel's sessions and clusters
        %why grpc://HOST:PORT    the cluster of a server
        """
        arguments = parse(self.why, line)
        if arguments is None:
            return
        try:
            found = why(arguments.target)
        except (ValueError, OpError) as error:
            raise UsageError(f"%why {arguments.target}: {cause_of(error)}") from None
        self.keep(arguments.output, found)
        self.show_and_save(why_bundles(found, self.style()), arguments, found.figure)
