"""Stores what real TensorFlow's clients and masters ask, for `tests/wire/test_recorded.py`.

    TFDIST_TENSORFLOW=/path/of/1.15/bin/python:/path/of/2/bin/python python -m tests.interop.record

A line of a file is one request: its path, its bytes in base64, and those of tfdist's answer.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.interop.directions import US
from tests.interop.interpreters import UNSHARE, interpreters
from tests.interop.trial import spec_of, started
from tfdist.wire.common.calls import Method
from tfdist.wire.server import Server
from tfdist.wire.services.master import MasterService
from tfdist.wire.services.worker import WorkerService

FOLDER = Path(__file__).parents[1] / "wire" / "recorded"
OF_CLIENTS = ["feeds_of_strings", "reference_variables", "a_fifo_queue", "a_cond_across_tasks",
              "a_function", "a_dataset_on_another_task", "a_division_by_zero"]  # fmt: skip
OF_MASTERS = ["layers_that_can_be_fused", "gradient_descent_on_two_workers",
              "a_while_loop_across_tasks", "a_sum_that_is_accumulated", "a_function"]  # fmt: skip


class Recorded:
    """A call whose answer is noted.

    Args:
      call: that arrived.
      note: takes the answer's bytes.
    """

    def __init__(self, call: Any, note: Callable[[bytes], object]) -> None:
        self._call, self._note = call, note

    def respond(self, reply: Any) -> None:
        self._note(b"".join(map(bytes, reply)))
        self._call.respond(reply)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)


def recording(service: Any, wanted: set[str], lines: list[str]) -> None:
    """Let the methods of `service` note what they are asked."""
    methods = service.methods

    def noting(path: str, method: Method) -> Method:
        def handle(data: memoryview, call: Any) -> None:
            asked = bytes(data)
            method.handle(
                data, Recorded(call, lambda reply: lines.append(line(path, asked, reply)))
            )

        return Method(handle, method.may_block)

    service.methods = lambda self: {
        path: noting(path, method) if path.rpartition("/")[2] in wanted else method
        for path, method in methods(self).items()
    }


def line(path: str, *messages: bytes) -> str:
    """Return the line of a file."""
    return json.dumps([path, *(base64.b64encode(each).decode() for each in messages)])


def record(kind: str) -> None:
    """Record a real client at a task of ours, then a real master with a worker of ours."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    name = kind.replace(" ", "_").lower()
    lines: list[str] = []
    recording(MasterService, {"CreateSession", "ExtendSession", "RunStep"}, lines)
    run(kind, {"worker:0": US}, OF_CLIENTS)
    (FOLDER / f"{name}_client.jsonl").write_text("\n".join(lines) + "\n")
    lines.clear()
    recording(WorkerService, {"RegisterGraph"}, lines)
    run(kind, {"ps:0": kind, "worker:0": kind, "worker:1": US}, OF_MASTERS)
    (FOLDER / f"{name}_master.jsonl").write_text("\n".join(lines) + "\n")


def run(kind: str, tasks: dict[str, str], programs: list[str]) -> None:
    """Run programs of a real client on `tasks`, the last of which is in this process."""
    spec, (ours, *others) = spec_of(tasks), [*tasks][::-1]
    python = interpreters()[kind]
    settings = [{"api": kind, "spec": spec, "job": each[:-2], "task": int(each[-1])}
                for each in others]  # fmt: skip
    client = {"api": kind, "target": f"grpc://{spec['worker'][0]}", "servers": {}, "spec": spec}
    with Server(spec, ours[:-2], int(ours[-1]), inproc=False), ExitStack() as stack:
        for each in settings:
            stack.enter_context(started(python, "serve", each)).stdout.readline()
        sys.stdout.writelines(stack.enter_context(started(python, "run", client, programs)).stdout)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        record(each)
    for each in [] if sys.argv[1:] else interpreters().keys() - {US}:
        command = [*UNSHARE, sys.executable, "-m", "tests.interop.record", each]
        subprocess.run(command, check=True)
