"""tfdist: TensorFlow 1.x's distributed runtime, alive again in Python, and visible.

    import tfdist as tf

gives the names of TensorFlow 1.x, each loaded when it is first asked for; `%load_ext tfdist` gives
a notebook its magics.
"""

# mypy: implicit-reexport

from builtins import bool as _bool
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from tfdist.base.namespace import lazy as _lazy

if _TYPE_CHECKING:
    from tfdist.api.root import *  # noqa: F403

__version__ = "0.1.0"

_named, __dir__ = _lazy(__name__, "tf")

_HIDING = {"get_logger", "print"}  # what `import *` leaves out: Python's own names, for one

# What a program asks TensorFlow's module of itself.
_OF_ITSELF = {
    "__compiler_version__": "COMPILER_VERSION", "__cxx11_abi_flag__": "CXX11_ABI_FLAG",
    "__git_version__": "GIT_VERSION", "__monolithic_build__": "MONOLITHIC_BUILD",
}  # fmt: skip


def __getattr__(name: str) -> _Any:
    """Return what is loaded when first asked for; besides the names listed, any message's class."""
    if name == "__all__":
        return [each for each in _named(name) if each not in _HIDING]
    if name in _OF_ITSELF:
        return _named(_OF_ITSELF[name])
    if name[:1].isupper():
        from tfdist.base.namespace import places

        if name not in places(__name__):
            from tfdist.protos import pb

            found = getattr(pb, name, None)
            if found is not None:
                return found
    return _named(name)


def install(numpy1: _bool = False) -> None:
    """Let `import tensorflow` give tfdist from now on; see `programs.stand_in`."""
    from tfdist.programs.stand_in import install

    install(numpy1)


def why(target: _Any = None, step: int | None = None) -> _Any:
    """Return what every step in flight waits for, and why; see `plots.live.why.why`."""
    from tfdist.plots.live.why import why

    return why(target, step)


def census(target: _Any = None, holdings: _Any = False) -> _Any:
    """Return what tasks hold, do and have sent; see `plots.live.census.census`."""
    from tfdist.plots.live.census import census

    return census(target, holdings)


def progress(iterable: _Any = None, loss: _Any = None, **options: _Any) -> _Any:
    """Return a bar of progress: in a loop, as a hook, over a dataset; see `Progress`.

    It is tqdm's, whose options it takes and whose methods it has; in a notebook it is an output
    that a saved notebook keeps. `%config TFDist.live = 'off'` and TFDIST_LIVE=off show none.

    Args:
      iterable: what a loop goes through: `for step in tfdist.progress(range(1000)):`, or a Dataset.
      loss: tensor that a hook shows: `hooks=[tfdist.progress(total=1000, loss=loss)]`.
      **options: tqdm's: total, desc, unit, leave, disable, ...

    Raises:
      MissingExtra: tqdm is not installed.

    Example:
      >>> sum(progress(range(5)))
      10
    """
    from tfdist.base.extras import require

    require("tqdm")
    from tfdist.jupyter.progress import new_progress

    return new_progress(iterable, loss, **options)


def load_ipython_extension(shell: object) -> None:
    """Give an IPython shell the magics `%cluster`, `%trace`, `%placement`."""
    from tfdist.jupyter.extension import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Take the magics away; clusters go on."""
    from tfdist.jupyter.extension import unload_ipython_extension

    unload_ipython_extension(shell)
