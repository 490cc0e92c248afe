"""Manifests are what Kubernetes takes, and say what keeps a pod safe and found."""

import json

import kubernetes_validate
import pytest
import yaml

from tests.programs_on_pages import blocks, page
from tfdist.cli import main as cli
from tfdist.launch.kubernetes.text import manifest_text
from tfdist.launch.kubernetes.wanted import Wanted

JOBS = {"ps": 1, "my_worker": 2}
VERSIONS = ("1.28", "1.31", "1.34")


def objects(form="statefulset", jobs=JOBS, **arguments):
    """Return the objects of a text by kind and name."""
    text = manifest_text(Wanted(jobs, "r.example/tfdist:1", **arguments), form)
    return {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(text)}


def pod_of(found, name="tfdist-ps"):
    return found["StatefulSet", name]["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("is_encrypted", [False, True])
def test_kubernetes_takes_all_objects(version, is_encrypted):
    for each in objects(is_encrypted=is_encrypted).values():
        kubernetes_validate.validate(each, version, strict=True)


def test_an_unknown_field_would_be_found():
    wrong = objects()["Service", "tfdist-ps"]
    wrong["spec"]["publishNotReadyAdresses"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


def test_the_cluster_is_the_names_of_the_pods():
    found = objects(name="train")
    assert json.loads(found["ConfigMap", "train"]["data"]["cluster.json"]) == {
        "ps": ["train-ps-0.train-ps:2222"],
        "my_worker": [f"train-my-worker-{i}.train-my-worker:2222" for i in (0, 1)],
    }
    for name in ("train-ps", "train-my-worker"):  # these names are the Services'
        service = found["Service", name]["spec"]
        assert (service["clusterIP"], service["publishNotReadyAddresses"]) == ("None", True)
        pods = found["StatefulSet", name]["spec"]
        assert pods["serviceName"] == name
        assert pods["template"]["metadata"]["labels"] == service["selector"]


def test_a_pod_has_no_rights_that_it_does_not_need():
    """As the pod security standard "restricted" wants it, and a root that nobody writes to."""
    pod = pod_of(objects())
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not pod["automountServiceAccountToken"]
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    written = [each["mountPath"] for each in container["volumeMounts"] if "readOnly" not in each]
    assert written == ["/tmp"]


def test_only_tasks_and_named_clients_reach_the_port():
    policy = objects(name="train", port=3333)["NetworkPolicy", "train"]["spec"]
    (rule,) = policy["ingress"]
    assert rule["ports"] == [{"port": 3333}, {"port": 3334}]  # gRPC and frames
    assert {"podSelector": {"matchLabels": {"tfdist-client": "train"}}} in rule["from"]
    assert {"podSelector": policy["podSelector"]} in rule["from"]


@pytest.mark.parametrize(
    ("is_encrypted", "probe"),
    [
        (False, {"grpc": {"port": 2222, "service": "liveness"}}),
        # Kubernetes shows no certificate
        (True, {"exec": {"command": ["tfdist", "health", "--service", "liveness"]}}),
    ],
)
def test_a_pod_is_asked_whether_it_serves(is_encrypted, probe):
    (container,) = pod_of(objects(is_encrypted=is_encrypted))["containers"]
    assert {**container["livenessProbe"], **probe} == container["livenessProbe"]
    assert "readiness" in json.dumps(container["readinessProbe"])
    # running steps have their grace before the pod is killed
    assert container["args"] == ["serve", "--grace", "20"]
    assert pod_of(objects())["terminationGracePeriodSeconds"] > 20


def test_certificates_are_a_secret_of_the_job():
    pod = pod_of(objects(is_encrypted=True))
    (secret,) = [each["secret"] for each in pod["volumes"] if "secret" in each]
    assert secret == {"secretName": "tfdist-ps-tls", "defaultMode": 0o400}
    environment = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
    assert (environment["TFDIST_REMOTE"], environment["TFDIST_TLS"]) == ("tls", "/etc/tfdist-tls")


def test_what_makes_the_certificates_is_said_above():
    text = manifest_text(Wanted({"worker": 2}, "i", is_encrypted=True))
    said = "".join(line[2:] for line in text.splitlines(True) if line.startswith("#"))
    assert "tfdist-worker,tfdist-worker-0.tfdist-worker,tfdist-worker-1.tfdist-worker\n" in said
    assert "secret generic tfdist-worker-tls --from-file=keys/tfdist-worker\n" in said


def test_the_pod_of_the_how_to_is_one():
    (text,) = blocks("yaml", page("docs/how-to/kubernetes.md"))
    kubernetes_validate.validate(yaml.safe_load(text), VERSIONS[0], strict=True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ps"], "'ps' is not JOB=N"),
        (["ps=0"], "'ps=0' is not JOB=N"),
        (["ps=1", "ps=2"], "'ps=2' is not JOB=N"),
        (["Ps=1"], "Kubernetes would not take the name 'tfdist-Ps'"),
        (["ps=1", "--name", "x" * 60], "at most 52"),
        (["ps=1", "--memory", "1 GB"], "memory is a quantity of Kubernetes, such as 500m or 2Gi"),
        (["ps=1", "--port", "80"], "from 1024 to 65534"),
        (["ps=1", "--form", "tfjob", "--name", "1x"], "'1x-ps'"),
        (["parts=1", "--form", "tfjob"], "a TFJob has no job 'parts': there are ps, worker, chief"),
        (["chief=2", "--form", "tfjob"], "a TFJob has one chief, not 2"),
    ],
)
def test_what_kubernetes_would_refuse_is_a_sentence(arguments, said, capsys):
    assert cli.main(["manifests", *arguments, "--image", "i"]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("tfdist manifests: ")
    assert said in printed.err
    assert printed.out == ""


def test_the_command_prints_what_kubectl_takes(capsys):
    assert cli.main(["manifests", "ps=1", "worker=4", "--image", "i", "--cpu", "500m"]) == 0
    found = list(yaml.safe_load_all(capsys.readouterr().out))
    kinds = [each["kind"] for each in found]
    assert kinds == ["ConfigMap", "NetworkPolicy", *["Service", "StatefulSet"] * 2]
    assert found[-1]["spec"]["replicas"] == 4
    (container,) = found[-1]["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
