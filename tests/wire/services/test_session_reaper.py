"""What the reaper of sessions sees: connections, and processes."""

import os
import subprocess
import sys

import pytest

from tfdist.wire.services.session_reaper import connected_peers, has_ended

HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
)
OURS, OTHER = "0100007F:1F90", "0100007F:1F91"  # port 8080, and 8081


def row(local, remote, state="01"):
    return (
        f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  1000        0 7\n"
    )


@pytest.mark.parametrize(
    ("tables", "peers"),
    [
        pytest.param([], None, id="no table: that is not known"),
        pytest.param([HEAD], set(), id="nobody"),
        pytest.param([HEAD + row(OURS, "0200007F:0050")], {"127.0.0.2:80"}, id="one"),
        pytest.param([HEAD + row(OTHER, "0100007F:0050")], set(), id="of another port"),
        pytest.param([HEAD + row("0100007F:0050", OURS)], set(), id="the client's end itself"),
        pytest.param([HEAD + row(OURS, "0100007F:0050", "08")], set(), id="closed by the client"),
        pytest.param([HEAD + row("00000000:1F90", "00000000:0000", "0A")], set(), id="listening"),
        pytest.param(
            [HEAD, HEAD + row(f"{'0' * 16}FFFF0000{OURS}", f"{'0' * 16}FFFF00000100007F:0051")],
            {"127.0.0.1:81"}, id="in the other table, mapped",
        ),
    ],
)  # fmt: skip
@pytest.mark.skipif(sys.byteorder == "big", reason="the table has the machine's byte order")
def test_who_is_connected(tables, peers):
    assert connected_peers(8080, tables) == peers


def test_processes_end():
    assert not has_ended(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert has_ended(child.pid)  # though nobody has waited for it
    child.wait()
    assert has_ended(child.pid)
