"""The dashboard: closed unless asked for, for who has its token, on this machine only."""

import http.client
import json
from urllib.parse import urlsplit

import pytest

from tests.jupyter.lab import needs_chromium
from tests.ports import free_port
from tfdist.jupyter.dashboard import Dashboard


@pytest.fixture
def open_page(on_cluster):
    """Yield the dashboard of a cluster with a session."""
    with Dashboard(on_cluster.value("cluster")) as found:
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


def test_it_shows_the_panels_of_now(on_cluster, open_page, monkeypatch):
    monkeypatch.setattr("tfdist.jupyter.dashboard.EVERY", 0.0)
    on_cluster.run("for _ in range(20): sess.run(c)")
    told = json.loads(asked(open_page, "/panels")[2])
    assert 'data-task="/job:worker/task:1"' in told["cluster"]
    assert "There is no queue" in told["queues"]


def test_the_magic_opens_one_and_stop_closes_it(on_cluster):
    text = on_cluster.text("%cluster dashboard -o board")
    board = on_cluster.value("board")
    assert text.startswith(f"{board.url} shows the panels of cluster 'main'")
    assert on_cluster.text("%cluster dashboard") == text
    assert on_cluster.text("%cluster dashboard close") == "the dashboard is closed"
    assert not board.is_open
    port = free_port()
    on_cluster.run(f"%cluster dashboard --port {port} -q -o board")
    assert f":{port}/" in on_cluster.value("board").url
    on_cluster.run("%cluster stop -q")
    assert not on_cluster.value("board").is_open


@pytest.mark.slow
@needs_chromium
def test_a_browser_shows_it_and_says_when_it_is_closed(open_page):
    from tests.jupyter.lab import browser

    base = open_page.url.partition("/?")[0]
    with browser(base) as found:
        found.page.goto(open_page.url)
        found.page.locator("tr[data-task='/job:worker/task:1']").wait_for()
        assert "There is no queue" in found.page.locator("#queues").inner_text()
        assert found.problems == []
        open_page.close()
        found.page.locator("#state:has-text('seen last')").wait_for()
        assert found.page.locator("tr[data-task='/job:worker/task:1']").is_visible()
