"""What a cluster of many processes takes, on tfdist and on TensorFlow: a table by number of tasks.

    python tests/benchmarks/many_tasks.py [--tasks 2 10 50 100] [--predict 1000]
        [--tensorflow PYTHON] [--json]

A parameter server and workers on this host; in a step every worker computes the gradient of a
softmax regression (784 x 10 numbers, 32 examples), and the parameter server applies their mean.
One session runs it, by the first worker. What more tasks would come to is predicted from the last
row: a step by the simulation of `%whatif train`, all the rest in proportion. With --json each row
is an object that has more in it.
This file is also the program that measures a row; that runs under Python 3.7 too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from loading import load
from timed import start, stop

HERE = Path(__file__).resolve().parent
TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds
WARM_UP = 3  # steps
SHOWN = {
    "tasks": "tasks",
    "start_s": "start s",
    "first_s": "session + first step s",
    "step_ms": "step ms",
    "cpu_ms": "CPU ms a task and step",
    "master_cpu_ms": "CPU ms of the master",
    "ps_cpu_ms": "of the ps",
    "threads": "threads of the master",
    "files": "its files",
    "idle_percent": "idle, % of a core a task",
    "megabytes": "MB a task",
}


class Cluster(NamedTuple):
    """A cluster's processes.

    Attributes:
      target: of the first worker, for a session.
      pids: the parameter server's first, then the workers'.
    """

    target: str
    pids: list[int]

    @property
    def master(self) -> int:
        """Return the process of the session's master."""
        return self.pids[1]


def measured(tf: Any, tasks: int, seconds: float) -> dict[str, Any]:
    """Return a row."""
    began = time.perf_counter()
    with started(tf, tasks) as cluster:
        row = {"tasks": tasks, "start_s": time.perf_counter() - began}
        with tf.Graph().as_default():
            initialise, train = training(tf, tasks - 1)
            began = time.perf_counter()
            session = tf.Session(cluster.target)
            session.run(initialise)
            session.run(train)
            row["first_s"] = time.perf_counter() - began
        row.update(steps(lambda: session.run(train), cluster, seconds))
        row.update(sizes(cluster))
        row["idle_percent"] = idle_percent(cluster.pids, seconds)
        session.close()
    return row


@contextmanager
def started(tf: Any, tasks: int) -> Iterator[Cluster]:
    """Start a cluster as its users do: tfdist's all at once, TensorFlow's each by itself."""
    jobs = {"ps": 1, "worker": tasks - 1}
    if tf.__name__ == "tfdist":
        from tfdist.launch.start import start_cluster

        cluster = start_cluster(jobs, processes=True, timeout=300).cluster
        servers = [cluster.server("/job:ps/task:0")]
        servers += [cluster.server(f"/job:worker/task:{i}") for i in range(tasks - 1)]
        end = cluster.stop
    else:
        *workers, ps = start(tf, jobs, here=0)
        servers = [ps, *workers]
        end = lambda: stop(servers)  # noqa: E731
    try:
        yield Cluster(servers[1].target, [each.pid for each in servers])
    finally:
        end()


def training(tf: Any, workers: int) -> tuple[Any, Any]:
    """Return what initialises the variables, and a step of all workers."""
    random = np.random.RandomState(0)
    with tf.device("/job:ps/task:0"):
        variables = [tf.Variable(tf.zeros([784, 10])), tf.Variable(tf.zeros([10]))]
    gradients = []
    for task in range(workers):
        with tf.device("/job:worker/task:{}".format(task)):  # noqa: UP032
            images = tf.constant(random.rand(32, 784).astype(np.float32))
            labels = tf.one_hot(tf.constant(random.randint(0, 10, 32)), 10)
            logits = tf.matmul(images, variables[0]) + variables[1]
            losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            gradients.append(tf.gradients(tf.reduce_mean(losses), variables))
    with tf.device("/job:ps/task:0"):
        applied = [
            variable.assign_sub(0.1 / workers * tf.add_n(list(each)))
            for variable, each in zip(variables, zip(*gradients))  # noqa: B905
        ]
    return tf.global_variables_initializer(), tf.group(*applied)


