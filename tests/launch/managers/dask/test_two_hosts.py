"""A cluster on Dask over two hosts, Dask by TLS, tfdist's tasks by certificates of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts import ADDRESSES, Hosts, missing
from tests.launch.environment import environment_of_tests
from tests.launch.managers.dask.running import DaskCluster
from tfdist.launch.authority import Authority, write_identity
from tfdist.wire.common.identity import AUTHORITY, CERTIFICATE, KEY

SCRIPT = Path(__file__).with_name("two_hosts_client.py")


def certificates(folder, addresses):
    """Write certificates for Dask; returns its programs' options, and its configuration."""
    write_identity(folder, Authority("dask").identity(addresses))
    files = {"ca-file": AUTHORITY, "cert": CERTIFICATE, "key": KEY}
    options = [word for name, file in files.items() for word in (f"--tls-{name}", folder / file)]
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    configuration = {"CA_FILE": AUTHORITY, "CLIENT__CERT": CERTIFICATE, "CLIENT__KEY": KEY}
    return options, {tls + name: str(folder / file) for name, file in configuration.items()}


@pytest.mark.skipif(bool(missing()), reason=f"NOT TESTED: {missing()}")
def test_two_hosts_of_which_one_is_lost(tmp_path):
    options, configuration = certificates(tmp_path / "tls", ADDRESSES)
    environment = environment_of_tests(**configuration)
    with Hosts() as hosts:
        here, there = hosts.command(0), hosts.command(1)
        dask = DaskCluster(tmp_path, here, options, f"tls://{ADDRESSES[0]}")
        try:
            dask.add_workers(2, host=f"tls://{ADDRESSES[0]}", prefix=here)
            away = dask.add_workers(1, host=f"tls://{ADDRESSES[1]}", prefix=there)
            dask.wait_for_workers(3)
            told = subprocess.run(
                [*here, sys.executable, SCRIPT, dask.address, str(away.pid), ADDRESSES[1]],
                env=environment, capture_output=True, text=True, timeout=110,
            )  # fmt: skip
        finally:
            dask.close()
    assert told.stdout.splitlines() == [
        "hosts 10.77.0.1 up 10.77.0.1 up 10.77.0.2 up",
        "total 3.0",
        "rows 0 1 2 3 4 5",
        "step 42.0",
        "lost ended: Dask's",
        "again 1",
        "hosts 10.77.0.1 up 10.77.0.1 up 10.77.0.1 up",
        "total 3.0",
    ], told.stderr
    assert "WARNING" not in told.stderr
