"""One task of a cluster in a process of its own.

`python serve_task.py MODULE CLUSTER JOB INDEX [IMPORT ...]`, where CLUSTER is JSON such as
{"worker": ["localhost:2222"]}, writes a line when its server is up, and serves until its input
ends: when the parent closes it, or ends in whatever way. IMPORTs are modules that define ops. Runs
under Python 3.7 too.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

from loading import load


def main() -> None:
    """Serve."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    module, cluster, job, index, *others = sys.argv[1:]
    if module == "tfdist":
        prepare()
    for each in others:
        importlib.import_module(each)
    server = load(module).train.Server(json.loads(cluster), job_name=job, task_index=int(index))
    print("ready", file=answers, flush=True)
    try:
        sys.stdin.read()
        getattr(server, "stop", lambda: None)()
    finally:
        os._exit(0)  # TensorFlow's servers would not let the process end by itself


def prepare() -> None:
    """Set the process up as `tfdist serve` does."""
    from tfdist.launch.allocator import keep_memory

    keep_memory()


if __name__ == "__main__":
    main()
