"""`%tfdist`: help, the doctor and the report."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from IPython.core.error import UsageError

from tfdist.jupyter import doctor
from tfdist.jupyter.doctor import kernel_rules
from tfdist.jupyter.extension import magic_names
from tfdist.launch.clusters import running_clusters
from tfdist.launch.connection_file import runtime_folder

VOID = {"meta", "img", "source", "br"}


class Page(HTMLParser):
    """A page whose elements must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.ids, self.links, self.sources = [], [], set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.seen.append(tag)
        self.ids |= {found["id"]} if "id" in found else set()
        self.links += [found["href"]] if "href" in found else []
        self.sources += [found[key] for key in ("src", "srcset") if key in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_help_names_every_magic_with_an_example_that_parses(notebook):
    text = notebook.text("%tfdist")
    rows = [re.split(r"\s{2,}", line) for line in text.splitlines()[3:]]
    assert {row[0].lstrip("%") for row in rows} == set(magic_names())
    for name, example, purpose in rows:
        assert example.startswith(name)
        assert purpose
    assert notebook.text("%tfdist help") == text
    assert notebook.text("%tfdist version").startswith("tfdist ")


def test_the_doctor_tells_what_versions_mean_and_how_clusters_are(notebook):
    notebook.run("%cluster start ps=1 -q")
    (runtime_folder() / "old.json").write_text("{}")
    try:
        text = notebook.text("%tfdist doctor")
    finally:
        (runtime_folder() / "old.json").unlink()
    assert text.startswith("All can work here.")
    for told in ("ipykernel", "a widget's buttons act", "ipywidgets", "JupyterLab", "live"):
        assert told in text
    (cluster,) = running_clusters()
    port = cluster.servers[0].address.rpartition(":")[2]
    assert f"cluster 'main' (ps=1), in this kernel, ports {port}: all up" in text


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("6.31.0", ("when the cell has ended", "the cell that started it")),
        ("7.1.0", ("at once, on a thread", "the cell that runs then")),
        ("7.4.0a1", ("when the cell has ended", "the cell that runs then")),
        ("8.0", ("when the cell has ended", "the cell that runs then")),
    ],
)
def test_rules_of_kernels(version, told):
    assert all(each in kernel_rules(version) for each in told)


def test_the_doctor_says_what_to_do(notebook, monkeypatch):
    installed = {"ipywidgets": "8.1.9", "jupyterlab_widgets": "1.1.0"}
    monkeypatch.setattr(doctor, "installed", lambda name: installed.get(name, "1.0"))
    text = notebook.text("%tfdist doctor")
    assert text.startswith("1 to be seen to.")
    assert "pip install 'jupyterlab_widgets==3.*'" in text


def test_the_report_is_one_page_that_needs_nothing_else(on_cluster, tmp_path):
    for line in ("%trace -q c", "%trace -q -n 3 sess.run(c);", "%%trace -q\nNone"):
        on_cluster.run(line)
    said = on_cluster.text(f"%tfdist report {tmp_path}/r.html")
    assert said.startswith(f"wrote {tmp_path}/r.html: 2 traces")
    text = (tmp_path / "r.html").read_text()
    page = Page(text)
    assert page.open == []
    assert not {"script", "link", "iframe"} & set(page.seen)
    assert all(each.startswith("data:image/png;base64,") for each in page.sources)
    assert "://" not in text
    assert "script-src" not in text
    assert {link.removeprefix("#") for link in page.links} == page.ids
    assert page.ids == {"trace-1", "trace-2", "clusters", "versions"}
    assert page.seen.count("source") == page.seen.count("picture") >= 7
    assert "prefers-color-scheme: dark" in text
    assert "Ran c:0 in a session on /job:worker/task:0" in text
    for told in ("half of them took", "RecvTensor", "pinned to", "numpy", "127.0.0.1:"):
        assert told in text


def test_a_shared_report_plays_with_the_one_script_it_came_with(on_cluster, tmp_path):
    for line in ("%trace -q c", "%trace -q -n 2 sess.run(c);", "%%trace -q\nNone"):
        on_cluster.run(line)
    said = on_cluster.text(f"%tfdist report --share {tmp_path}/r.html")
    assert said.startswith(f"wrote {tmp_path}/r.html: 2 traces")
    text = (tmp_path / "r.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.seen.count("script") == 1
    assert not {"link", "iframe"} & set(page.seen)
    assert all(each.startswith("data:image/png;base64,") for each in page.sources)
    assert page.ids == {"trace-1", "trace-2", "scaling", "clusters", "versions"}
    assert text.count('data-view="player"') == 2
    assert text.count('data-view="explorer"') == 1
    assert "no training was traced" in text
    code = text.split('<script type="module">')[1].split("</script>")[0]
    digest = b64encode(sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text


TRAINING = """
tf.reset_default_graph()
with tf.device("/job:ps"):
    v = tf.Variable(tf.ones([100, 100]), name="v")
with tf.device("/job:worker"):
    gradient = tf.matmul(v, v, name="gradient")
train = v.assign_sub(0.001 * gradient)
sess.close()
sess = tf.Session(cluster.target())
sess.run(v.initializer)
%trace -n 3 -q sess.run(train.op)
"""


def test_what_can_be_explored_is_the_training_that_was_traced(on_cluster, tmp_path):
    on_cluster.run(TRAINING)
    on_cluster.run(f"%tfdist report -q {tmp_path}/r.html --share")
    text = (tmp_path / "r.html").read_text()
    assert "In a step of one worker (from 3 traced runs): a gradient takes" in text
    assert "40 kB come and 40 kB go" in text


def test_the_last_traces_only(on_cluster, tmp_path):
    on_cluster.run("%trace -q c")
    on_cluster.run("%trace -q sess.run([c, a]);")
    said = on_cluster.text(f"%tfdist report {tmp_path}/r.html --last 1")
    assert ": 1 trace," in said
    assert "Ran c:0, a:0" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%tfdist repot", r"did you mean %tfdist report\? The verbs are help"),
        ("%tfdist dance", "the verbs are help, version, doctor, report"),
        ("%tfdist report", "which file"),
        ("%tfdist report r.pdf", "a report is HTML: FILE.html, not r.pdf"),
        ("%tfdist report /nowhere/at/all/r.html", "cannot use /nowhere/at/all/r.html"),
        ("%tfdist report --last 0", "one or more"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(notebook, line, message):
    with pytest.raises(UsageError, match=message):
        notebook.run(line)


AGAIN = """
%load_ext tfdist
%reload_ext tfdist
spec = {"ps": ["ps-0.ps.svc:2222"], "worker": ["worker-0.worker.svc:2222"]}
%cluster start spec --local -q
import tfdist as tf
tf.reset_default_graph()
with tf.device("/job:ps"):
    a = tf.Variable(1.0, name="a")
c = tf.add(a, 2.0, name="c")
sess = tf.Session("grpc://worker-0.worker.svc:2222")
sess.run(a.initializer)
%trace -q -o one sess.run(c);
%trace -q -n 2 -o two sess.run(c);
%timeline --rpcs
%timeline one --against two
%tfdist report FILE -q --last 1
sess.close()
"""


def test_all_cells_run_twice_in_one_kernel(notebook, tmp_path):
    for _ in range(2):
        for cell in AGAIN.replace("FILE", f"{tmp_path}/r.html").strip().split("\n%"):
            notebook.run(cell if cell.startswith("%") else f"%{cell}")
    card = notebook.text("%cluster")
    assert "stands for" in card
    assert "ps-0.ps.svc:2222" in card
    assert notebook.text("%cluster stop").startswith("stopped cluster 'main': 2 servers")
