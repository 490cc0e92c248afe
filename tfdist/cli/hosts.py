"""Commands that write what other hosts need: certificates, and manifests for Kubernetes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tfdist.cli.answers import WRONG, sentence
from tfdist.cli.arguments import positive
from tfdist.errors import OpError


def add_certificates(certificates: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist certificates` to its parser."""
    certificates.description = (
        "Write folders with a key, a certificate and the cluster's authority: one for each host, "
        "one (run) for those who run graphs, one (look) for those who only look. Who has one sets "
        "TFDIST_REMOTE=tls and TFDIST_TLS=FOLDER/NAME. The second time all are renewed; servers "
        "take new files without a stop."
    )
    certificates.add_argument("folder", type=Path, metavar="FOLDER", help="for all of them")
    certificates.add_argument(
        "--hosts", nargs="+", default=[], metavar="HOST",
        help="the name or number by which one is dialled, or all of them: worker-1,10.0.0.7",
    )  # fmt: skip
    certificates.add_argument("--cluster", default="", metavar="NAME", help="needed the first time")
    certificates.add_argument(
        "--days", type=positive, default=365, metavar="N", help="that they hold; 365 by default"
    )
    certificates.set_defaults(command=run_certificates)


def add_manifests(manifests: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist manifests` to its parser."""
    manifests.add_argument("jobs", nargs="+", metavar="JOB=N", help="such as ps=1 worker=4")
    manifests.add_argument("--image", required=True, help="with tfdist in it; see `Containerfile`")
    manifests.add_argument("--name", default="tfdist", help="of the cluster; tfdist by default")
    manifests.add_argument(
        "--form", choices=("statefulset", "tfjob"), default="statefulset",
        help="plain Kubernetes, or a TFJob of Kubeflow's training operator (version 1)",
    )  # fmt: skip
    manifests.add_argument("--port", type=positive, default=2222, help="2222 by default")
    manifests.add_argument("--tls", action="store_true", help="servers show certificates")
    manifests.add_argument("--cpu", default="1", metavar="N", help="of each task; 1 by default")
    manifests.add_argument(
        "--memory", default="1Gi", metavar="SIZE", help="of each task; 1Gi by default"
    )
    manifests.set_defaults(command=run_manifests)


def run_certificates(options: argparse.Namespace) -> int:
    """Write certificates."""
    from tfdist.launch.certificates import certificates

    for line in certificates(options.folder, options.cluster, options.hosts, options.days):
        print(line, flush=True)
    return 0


def run_manifests(options: argparse.Namespace) -> int:
    """Print the manifests of a cluster on Kubernetes."""
    from tfdist.launch.job_counts import parse_jobs
    from tfdist.launch.kubernetes.text import manifest_text
    from tfdist.launch.kubernetes.wanted import Wanted

    try:
        wanted = Wanted(
            parse_jobs(options.jobs), options.image, options.name, options.port, options.tls,
            options.cpu, options.memory,
        )  # fmt: skip
        text = manifest_text(wanted, options.form)
    except (OpError, ValueError) as error:
        print(f"tfdist manifests: {sentence(error)}", file=sys.stderr)
        return WRONG
    print(text, end="")
    return 0
