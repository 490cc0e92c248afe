"""What a server's process takes while it has nothing to do. Runs under Python 3.7 too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from timed import close, initialised, start


def idle(tf: Any) -> dict[str, dict[str, int]]:
    """Return the size of a server's process, when it has started and when it has run a step."""
    servers = start(tf, {"worker": 1}, here=0)
    sizes = {"after start": size(servers[0].pid)}
    with tf.Graph().as_default():
        total = tf.Variable(1.0) + tf.Variable(2.0)
        session = initialised(tf, servers)
        session.run(total)
    sizes["after a step"] = size(servers[0].pid)
    close(session, servers)
    return sizes


def size(pid: int) -> dict[str, int]:
    """Return the megabytes of memory in which a process is resident, and its threads; on Linux."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    resident = int(fields["VmRSS"].split()[0]) * 1024  # given in KiB
    return {"megabytes": round(resident / 1e6), "threads": int(fields["Threads"])}
