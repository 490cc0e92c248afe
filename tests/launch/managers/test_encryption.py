"""Clusters that other hosts reach are encrypted, without a word of the user's."""

import subprocess
import sys
from pathlib import Path

from tests.launch.environment import environment_of_tests
from tests.needs import need

ADDRESS = "10.77.1.1"  # in a network that the test makes
SCRIPT = Path(__file__).with_name("encrypted_client.py")
IN_A_NETWORK = f"""
ip link set lo up && ip addr add {ADDRESS}/32 dev lo && exec "$0" "$@"
"""


def in_a_network(*command, **more):
    """Run a command where `ADDRESS` is of this host; return what it printed."""
    need({"ip": "iproute2", "unshare": "util-linux"}, root=True)
    told = subprocess.run(
        ["unshare", "--net", "sh", "-c", IN_A_NETWORK, *command],
        env=environment_of_tests(**more), capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    return told.stdout.splitlines()


def test_only_who_started_a_cluster_reaches_it():
    said = in_a_network(
        sys.executable, str(SCRIPT), ADDRESS, TFDIST_REMOTE="", TFDIST_TIMEOUTS="session=3"
    )
    assert said == [
        "result 3.0",
        "again 3.0",
        "shown tfdist://main/run None",
        "refused UnavailableError",
    ]
