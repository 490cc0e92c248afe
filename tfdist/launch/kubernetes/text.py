"""Manifests as text, with what to do with it above."""

from __future__ import annotations

from tfdist.base.extras import require
from tfdist.launch.kubernetes.manifests import CLUSTER_AT, SPEC, cluster_of, manifests
from tfdist.launch.kubernetes.pods import CLIENT, secret_of
from tfdist.launch.kubernetes.tfjob import tfjob
from tfdist.launch.kubernetes.wanted import Wanted

FORMS = {"statefulset": manifests, "tfjob": tfjob}


def manifest_text(wanted: Wanted, form: str = "statefulset") -> str:
    """Return a cluster's manifests in YAML, for `kubectl apply -f -`.

    Args:
      wanted: the cluster.
      form: a key of `FORMS`.

    Raises:
      InvalidArgumentError: the form cannot have such jobs.
      MissingExtra: PyYAML is not installed.
    """
    require("pyyaml")
    import yaml

    objects = FORMS[form](wanted)
    head = "".join(f"# {line}".rstrip() + "\n" for line in _explained(wanted, form))

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes texts of several lines as such, and what stands in two places twice."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    Dumper.add_representer(
        str,
        lambda dumper, value: dumper.represent_scalar(
            "tag:yaml.org,2002:str", value, style="|" if "\n" in value else None
        ),
    )
    text: str = yaml.dump_all(objects, Dumper=Dumper, sort_keys=False, width=100)
    return head + text


def _explained(wanted: Wanted, form: str) -> list[str]:
    jobs = " ".join(f"{job}={count}" for job, count in wanted.jobs.items())
    found = [f"tfdist's servers on Kubernetes: {jobs}, as {wanted.name}."]
    if form == "statefulset":
        first = next(iter(cluster_of(wanted).values()))[0]
        found += [
            f"Pods with the label {CLIENT}={wanted.name} may call them:",
            f'    tf.Session("grpc://{first}")',
            f"or, with the ConfigMap {wanted.name} at {CLUSTER_AT},",
            f"    %cluster attach {CLUSTER_AT}/{SPEC}",
        ]
    else:
        found += [
            "Needs Kubeflow's training operator, version 1. Pods with the label",
            f"{CLIENT}={wanted.name} may call them.",
        ]
    return found + (_certificates(wanted, form) if wanted.is_encrypted else [])


def _certificates(wanted: Wanted, form: str) -> list[str]:
    """Return what makes the Secrets that the pods show."""
    hosts, secrets = [], []
    for job in wanted.jobs:
        folder = wanted.object_name(job)
        hosts.append("    " + ",".join([folder, *_hosts(wanted, job, form)]))
        secrets.append(
            f"kubectl create secret generic {secret_of(wanted, job)} --from-file=keys/{folder}"
        )
    ends = [" \\"] * (len(hosts) - 1) + [""]
    return [
        "Before them their certificates are made, and kept as Secrets"
        + (" (the namespace is default here):" if form == "tfjob" else ":"),
        f"tfdist certificates keys --cluster {wanted.name} --hosts \\",
        *(host + end for host, end in zip(hosts, ends, strict=True)),
        *secrets,
        "keys/run is for who runs graphs: TFDIST_REMOTE=tls TFDIST_TLS=keys/run",
    ]


def _hosts(wanted: Wanted, job: str, form: str) -> list[str]:
    """Return the names by which the tasks of a job are dialled."""
    if form == "statefulset":
        return [address.rpartition(":")[0] for address in cluster_of(wanted)[job]]
    name = wanted.object_name(job)
    return [f"{name}-{task}.default.svc" for task in range(wanted.jobs[job])]
