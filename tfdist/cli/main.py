"""The command `tfdist`: `demo` shows what this is, `serve` is one task of a cluster, `run` runs a
program of TensorFlow's, `why` says what a cluster waits for, `dashboard` shows what it does,
`doctor` if all can work here."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import tfdist
from tfdist.base.extras import MissingExtra
from tfdist.base.settings import check_settings
from tfdist.cli.answers import FAILED, INTERRUPTED, WRONG, sentence
from tfdist.cli.arguments import positive
from tfdist.cli.dashboard import add_dashboard
from tfdist.cli.hosts import add_certificates, add_manifests
from tfdist.cli.serving import ROLE, add_health, add_serve

DESCRIPTION = "TensorFlow 1.x's distributed runtime, alive again in Python, and visible."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; errors are a sentence on stderr."""
    options = parser().parse_args(arguments)
    problem = environment_problem()
    if problem:
        print(f"tfdist: {problem}", file=sys.stderr)
        return WRONG
    try:
        return options.command(options)  # type: ignore[no-any-return]
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, RuntimeError, tfdist.OpError, MissingExtra) as error:
        print(f"tfdist: {sentence(error)}", file=sys.stderr)
        return FAILED


def environment_problem() -> str:
    """Return which environment variable makes no sense, and why, or ""."""
    from tfdist.runtime.resources.memory_limit import memory_limit
    from tfdist.wire.common.timeouts import timeouts

    try:
        check_settings()
        timeouts()
        memory_limit()
    except ValueError as error:
        return str(error)
    return ""


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
    add_serve(commands.add_parser("serve", help="be one task of a cluster", epilog=ROLE))
    commands.add_parser("fork").set_defaults(command=run_fork)  # no help: clusters call it
    add_health(commands.add_parser("health", help="say by the exit code whether a server serves"))
    add_manifests(commands.add_parser("manifests", help="write a cluster's files for Kubernetes"))
    add_run(commands.add_parser("run", help="run a program of TensorFlow 1.x, unchanged"))
    digits = commands.add_parser("digits", help="write digits as the files of MNIST")
    digits.add_argument("folder", type=Path, metavar="FOLDER", help="for the four files")
    digits.set_defaults(command=run_digits)
    why = commands.add_parser("why", help="say what the steps of a cluster wait for, and why")
    why.add_argument(
        "target",
        metavar="TARGET",
        help="grpc://HOST:PORT of a task, or what %%cluster attach takes",
    )
    why.set_defaults(command=run_why)
    add_dashboard(commands.add_parser("dashboard", help="show what a cluster does, as a page"))
    add_certificates(
        commands.add_parser("certificates", help="let hosts show each other who they are")
    )
    doctor = commands.add_parser(
        "doctor", help="say what is there and what is missing, or what is between here and a server"
    )
    doctor.add_argument(
        "address", nargs="?", metavar="HOST:PORT", help="of a server: can it be reached, and how?"
    )
    doctor.set_defaults(command=run_doctor)
    return found


def add_run(run: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist run` to its parser."""
    run.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module's name")
    run.add_argument(
        "--numpy1", action="store_true",
        help="give it the names and ways that NumPy 1 and Python 3.7 had",
    )  # fmt: skip
    run.add_argument("program", metavar="PROGRAM", help="a Python file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is called with")
    run.set_defaults(command=run_program)


def run_demo(options: argparse.Namespace) -> int:
    """Run the demo."""
    from tfdist.demo import run_demo

    run_demo(options.steps, options.out, lambda line: print(line, flush=True))
    return 0


def run_fork(options: argparse.Namespace) -> int:
    """Fork servers, as often as the process wants that holds the other end of standard input."""
    from tfdist.launch.fork_server import ForkServer

    arguments = ForkServer(socket.socket(fileno=os.dup(sys.stdin.fileno()))).run()
    return 0 if arguments is None else main(arguments)


def run_program(options: argparse.Namespace) -> int:
    """Run a program that imports TensorFlow."""
    from tfdist.launch.crash import trace_crashes
    from tfdist.programs.script import run_module, run_script

    trace_crashes()
    run = run_module if options.module else run_script
    return run(options.program, options.arguments, options.numpy1)


def run_digits(options: argparse.Namespace) -> int:
    """Write the digits that tfdist has as the files of MNIST."""
    from tfdist.programs.digits import write_digits

    train, test = write_digits(options.folder)
    print(f"wrote {train} training and {test} test images of digits to {options.folder}")
    return 0


def run_why(options: argparse.Namespace) -> int:
    """Print what the steps of a cluster wait for, and return whether a task did not tell."""
    found = tfdist.why(options.target)
    print(found)
    return FAILED if found.explanation.report.silent else 0


def run_doctor(options: argparse.Namespace) -> int:
    """Print what the doctor finds, and return whether something is wrong."""
    from tfdist.launch.doctor import examine
    from tfdist.launch.reach import examine_server

    is_wrong = False
    for found in examine_server(options.address) if options.address else examine():
        version = f"tfdist {tfdist.__version__}," if found.name == "Python" else f"{found.name:13}"
        print(f"{version} {found.told}", flush=True)
        is_wrong |= found.is_wrong
    return FAILED if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
