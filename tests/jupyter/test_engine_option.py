"""%cluster start --engine: servers of TensorFlow itself, or what says why not.

What serves here is tfdist under TensorFlow's name; see `tests/launch/stand_in.py`.
"""

import re

import pytest
from IPython.core.error import UsageError

from tests.launch.stand_in import interpreter
from tfdist.launch.private_network import why_no_network

in_network = pytest.mark.skipif(bool(why_no_network()), reason=why_no_network())


@in_network
def test_the_card_tells_what_serves_each_task(notebook, tmp_path):
    line = (
        f"%cluster start ps=1 worker=1 --engine worker=tensorflow --python {interpreter(tmp_path)}"
    )
    first, *_, last, card = notebook.run(line)  # all but the card in one place
    assert first["text/plain"].startswith("0 of 2 servers are ready; ")
    assert re.fullmatch(r"all 2 servers are ready; \d+\.\d s in all", last["text/plain"])
    text = card["text/plain"]
    assert text.startswith("started cluster 'main' (ps=1 worker=1) in processes of their own, in")
    assert re.search(r"^/job:ps/task:0      up     cpu:0    tfdist   ", text, re.M)
    assert re.search(r"^/job:worker/task:0  up     cpu:0    TensorFlow 1.0  127", text, re.M)
    address = notebook.value("cluster").servers[0].address
    text = notebook.text(f"%cluster attach ps={address} --name again")
    assert re.search(r"^/job:ps/task:0  up     cpu:0    tfdist  ", text, re.M)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("jax", "--engine jax: try tensorflow, or worker=tensorflow"),
        ("worker=torch", "--engine worker=torch: try tensorflow, or worker=tensorflow"),
        ("chief=tensorflow", "no job 'chief' for engine tensorflow; there are ps, worker"),
        ("tensorflow --python /no/python", "--python names /no/python, but there is no such"),
    ],
)
def test_an_engine_that_cannot_be_is_told(notebook, option, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        notebook.run(f"%cluster start --engine {option}")


def test_without_private_networks_it_is_refused(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match=r"TensorFlow's servers listen .*; .* --trust-network"):
        notebook.run(f"%cluster start --engine tensorflow --python {interpreter(tmp_path)}")


@in_network
def test_engines_of_several_jobs_may_be_named(notebook, tmp_path):
    python = interpreter(tmp_path)
    notebook.run(
        f"%cluster start worker=1 --engine worker=tensorflow,worker=tfdist --python {python}"
    )
    assert notebook.value("cluster").engines == {"worker": "tfdist"}
