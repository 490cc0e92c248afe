"""Commands that are a task of a cluster, or ask one whether it serves."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tfdist.cli.answers import AGAIN, FAILED, WRONG, read_text, sentence
from tfdist.cli.arguments import memory, natural, positive, seconds
from tfdist.errors import AlreadyExistsError, OpError, UnavailableError

ROLE = """\
A cluster is JSON text, the path of a JSON file ({"job": ["host:port"]}, or a whole TF_CONFIG), or
"ps=127.0.0.1:2222;worker=127.0.0.1:2223,127.0.0.1:2224". What is not given is looked for in the
environment: TFDIST_CLUSTER, TFDIST_JOB and TFDIST_TASK, then TF_CONFIG. When the server is ready it
prints one line; Ctrl-C and SIGTERM stop it. Exit codes: 0 stopped, 1 failed, 2 there is no such
task, or a variable of the environment makes no sense; 138 failed for now, so that trying again
makes sense (the own name is not that of this host yet, the port is taken)."""


def add_serve(serve: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist serve` to its parser."""
    serve.formatter_class = argparse.RawDescriptionHelpFormatter
    _add_role(serve, "all tasks and their addresses; see below")
    _add_resources(serve)
    _add_membership(serve)
    _add_life(serve)
    serve.set_defaults(command=run_serve)


def _add_resources(serve: argparse.ArgumentParser) -> None:
    """Add what the server has, and what steps may take of it."""
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


def _add_membership(serve: argparse.ArgumentParser) -> None:
    """Add how a server learns its place in a cluster that is still to be told."""
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
        "jobs", nargs="*", metavar="JOB=N",
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
        "--port", type=natural, default=0, metavar="N",
        help="with --exchange; with --from that of the first task on each host; 0 for a free one",
    )  # fmt: skip
    serve.add_argument(
        "--patience", type=seconds, default=300.0, metavar="SECONDS",
        help="with --exchange: that it waits to be told the cluster; 300 by default",
    )  # fmt: skip


def _add_life(serve: argparse.ArgumentParser) -> None:
    """Add how others see that it is ready, and when it ends."""
    serve.add_argument(
        "--ready-file", type=Path, metavar="FILE",
        help="is there while the server answers, and says at which address",
    )  # fmt: skip
    serve.add_argument(
        "--parent", type=natural, nargs="?", const=os.getppid(), metavar="PID",
        help="end when standard input ends or the parent is gone",
    )  # fmt: skip
    serve.add_argument("--cells", type=natural, help=argparse.SUPPRESS)  # for `launch.cells`


def add_health(health: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist health` to its parser."""
    health.description = "Ask whether a server serves. Exit codes: 0 it does, 1 not, 2 no such one."
    health.add_argument(
        "target", nargs="?", default="", metavar="TARGET",
        help="grpc://HOST:PORT; by default the task that `tfdist serve` would be here",
    )  # fmt: skip
    _add_role(health, "as that of `tfdist serve`")
    health.add_argument(
        "--service", default="", metavar="NAME",
        help="liveness asks only whether it answers: a server that is about to end does",
    )  # fmt: skip
    health.add_argument(
        "--timeout", type=seconds, default=4.0, metavar="SECONDS", help="4 by default"
    )
    health.set_defaults(command=run_health)


def _add_role(parser: argparse.ArgumentParser, cluster: str) -> None:
    """Add what `resolve_role` is asked for; `cluster` tells what that option is."""
    parser.add_argument("--cluster", metavar="SPEC", help=cluster)
    parser.add_argument("--job", help="of the task; not needed where the cluster has one only")
    parser.add_argument("--task", type=natural, metavar="N", help="its index in the job")


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
    except OpError as error:
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
    except (UnavailableError, AlreadyExistsError) as error:
        print(f"tfdist: {sentence(error)}", file=sys.stderr)
        return AGAIN
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
    from tfdist.launch.job_counts import parse_jobs
    from tfdist.launch.ranks.host import own_host
    from tfdist.launch.ranks.rank import rank_from, tasks_of

    try:
        jobs = parse_jobs(options.jobs)
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
    except OpError as error:
        print(f"tfdist health: {sentence(error)}", file=sys.stderr)
        return WRONG
    if state != "SERVING":
        print(f"tfdist: {address}: {state}", file=sys.stderr)
    return 0 if state == "SERVING" else FAILED
