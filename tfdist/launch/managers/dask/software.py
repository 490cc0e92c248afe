"""Whether the workers of a Dask cluster can run tfdist's tasks: Python and tfdist as here."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable, Mapping

from tfdist.base.extras import installed
from tfdist.errors import FailedPreconditionError
from tfdist.launch.exchange.member import software
from tfdist.launch.managers.dask.client import DaskClient


def check_software(client: DaskClient, workers: list[str]) -> None:
    """Raise an error unless workers can run tasks of this process.

    Args:
      client: of dask.distributed.
      workers: their addresses.

    Raises:
      FailedPreconditionError: some have another Python, no tfdist or another one; the message says
        what to do.
    """
    if not workers:
        return
    told = client.get_versions()["workers"]
    pythons = {each: _minor(told[each]["host"]["python"]) for each in workers if each in told}
    own = _minor(platform.python_version())
    _raise_different(pythons, f"Python {own}", "Python ", (
        f"start workers with Python {own}, or this notebook with theirs: functions travel as "
        "byte code, which differs"
    ))  # fmt: skip
    # by value: a function of a module that is not there could not say so
    found = client.run(_asking(), workers=list(pythons))
    _raise_different(found, software(), "", (
        f"on each worker: pip install tfdist=={installed('tfdist')}; or from here: "
        "client.register_plugin(dask.distributed.PipInstall(['tfdist"
        f"=={installed('tfdist')}']))"
    ))  # fmt: skip


def _asking() -> Callable[[], Awaitable[str]]:
    """Return a function that tells a worker's software, "no tfdist" where it has none."""

    async def ask() -> str:
        import asyncio

        def found() -> str:
            try:
                from tfdist.launch.exchange.member import software
            except ImportError as error:
                return f"no tfdist that can be used ({error})"
            return software()

        # in a thread: the import takes a second, in which the worker's loop has other things to do
        return await asyncio.to_thread(found)

    return ask


def _raise_different(found: Mapping[str, str], wanted: str, prefix: str, remedy: str) -> None:
    wrong = {worker: prefix + text for worker, text in found.items() if prefix + text != wanted}
    if not wrong:
        return
    worker, text = next(iter(wrong.items()))
    more = f" (and {len(wrong) - 1} more such)" if len(wrong) > 1 else ""
    raise FailedPreconditionError(
        f"Dask worker {worker}{more} has {text}, this process {wanted}; {remedy}"
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
