"""Requests of real TensorFlow's clients and masters, as recorded by `tests/interop/record.py`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.wire.calls_at import Asker
from tests.wire.worker_cases import Task
from tfdist.errors import OpError
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.protos import pb

RECORDED = Path(__file__).with_name("recorded")
METHODS = {
    "CreateSession": (pb.CreateSessionRequest, pb.CreateSessionResponse),
    "ExtendSession": (pb.ExtendSessionRequest, pb.ExtendSessionResponse),
    "RunStep": (pb.RunStepRequest, pb.RunStepResponse),
    "RegisterGraph": (pb.RegisterGraphRequest, pb.RegisterGraphResponse),
}


def requests_in(name: str) -> Iterator[tuple[Any, Any]]:
    """Yield the requests of a file, and what they were answered."""
    for line in (RECORDED / f"{name}.jsonl").read_text().splitlines():
        path, *messages = json.loads(line)
        classes = METHODS[path.rpartition("/")[2]]
        yield tuple(
            kind.FromString(base64.b64decode(text))
            for kind, text in zip(classes, messages, strict=True)
        )


def values(response: Any) -> dict[str, Any]:
    return {each.name: make_ndarray(each.tensor).tolist() for each in response.tensor}


@pytest.mark.parametrize("name", ["tensorflow_1_client", "tensorflow_2_client"])
def test_a_client_is_answered_as_it_was(name, asker: Asker):
    """The cluster of the recording has one task, called otherwise: its devices are renamed."""
    handles: dict[str, str] = {}
    fetched = 0
    for request, recorded in requests_in(name):
        if isinstance(request, pb.CreateSessionRequest):
            handles[recorded.session_handle] = asker.ask(here(request)).session_handle
            continue
        request.session_handle = handles[request.session_handle]
        if isinstance(request, pb.ExtendSessionRequest):
            asker.ask(here(request))
        elif recorded.status_code:
            with pytest.raises(OpError) as raised:
                asker.ask(request)
            assert raised.value.error_code == recorded.status_code
        else:
            np.testing.assert_equal(values(asker.ask(request)), values(recorded))
            fetched += len(recorded.tensor)
    assert fetched > 20


def here(request: Any) -> Any:
    """Return a request with a graph whose nodes are on the only task of the tests' server."""
    for node in request.graph_def.node:
        node.device = node.device.replace("/job:worker", "/job:a")
    return request


@pytest.mark.parametrize("name", ["tensorflow_1_master", "tensorflow_2_master"])
def test_a_master_may_register_what_its_optimizer_made(name, asker: Asker):
    task = Task(asker)
    ops = set()
    for request, _ in requests_in(name):
        nodes = request.graph_def.node
        ops |= {node.op for node in nodes}
        registration = task.registration(*nodes)
        registration.graph_def.library.CopyFrom(request.graph_def.library)
        assert asker.ask(registration).graph_handle
    assert {"_FusedMatMul", "_Send", "_Recv"} <= ops
