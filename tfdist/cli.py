"""The command `tfdist`: `demo` shows what this is, `serve` is one task of a cluster, `run` runs a
program of TensorFlow's, `why` says what a cluster waits for, `doctor` if all can work here."""

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

DESCRIPTION = "TensorFlow 1.x's distributed runtime, alive again in Python, and visible."
FAILED, WRONG, INTERRUPTED = 1, 2, 130  # exit codes; after 2, argparse's too, trying again is vain
AGAIN = 138  # failed, and trying again makes sense: as Kubeflow's operator takes it, old and new
ROLE = """\
A cluster is JSON text, the path of a JSON file ({"job": ["host:port"]}, or a whole TF_CONFIG), or
"ps=127.0.0.1:2222;worker=127.0.0.1:2223,127.0.0.1:2224". What is not given is looked for in the
environment: TFDIST_CLUSTER, TFDIST_JOB and TFDIST_TASK, then TF_CONFIG. When the server is ready it
prints one line; Ctrl-C and SIGTERM stop it. Exit codes: 0 stopped, 1 failed, 2 there is no such
task, or a variable of the environment makes no sense; 138 failed for now, so that trying again
makes sense (the own name is not that of this host yet, the port is taken)."""


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


def sentence(error: OSError | RuntimeError | tfdist.OpError | MissingExtra) -> str:
    """Return what went wrong, and with which file if it was one."""
    from tfdist.launch.outcome import cause_of

    return cause_of(error)


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


