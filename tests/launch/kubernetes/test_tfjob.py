"""A TFJob is one that Kubeflow's training operator takes.

The operator's own library for Python, kubeflow-training, knows each field that there is and its
type, as the library kubernetes does for pods. That is compared here: the operator's schema itself
(a CustomResourceDefinition) comes with the operator only.
"""

import re

import kubernetes.client.models
import kubernetes_validate
import pytest
import yaml
from kubeflow.training import models as kubeflow_models

from tfdist.launch.kubernetes.text import manifest_text
from tfdist.launch.kubernetes.wanted import Wanted

JOBS = {"chief": 1, "ps": 2, "worker": 3, "evaluator": 1}
PLAIN = {"str": str, "int": int, "bool": bool, "object": object}


def tfjob(**arguments):
    """Return a NetworkPolicy and a TFJob."""
    wanted = Wanted(JOBS, "r.example/tfdist:1", "train", **arguments)
    return yaml.safe_load_all(manifest_text(wanted, "tfjob"))


def misfits(value, type_name, path="TFJob"):
    """Yield where a value is not of a type that the libraries describe."""
    of_list = re.fullmatch(r"list\[(.*)\]", type_name)
    of_dict = re.fullmatch(r"dict\(str, (.*)\)", type_name)
    if of_list:
        for each in value:
            yield from misfits(each, of_list[1], f"{path}[]")
    elif of_dict:
        for key, each in value.items():
            yield from misfits(each, of_dict[1], f"{path}.{key}")
    elif type_name in PLAIN:
        if not isinstance(value, PLAIN[type_name]):
            yield f"{path} is {value!r}, not {type_name}"
    else:
        yield from misfits_of_model(value, type_name, path)


def misfits_of_model(value, type_name, path):
    model = getattr(kubeflow_models, type_name, None) or getattr(
        kubernetes.client.models, type_name
    )
    names = {there: here for here, there in model.attribute_map.items()}
    for key, each in value.items():
        if key in names:
            yield from misfits(each, model.openapi_types[names[key]], f"{path}.{key}")
        else:
            yield f"{path} has no {key}"


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_the_operators_library_knows_all_fields(is_encrypted):
    policy, job = tfjob(is_encrypted=is_encrypted)
    kubernetes_validate.validate(policy, "1.34", strict=True)
    assert list(misfits(job, "KubeflowOrgV1TFJob")) == []


def test_a_field_that_is_not_there_would_be_found():
    _, job = tfjob()
    spec = job["spec"]["tfReplicaSpecs"]["PS"]
    spec["replica"], spec["replicas"] = 1, "1"
    spec["template"]["spec"]["container"] = []
    assert len(list(misfits(job, "KubeflowOrgV1TFJob"))) == 3


def test_it_has_the_names_that_the_operator_looks_for():
    policy, job = tfjob()
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v1", "TFJob")
    specs = job["spec"]["tfReplicaSpecs"]
    counts = {kind: each["replicas"] for kind, each in specs.items()}
    assert counts == {"Chief": 1, "PS": 2, "Worker": 3, "Evaluator": 1}
    for each in specs.values():
        (container,) = each["template"]["spec"]["containers"]
        assert container["name"] == "tensorflow"
        assert container["ports"][0] == {"name": "tfjob-port", "containerPort": 2222}
        assert each["restartPolicy"] == "ExitCode"  # 138 of `tfdist serve` is tried again
        # the operator tells the cluster in TF_CONFIG; ours would beat it
        assert not {name["name"] for name in container["env"]} & {"TFDIST_CLUSTER", "TFDIST_TASK"}
    selected = policy["spec"]["podSelector"]["matchLabels"]
    assert selected == {"training.kubeflow.org/job-name": "train"}
