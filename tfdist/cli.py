"""The command `tfdist`: `demo` shows what this is, `doctor` says whether it can work here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import platform, python_version

import tfdist

DESCRIPTION = "TensorFlow 1.x's distributed runtime, alive again in Python, and visible."
LIBRARIES = (
    "numpy", "protobuf", "grpcio", "ml_dtypes", "threadpoolctl", "matplotlib", "ipykernel",
    "ipywidgets",
)  # fmt: skip
FAILED, INTERRUPTED = 1, 130  # exit codes; argparse's, for a wrong command line, is 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; errors are a sentence on stderr."""
    options = parser().parse_args(arguments)
    try:
        return options.command(options)  # type: ignore[no-any-return]
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, RuntimeError) as error:
        print(f"tfdist: {sentence(error)}", file=sys.stderr)
        return FAILED


def sentence(error: OSError | RuntimeError) -> str:
    """Return what went wrong, and with which file if it was one."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {error.filename}: {error.strerror}"
    return str(error)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(prog="tfdist", description=DESCRIPTION)
    found.add_argument("--version", action="version", version=f"tfdist {tfdist.__version__}")
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="train on a parameter server and two workers, and show")
    demo.add_argument("--steps", type=positive, default=300, help="of training; 300 by default")
    demo.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="for the timeline; here by default"
    )
    demo.set_defaults(command=run_demo)
    doctor = commands.add_parser("doctor", help="say which versions are there, and what is missing")
    doctor.set_defaults(command=run_doctor)
    return found


def positive(text: str) -> int:
    """Return the number that `text` says, if it is one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of one or more, not {text!r}")
    return int(text)


def run_demo(options: argparse.Namespace) -> int:
    """Run the demo."""
    from tfdist.demo import run_demo

    run_demo(options.steps, options.out, lambda line: print(line, flush=True))
    return 0


def run_doctor(options: argparse.Namespace) -> int:
    """Print what the doctor finds, and return whether something is wrong."""
    print(f"tfdist {tfdist.__version__}, Python {python_version()}, {platform()}")
    for name, found in versions():
        print(f"{name:13} {found or 'is missing: pip install ' + name}")
    problem = port_problem()
    print(f"{'loopback':13} {problem or 'ports can be bound'}")
    return FAILED if problem or not all(found for _, found in versions()) else 0


def versions() -> Iterator[tuple[str, str]]:
    """Yield each library that tfdist needs with its version, "" if it is not installed."""
    for name in LIBRARIES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, ""


def port_problem() -> str:
    """Return why servers cannot have ports on the loopback, or ""."""
    from tfdist.wire.server import start_servers

    try:
        for server in start_servers({"worker": 2}):
            server.stop()
    except (OSError, tfdist.OpError) as error:
        return f"has no port for a server: {error}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