def steps(step: Callable[[], Any], cluster: Cluster, seconds: float) -> dict[str, float]:
    """Return how long a step takes, and how much processor time, by process."""
    for _ in range(WARM_UP):
        step()
    others = [*cluster.pids, os.getpid()]
    before, times, end = processor_times(others), [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    taken = [b - a for a, b in zip(before, processor_times(others))]  # noqa: B905
    each = [1e3 * used / len(times) for used in taken]
    return {
        "steps": len(times),
        "step_ms": 1e3 * min(times),
        "median_ms": 1e3 * statistics.median(times),
        "cpu_ms": sum(each) / len(cluster.pids),
        "ps_cpu_ms": each[0],
        "master_cpu_ms": each[1],
        "worker_cpu_ms": statistics.mean(each[2:-1] or [each[1]]),
        "client_cpu_ms": each[-1],
    }


def sizes(cluster: Cluster) -> dict[str, float]:
    """Return what the processes hold."""
    master = Path(f"/proc/{cluster.master}")
    return {
        "threads": len(list((master / "task").iterdir())),
        "files": len(list((master / "fd").iterdir())),
        "worker_threads": len(list(Path(f"/proc/{cluster.pids[-1]}/task").iterdir())),
        "megabytes": statistics.mean(map(proportional_megabytes, cluster.pids)),
        "master_megabytes": proportional_megabytes(cluster.master),
    }


def processor_times(pids: Sequence[int]) -> list[float]:
    """Return the seconds of processor time that each process has used."""
    return [processor_time(pid) for pid in pids]


def processor_time(pid: int) -> float:
    """Return the seconds of processor time that a process has used, in ticks of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def proportional_megabytes(pid: int) -> float:
    """Return the memory of a process; of what it shares with others, its share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    [kib] = [line.split()[1] for line in lines if line.startswith("Pss:")]
    return int(kib) * 1024 / 1e6


def idle_percent(pids: Sequence[int], seconds: float) -> float:
    """Return how much of a core a task uses while nothing is asked of it, in percent."""
    before, began = sum(processor_times(pids)), time.perf_counter()
    time.sleep(seconds)
    used = sum(processor_times(pids)) - before
    return 100 * used / (time.perf_counter() - began) / len(pids)


def predicted(row: dict[str, Any], tasks: int) -> dict[str, Any]:
    """Return a row of more tasks on this host, with `apart_ms` of a step if each had its own."""
    grown = tasks / row["tasks"]
    workers = row["tasks"] - 1
    served = 1e-3 * (row["ps_cpu_ms"] + row["master_cpu_ms"]) / workers
    computing = 1e-3 * row["worker_cpu_ms"]
    found = dict(row, runs=f"{row['runs']}, predicted", tasks=tasks)
    found["step_ms"] = simulated_ms(tasks, 0.0, (served + computing) / (os.cpu_count() or 1))
    found["apart_ms"] = simulated_ms(tasks, computing, served)
    for each in ("start_s", "first_s", "ps_cpu_ms", "master_cpu_ms", "files"):
        found[each] *= grown
    return found


def simulated_ms(tasks: int, computing_s: float, served_s: float) -> float:
    """Return the milliseconds of a step of all workers, each of which keeps a server busy.

    In the simulation a server sends and receives at the same time, half of its work each; a
    processor does one after the other.
    """
    from tfdist.simulation.training import TrainingSetup, synchronous

    setup = TrainingSetup(workers=tasks - 1, compute_s=computing_s, ps_work_s=2 * served_s)
    return 1e3 * float(synchronous(setup, np.random.default_rng(0), 20).step_s.mean())


def side(python: str, module: str, tasks: int, seconds: float) -> dict[str, Any]:
    """Return a row that another process measures, as root in a network of its own."""
    from compare import environment, isolated

    command = [python, str(HERE / "many_tasks.py"), "--side", module, str(tasks), str(seconds)]
    done = subprocess.run(
        isolated(command),
        stdout=subprocess.PIPE,
        stderr=None if module == "tfdist" else subprocess.DEVNULL,  # warnings of each process
        text=True,
        check=True,
        env=environment(module),
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print a table, or answer with one row."""
    if sys.argv[1:2] == ["--side"]:
        module, tasks, seconds = sys.argv[2:5]
        print(json.dumps(answer(module, int(tasks), float(seconds))), flush=True)
        os._exit(0)  # servers of TensorFlow would not let it end
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", type=int, nargs="+", default=[2, 10, 50, 100])
    parser.add_argument("--seconds", type=float, default=5.0, help="of steps, and of idleness")
    parser.add_argument("--predict", type=int, nargs="*", default=[], help="numbers of tasks")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="one that has TensorFlow")
    parser.add_argument("--only-tensorflow", action="store_true", help="without tfdist")
    parser.add_argument("--json", action="store_true", help="all that was measured")
    options = parser.parse_args()
    pythons = [] if options.only_tensorflow else [(sys.executable, "tfdist")]
    pythons += [(options.tensorflow, "tensorflow")] if options.tensorflow else []
    if not options.json:
        print(f"| runs | {' | '.join(SHOWN.values())} | load |\n|{'---|' * (len(SHOWN) + 2)}")
    for tasks in options.tasks:
        for python, module in pythons:
            row = side(python, module, tasks, options.seconds)
            print(json.dumps(row) if options.json else line(row), flush=True)
    for tasks in options.predict:
        more = predicted(row, tasks)
        print(json.dumps(more) if options.json else line(more), flush=True)
        if not options.json:
            print(f"{tasks} tasks on machines of their own: {shown(more['apart_ms'])} ms a step")


def answer(module: str, tasks: int, seconds: float) -> dict[str, Any]:
    """Return a row, measured in this process."""
    from measure import raise_loopback

    if "--own-network" in sys.argv:
        raise_loopback()
    tf = load(module)
    row = measured(tf, tasks, seconds)
    return {"runs": f"{module} {tf.__version__}", **row, "load": os.getloadavg()[0]}


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    cells = [row["runs"], *(shown(row[name]) for name in SHOWN), shown(row["load"])]
    return f"| {' | '.join(cells)} |"


def shown(number: float) -> str:
    """Return a number with three digits, or all of its whole part."""
    return f"{number:.3g}" if number < 100 else f"{number:.0f}"


if __name__ == "__main__":
    main()
