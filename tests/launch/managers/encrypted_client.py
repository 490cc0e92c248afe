"""A program in a network of its own: a cluster at an address that is not the loopback's."""

import sys
import tempfile
from pathlib import Path

import tfdist as tf
from tests.launch.managers.local_manager import LocalManager
from tests.launch.managers.total import total
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.start import start_cluster
from tfdist.wire.common.tls import own_identity, use_identity


class ReachableManager(LocalManager):
    """Its tasks are where other hosts would reach them."""

    def seat(self, job, index):
        """Return which task a child is."""
        return Seat(job, index, host=sys.argv[1])


def main():
    """Print what the session got, whose the certificate is, and how one without is refused."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = start_cluster({"ps": 1, "worker": 1}, on=ReachableManager(Path(folder)))
        with outcome.require() as cluster:
            print("result", total(cluster.target()))
            cluster.kill("ps")
            cluster.restart("ps")
            print("again", total(cluster.target()))
            addresses = [server.address for server in cluster.servers]
            print("shown", own_identity(addresses[0]).principal, own_identity())
            use_identity(None, at=addresses)
            try:
                total(cluster.target())
            except tf.errors.OpError as error:
                print("refused", type(error).__name__)


main()
