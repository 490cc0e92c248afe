"""`%%on`: run a cell in the process of a task."""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.errors import OpError
from tfdist.jupyter.arguments import cell_only, output_options, parse, unquoted
from tfdist.jupyter.clusters import named_cluster
from tfdist.jupyter.magics.noun import Noun
from tfdist.launch.outcome import cause_of
from tfdist.launch.task_names import short_name


class RemoteCellError(Exception):
    """A cell failed in the process of a task; what is shown is the traceback there."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


@magics_class
class OnMagic(Noun):
    """The magic `%%on`."""

    @no_var_expand
    @cell_only
    @magic_arguments()
    @argument("tasks", nargs="+", type=unquoted, help="worker:1 ps:0; one after the other")
    @argument("--name", type=unquoted, help="name of the cluster; by default the last one")
    @output_options("the values of the last expression, as text, by task")
    @cell_magic
    def on(self, line: str, cell: str) -> None:
        """Run a cell in the process of a task of a cluster that this kernel started.

        %%on worker:1
        import os
        os.getpid()

        What it prints is shown here as it comes; its names stay there until the task is started
        anew, and `server` is the task's tf.train.Server. Ctrl-C interrupts it. It needs a cluster
        of processes (%cluster start --processes): tasks in this kernel see the kernel's own names.
        """
        arguments = parse(self.on, line)
        if arguments is None:
            return
        cluster, values = named_cluster(arguments.name), {}
        for task in arguments.tasks:
            values[task] = self._run(cluster, task, cell, arguments)
            self.keep(arguments.output, values)

    def _run(self, cluster: Any, task: str, code: str, arguments: Any) -> str | None:
        write = (lambda text: None) if arguments.quiet else _write
        try:
            name = short_name(task)
            found = cluster.run_on(task, code, write)
        except (ValueError, OpError) as error:
            raise UsageError(f"%%on {task}: {cause_of(error).removeprefix('%%on: ')}") from None
        if found.error is not None:
            raise RemoteCellError(f"on {name}:\n{found.error}")
        if found.value is not None and not arguments.quiet:
            print(f"[{name}] {found.value}")
        return found.value  # type: ignore[no-any-return]


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