def add_serve(serve: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist serve` to its parser."""
    serve.formatter_class = argparse.RawDescriptionHelpFormatter
    serve.add_argument("--cluster", metavar="SPEC", help="all tasks and their addresses; see below")
    serve.add_argument("--job", help="of this task; not needed where the cluster has one only")
    serve.add_argument("--task", type=natural, metavar="N", help="its index in the job")
    serve.add_argument("--cpus", type=positive, default=1, help="CPU devices; 1 by default")
    serve.add_argument(
        "--gpus", type=natural, default=0, metavar="N",
        help="simulated GPUs, for lessons on machines without a card",
    )  # fmt: skip
    serve.add_argument(
        "--grace", type=seconds, default=1.0, metavar="SECONDS",
        help="that running steps may take after SIGTERM; 1 by default",
    )  # fmt: skip
    serve.add_argument(
        "--memory-limit", type=memory, metavar="SIZE",
        help="that the process may have (4GB, 75%%), or one step (step=1GB), or SIZE,step=SIZE; "
        "off for none; 90%% of the machine's memory by default",
    )  # fmt: skip
    serve.add_argument(
        "--exchange", metavar="WAY",
        help="be told the cluster later, when all tasks have told their ports: stdio, by lines of "
        "JSON on standard input and output, or a folder that all hosts share",
    )  # fmt: skip
    serve.add_argument(
        "--from", dest="source", choices=("slurm", "mpi"),
        help="be the task that the rank of this process says, which srun or mpirun started",
    )  # fmt: skip
    serve.add_argument(
        "jobs", nargs="*", type=job_count, metavar="JOB=N",
        help="with --from: which tasks the ranks are, such as ps=1 worker=2; all workers without",
    )  # fmt: skip
    serve.add_argument(
        "--folder", type=Path, metavar="SHARED",
        help="with --from: a folder of this user alone that all hosts share; by default "
        "~/tfdist-clusters",
    )  # fmt: skip
    serve.add_argument(
        "--host",
        help="with --exchange or --from: address that other tasks reach; the loopback by default, "
        "with --from the interface that leads to the others",
    )
    serve.add_argument(
        "--port",
        type=natural,
        default=0,
        metavar="N",
        help="with --exchange; with --from that of the first task on each host; 0 for a free one",
    )
    serve.add_argument(
        "--patience", type=seconds, default=300.0, metavar="SECONDS",
        help="with --exchange: that it waits to be told the cluster; 300 by default",
    )  # fmt: skip
    serve.add_argument(
        "--ready-file", type=Path, metavar="FILE",
        help="is there while the server answers, and says at which address",
    )  # fmt: skip
    serve.add_argument(
        "--parent", type=natural, nargs="?", const=os.getppid(), metavar="PID",
        help="end when standard input ends or the parent is gone",
    )  # fmt: skip
    serve.add_argument("--cells", type=natural, help=argparse.SUPPRESS)  # for `launch.cells`
    serve.set_defaults(command=run_serve)


def add_certificates(certificates: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist certificates` to its parser."""
    certificates.description = (
        "Write folders with a key, a certificate and the cluster's authority: one for each host, "
        "one (run) for those who run graphs, one (look) for those who only look. Who has one sets "
        "TFDIST_REMOTE=tls and TFDIST_TLS=FOLDER/NAME. The second time all are renewed; servers "
        "take new files without a stop."
    )
    certificates.add_argument("folder", type=Path, metavar="FOLDER", help="for all of them")
    certificates.add_argument(
        "--hosts", nargs="+", default=[], metavar="HOST",
        help="the name or number by which one is dialled, or all of them: worker-1,10.0.0.7",
    )  # fmt: skip
    certificates.add_argument("--cluster", default="", metavar="NAME", help="needed the first time")
    certificates.add_argument(
        "--days", type=positive, default=365, metavar="N", help="that they hold; 365 by default"
    )
    certificates.set_defaults(command=run_certificates)


def add_health(health: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist health` to its parser."""
    health.description = "Ask whether a server serves. Exit codes: 0 it does, 1 not, 2 no such one."
    health.add_argument(
        "target", nargs="?", default="", metavar="TARGET",
        help="grpc://HOST:PORT; by default the task that `tfdist serve` would be here",
    )  # fmt: skip
    health.add_argument("--cluster", metavar="SPEC", help="as that of `tfdist serve`")
    health.add_argument("--job", help="of the task")
    health.add_argument("--task", type=natural, metavar="N", help="its index in the job")
    health.add_argument(
        "--service", default="", metavar="NAME",
        help="liveness asks only whether it answers: a server that is about to end does",
    )  # fmt: skip
    health.add_argument(
        "--timeout", type=seconds, default=4.0, metavar="SECONDS", help="4 by default"
    )
    health.set_defaults(command=run_health)


def add_manifests(manifests: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist manifests` to its parser."""
    manifests.add_argument("jobs", nargs="+", metavar="JOB=N", help="such as ps=1 worker=4")
    manifests.add_argument("--image", required=True, help="with tfdist in it; see `Containerfile`")
    manifests.add_argument("--name", default="tfdist", help="of the cluster; tfdist by default")
    manifests.add_argument(
        "--form", choices=("statefulset", "tfjob"), default="statefulset",
        help="plain Kubernetes, or a TFJob of Kubeflow's training operator (version 1)",
    )  # fmt: skip
    manifests.add_argument("--port", type=positive, default=2222, help="2222 by default")
    manifests.add_argument("--tls", action="store_true", help="servers show certificates")
    manifests.add_argument("--cpu", default="1", metavar="N", help="of each task; 1 by default")
    manifests.add_argument(
        "--memory", default="1Gi", metavar="SIZE", help="of each task; 1Gi by default"
    )
    manifests.set_defaults(command=run_manifests)


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


def positive(text: str) -> int:
    """Return the number that `text` says, if it is one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of one or more, not {text!r}")
    return int(text)


def natural(text: str) -> int:
    """Return the number that `text` says, if it is zero or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number of zero or more, not {text!r}")
    return int(text)


def job_count(text: str) -> tuple[str, int]:
    """Return the job and the number of its tasks that "JOB=N" says."""
    job, is_pair, count = text.partition("=")
    if not (is_pair and job.isidentifier()):
        raise argparse.ArgumentTypeError(f"must be JOB=N, such as worker=2, not {text!r}")
    return job, positive(count)


def seconds(text: str) -> float:
    """Return the seconds that `text` says, if they are zero or more."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e9:
        raise argparse.ArgumentTypeError(f"must be seconds, zero or more, not {text!r}")
    return found


def memory(text: str) -> str:
    """Return `text`, if it says how much memory there may be."""
    from tfdist.runtime.resources.memory_limit import machine_memory, parse_limit

    try:
        parse_limit(text, machine_memory)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


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


def run_serve(options: argparse.Namespace) -> int:
    """Be a task of a cluster until somebody asks for the end."""
    from tfdist.cluster.resolve import resolve_role
    from tfdist.launch.allocator import keep_memory
    from tfdist.launch.crash import trace_crashes
    from tfdist.launch.serve import Settings, serve
    from tfdist.runtime.resources.memory_limit import VARIABLE

    if options.memory_limit is not None:
        os.environ[VARIABLE] = options.memory_limit
    keep_memory()
    trace_crashes()
    if options.source is not None:
        return run_rank(options)
    if options.exchange is not None:
        return run_member(options)
    try:
        role = resolve_role(options.cluster, options.job, options.task, os.environ, read_text)
    except tfdist.OpError as error:
        print(f"tfdist serve: {sentence(error)}", file=sys.stderr)
        return WRONG
    settings = Settings(
        options.cpus,
        options.grace,
        options.ready_file,
        options.parent,
        options.gpus,
        options.cells,
    )
    try:
        serve(role, settings)
    except (tfdist.errors.UnavailableError, tfdist.errors.AlreadyExistsError) as error:
        print(f"tfdist: {sentence(error)}", file=sys.stderr)
        return AGAIN
    return 0


def run_health(options: argparse.Namespace) -> int:
    """Return whether a server serves; say so only if it does not."""
    from tfdist.cluster.resolve import resolve_role
    from tfdist.launch.kubernetes.health import state_of

    address = options.target.removeprefix("grpc://")
    try:
        if not address:
            role = resolve_role(options.cluster, options.job, options.task, os.environ, read_text)
            address = role.cluster.task_address(role.job, role.task)
        state = state_of(address, options.service, options.timeout)
    except tfdist.OpError as error:
        print(f"tfdist health: {sentence(error)}", file=sys.stderr)
        return WRONG
    if state != "SERVING":
        print(f"tfdist: {address}: {state}", file=sys.stderr)
    return 0 if state == "SERVING" else FAILED


def run_manifests(options: argparse.Namespace) -> int:
    """Print the manifests of a cluster on Kubernetes."""
    from tfdist.launch.kubernetes.text import manifest_text
    from tfdist.launch.kubernetes.wanted import Wanted, parse_jobs

    try:
        wanted = Wanted(
            parse_jobs(options.jobs), options.image, options.name, options.port, options.tls,
            options.cpu, options.memory,
        )  # fmt: skip
        text = manifest_text(wanted, options.form)
    except tfdist.OpError as error:
        print(f"tfdist manifests: {sentence(error)}", file=sys.stderr)
        return WRONG
    print(text, end="")
    return 0


def run_member(options: argparse.Namespace) -> int:
    """Be a task whose cluster is told when all tasks have their ports."""
    from tfdist.launch.exchange.member import take_part
    from tfdist.launch.exchange.seat import Seat
    from tfdist.launch.exchange.shared_folder import of_member
    from tfdist.launch.exchange.streams import own_streams

    if options.job is None or options.task is None:
        print("tfdist serve: --exchange needs --job and --task", file=sys.stderr)
        return WRONG
    host = options.host or Seat.host
    seat = Seat(
        options.job, options.task, host, options.port, options.cpus, options.gpus,
        options.grace, options.patience,
    )  # fmt: skip
    stdio = options.exchange == "stdio"
    take_part(own_streams() if stdio else of_member(Path(options.exchange), seat.name), seat)
    return 0


def run_rank(options: argparse.Namespace) -> int:
    """Be the task that the rank of this process says."""
    from tfdist.launch.exchange.seat import Seat
    from tfdist.launch.ranks.host import own_host
    from tfdist.launch.ranks.rank import rank_from, tasks_of

    jobs = dict(options.jobs)
    try:
        rank = rank_from(options.source, os.environ)
        job, task = rank.role(jobs)
    except (RuntimeError, ValueError) as error:
        print(f"tfdist serve --from {options.source}: {error}", file=sys.stderr)
        return WRONG
    if options.source == "slurm":
        from tfdist.launch.ranks.gpus import take_own_gpus

        take_own_gpus(jobs)
    host = options.host or own_host(rank.towards, rank.is_on_one_host)
    port = options.port + rank.local if options.port else 0
    seat = Seat(
        job, task, host, port, options.cpus, options.gpus, options.grace, options.patience
    )  # fmt: skip
    if options.exchange is not None:
        from tfdist.launch.ranks.keeper import keep

        keep(Path(options.exchange), seat)
        return 0
    from tfdist.launch.ranks.serve import serve_rank

    tasks = [f"/job:{job}/task:{index}" for job, index in tasks_of(jobs or {job: rank.size})]
    serve_rank(rank, tasks, seat, options.folder)
    return 0


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


def read_text(path: str) -> str:
    """Return the text of a file."""
    return Path(path).read_text(encoding="utf-8")


def run_certificates(options: argparse.Namespace) -> int:
    """Write certificates."""
    from tfdist.launch.certificates import certificates

    for line in certificates(options.folder, options.cluster, options.hosts, options.days):
        print(line, flush=True)
    return 0


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
