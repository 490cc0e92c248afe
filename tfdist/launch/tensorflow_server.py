"""A server of TensorFlow itself in a process of its own: what its interpreter runs, by path.

    PYTHON tensorflow_server.py '{"spec": ..., "job": ..., "task": ..., "cpus": ..., "parent": ...}'

That interpreter need not have tfdist, and may be Python 3.7. Standard output brings one line, when
the server is ready; standard input is the lifeline, as of `tfdist serve` (see `serve`). TensorFlow
has no way to stop a server, so the process ends without ceremony.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import sys
from typing import Any

LOOK_AT_PARENT = 1.0  # seconds between two looks
STDIN, STDOUT, STDERR = 0, 1, 2


def main() -> None:
    """Serve until the lifeline or the parent ends."""
    del sys.path[0]  # tfdist's own folder: its modules are not those that TensorFlow looks for
    settings = json.loads(sys.argv[1])
    answer = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)  # whatever is printed is logged
    version, _server = serve(**settings)  # it ends with its last reference
    where = "/job:{job}/task:{task}".format(**settings)
    line = f"TensorFlow {version} serves {where} (pid {os.getpid()})\n"
    for descriptor in (STDERR, answer):
        os.write(descriptor, line.encode())
    os.close(answer)
    wait_for_end(settings["parent"])
    os._exit(0)


def serve(
    spec: dict[str, list[str]], job: str, task: int, cpus: int, parent: int
) -> tuple[str, Any]:
    """Return TensorFlow's version, and a server that has started."""
    try:
        tensorflow = importlib.import_module("tensorflow")
    except ImportError as error:
        sys.exit(f"{sys.executable} has no TensorFlow ({error})")
    tf = getattr(tensorflow.compat, "v1", tensorflow)
    config = tf.ConfigProto(device_count={"CPU": cpus})
    cluster = tf.train.ClusterSpec(spec)
    return tensorflow.__version__, tf.train.Server(cluster, job, task, config=config)


def wait_for_end(parent: int) -> None:
    """Wait until somebody asks for the end, or whoever would is gone."""
    while os.getppid() == parent:
        if select.select([STDIN], [], [], LOOK_AT_PARENT)[0]:
            return


if __name__ == "__main__":
    main()
