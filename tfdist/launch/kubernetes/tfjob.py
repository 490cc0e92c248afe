"""A cluster as a TFJob, where Kubeflow's training operator (its API kubeflow.org/v1) is installed.

The operator makes pods, Services and TF_CONFIG; servers end as it says and come back by exit code:
from 128 on again, others never. It looks for a container and a port by their names.

Source: Kubeflow's documentation of TFJob; kubeflow-training, the operator's library for Python.
"""

from __future__ import annotations

from tfdist.errors import InvalidArgumentError
from tfdist.launch.kubernetes.pods import Manifest, network_policy, pod
from tfdist.launch.kubernetes.wanted import Wanted

# Job -> what the operator calls it.
KINDS = {
    "ps": "PS", "worker": "Worker", "chief": "Chief", "master": "Master", "evaluator": "Evaluator",
}  # fmt: skip
CONTAINER, PORT = "tensorflow", "tfjob-port"
_JOB_NAME = "training.kubeflow.org/job-name"  # label of the pods


def tfjob(wanted: Wanted) -> list[Manifest]:
    """Return a TFJob, and the NetworkPolicy for its pods.

    Raises:
      InvalidArgumentError: the operator knows no such job, or there may be only one such task.
    """
    for job, count in wanted.jobs.items():
        if job not in KINDS:
            raise InvalidArgumentError(f"a TFJob has no job {job!r}: there are {', '.join(KINDS)}")
        if job in ("chief", "master") and count > 1:
            raise InvalidArgumentError(f"a TFJob has one {job}, not {count}")
    own = {_JOB_NAME: wanted.name}
    return [network_policy(wanted, own, own), _job(wanted)]


def _job(wanted: Wanted) -> Manifest:
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": wanted.name},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "All"},
            "tfReplicaSpecs": {
                KINDS[job]: {
                    "replicas": count,
                    "restartPolicy": "ExitCode",
                    "template": {"spec": pod(wanted, job, (CONTAINER, PORT), [], {})},
                }
                for job, count in wanted.jobs.items()
            },
        },
    }
