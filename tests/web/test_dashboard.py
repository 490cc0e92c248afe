"""The dashboard: closed unless asked for, for who has its token, on this machine only."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

import tfdist as tf
from tests.jupyter.lab import needs_chromium
from tfdist.cli.main import main
from tfdist.launch.start import start_cluster
from tfdist.web.dashboard import Dashboard


@pytest.fixture
def cluster():
    """Yield a cluster in this process."""
    found = start_cluster({"ps": 1, "worker": 2}).require()
    yield found
    found.stop()


@pytest.fixture
def open_page(cluster):
    """Yield the dashboard of the cluster."""
    with Dashboard(cluster) as found:
        yield found


def asked(dashboard, path="/", host=None, method="GET", token=None):
    """Return (status, headers, body) of a request."""
    address = urlsplit(dashboard.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    query = address.query if token is None else f"token={token}"
    headers = {} if host is None else {"Host": host}
    try:
        connection.request(method, f"{path}?{query}", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 200),
        ({"path": "/panels"}, 200),
        ({"host": "localhost:8888"}, 200),  # Jupyter's proxy
        ({"path": "/other"}, 404),
        ({"path": "/../../etc/passwd"}, 404),
        ({"token": ""}, 403),
        ({"token": "guessed"}, 403),
        ({"token": "%C3%A9"}, 403),
        ({"path": "/panels", "token": "guessed"}, 403),
        ({"host": "attacker.example"}, 421),  # whose name resolves to 127.0.0.1 now
        ({"host": "127.0.0.1.attacker.example"}, 421),
        ({"host": ""}, 421),
        ({"method": "POST"}, 501),
    ],
)
def test_who_is_answered(open_page, change, status):
    found, headers, body = asked(open_page, **change)
    assert found == status
    if status != 200:
        assert "/job:" not in body
    if status in (200, 403, 404, 421):
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers


def test_it_listens_on_the_loopback_and_says_no_token_by_itself(open_page):
    assert open_page._server.server_address[0] == "127.0.0.1"
    assert open_page._token not in repr(open_page)
    assert repr(open_page) == "<Dashboard of cluster 'main'>"


def test_it_shows_the_panels_of_now(cluster, open_page, monkeypatch):
    monkeypatch.setattr("tfdist.web.dashboard.EVERY", 0.0)
    with tf.Graph().as_default(), tf.Session(cluster.target()) as session:
        session.run(tf.constant(1.0))
    told = json.loads(asked(open_page, "/panels")[2])
    assert 'data-task="/job:worker/task:1"' in told["cluster"]
    assert "There is no queue" in told["queues"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"token": "guessed"}, "Open the whole address that was printed"),
        ({"host": "hub.example.org"}, "--host and the proxy's name"),
    ],
)
def test_who_is_refused_is_told_what_to_do(open_page, change, said):
    assert said in asked(open_page, **change)[2]


def test_a_proxy_asks_under_its_own_name_if_that_is_allowed(cluster):
    with Dashboard(cluster, hosts=["Hub.example.org"]) as page:
        assert asked(page, host="hub.example.org")[0] == 200
        assert asked(page, host="other.example.org")[0] == 421


@pytest.fixture
def command(cluster):
    """Yield a function that starts `tfdist dashboard` of the cluster: (process, its line)."""
    begun = []

    def start(*options):
        words = [sys.executable, "-m", "tfdist", "dashboard", *options]
        pipe = subprocess.PIPE
        begun.append(subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True))
        return begun[-1], begun[-1].stdout.readline()

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def test_the_command_serves_until_ctrl_c(cluster, command):
    (first, *_) = cluster.servers
    process, told = command(first.address, "--host", "hub.example.org")
    assert told.startswith("http://127.0.0.1:")
    assert told.endswith(f"shows the panels of {first.target}, on this machine, to who has this "
                         "address; Ctrl-C ends that\n")  # fmt: skip
    page = Told(told.partition(" ")[0])
    assert asked(page, host="hub.example.org")[0] == 200
    panels = json.loads(asked(page, "/panels")[2])
    assert 'data-task="/job:worker/task:1"' in panels["cluster"]  # whoever is asked, all tell
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("", "")
    assert process.returncode == 0


def test_a_peer_that_dies_is_said_to_be_silent(cluster, command):
    tasks = {}
    for server in cluster.servers:
        tasks.setdefault(server.task_name[5:].partition("/")[0], []).append(server.address)
    process, told = command(json.dumps(tasks))
    page = Told(told.partition(" ")[0])
    assert "up, idle" in json.loads(asked(page, "/panels")[2])["cluster"]
    cluster.stop()
    seen = ""
    while "up, idle" in seen or not seen:
        seen = json.loads(asked(page, "/panels")[2])["cluster"]
    assert seen.count("data-task") == 3
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 0


class Told:
    """A page of which the address is known."""

    def __init__(self, url):
        self.url = url


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["127.0.0.1:1"], 1, "grpc://127.0.0.1:1: "),
        (["no.json"], 1, "tfdist: cannot use no.json: No such file"),
        (["nobody"], 1, "no cluster 'nobody' runs"),
        (["--port", "99999"], 2, "must be a port, up to 65535, not '99999'"),
        (["--port", "-1"], 2, "must be a number of zero or more, not '-1'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_served(words, code, said, capsys):
    try:
        found = main(["dashboard", *words])
    except SystemExit as error:
        found = error.code
    assert found == code
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""


def test_a_port_that_is_taken(open_page, cluster, capsys):
    taken = urlsplit(open_page.url).port
    assert main(["dashboard", cluster.servers[0].address, "--port", str(taken)]) == 1
    assert capsys.readouterr().err == (
        f"tfdist: port {taken}: {os.strerror(98)}; --port takes another, 0 a free one\n"
    )


class _Proxied(BaseHTTPRequestHandler):
    """Hands on what is asked for behind a prefix, as jupyter-server-proxy does."""

    prefix, page = "/user/me/proxy/8787", None

    def do_GET(self):
        path, _, query = self.path.removeprefix(self.prefix).partition("?")
        status, headers, body = asked(self.page, path or "/", token=query.removeprefix("token="))
        self.send_response(status)
        for name in ("Content-Type", "Content-Security-Policy"):
            self.send_header(name, headers[name])
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def proxy(open_page):
    """Yield the address of a proxy of the page."""
    handler = type("Proxied", (_Proxied,), {"page": open_page})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
@needs_chromium
def test_a_browser_shows_it_till_its_end(open_page, proxy):
    from tests.jupyter.lab import browser

    _, _, query = open_page.url.partition("/?")
    with browser("http://127.0.0.1") as found:
        task = found.page.locator("tr[data-task='/job:worker/task:1']")
        for prefix in (_Proxied.prefix, f"{_Proxied.prefix}/"):
            found.page.goto(f"{proxy}{prefix}?{query}")
            task.wait_for()
        found.page.goto(open_page.url)
        task.wait_for()
        found.page.locator("tr[data-lane='/job:worker/task:1']").wait_for()
        canvas = found.page.locator("#stream .tfdist-stream canvas")
        found.page.wait_for_function("() => document.getElementById('stream').lanes.data.span > 1")
        canvas.dblclick(position={"x": 400, "y": 12})
        lanes = "document.getElementById('stream').lanes"
        assert found.page.evaluate(f"() => {lanes}.to - {lanes}.from < {lanes}.data.span / 2")
        assert "There is no queue" in found.page.locator("#queues").inner_text()
        assert found.problems == []
        open_page.close()
        found.page.locator("#state:has-text('seen last')").wait_for()
        assert task.is_visible()
