"""A page with the live panels, for a browser beside the notebook or without one.

It is closed unless somebody asks for it. It listens on the loopback, answers to loopback names only
(a page of another site that has a name resolve to 127.0.0.1 is refused) and to who has the token;
it takes no input. The page is the panels' own HTML, fetched once a second, with relative addresses:
behind a proxy of Jupyter it works as it is.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Collection
from functools import partial
from hashlib import sha256
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tfdist.errors import OpError
from tfdist.launch.census import CensusTaker, about
from tfdist.plots.live.stream import TaskStream
from tfdist.tracing.census_history import CensusHistory
from tfdist.web.browser_parts import DASHBOARD, script, style_sheet
from tfdist.web.cluster import cluster_html
from tfdist.web.queues import queues_html
from tfdist.web.stream import stream_html

LOOPBACK = "127.0.0.1"
NAMES = frozenset({LOOPBACK, "localhost", "[::1]"})  # of this machine, in a request's Host
EVERY = 1.0  # seconds between two looks, however many browsers ask
# What is shown, in this order.
PANELS: dict[str, Callable[[CensusHistory], str]] = {
    "cluster": cluster_html,
    "stream": lambda history: stream_html(TaskStream(history)),
    "queues": queues_html,
}

# What who is refused may do.
REFUSALS = {
    HTTPStatus.MISDIRECTED_REQUEST: "This page is not served under that name. Behind a proxy, let "
    "tfdist dashboard, or %cluster dashboard, have --host and the proxy's name.\n",
    HTTPStatus.FORBIDDEN: "The token is missing, or that of another page. Open the whole address "
    "that was printed: it ends in ?token=...\n",
}


class Dashboard:
    """The page of a cluster, served until `close`.

    Args:
      target: what is watched: a cluster, or anything else that `tfdist.census` takes.
      port: to listen on; a free one by default.
      hosts: names besides those of the loopback under which it may be asked, for a proxy.

    Attributes:
      history: what was seen while somebody looked.

    Raises:
      OSError: it cannot listen on the port, as when that is taken.
    """

    def __init__(self, target: Any = None, port: int = 0, hosts: Collection[str] = ()) -> None:
        self.target, self._token = target, secrets.token_urlsafe(24)
        self._hosts = NAMES | {host.lower() for host in hosts}
        self._taker, self.history = CensusTaker(target), CensusHistory()
        self._lock, self._began, self._looked = threading.Lock(), time.monotonic(), 0.0
        self._told = b""
        self._server = self._listening(port)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="tfdist-dashboard", daemon=True
        )
        self._thread.start()

    def _listening(self, port: int) -> ThreadingHTTPServer:
        try:
            server = ThreadingHTTPServer((LOOPBACK, port), partial(_Answers, self))
        except (OSError, OverflowError) as error:
            self._taker.close()
            why = getattr(error, "strerror", "") or error
            raise OSError(f"port {port}: {why}; --port takes another, 0 a free one") from None
        server.daemon_threads = True
        return server

    @property
    def told(self) -> str:
        """Return a sentence that says where it is."""
        return (
            f"{self.url} shows the panels{about(self.target)}, on this machine, to who has this "
            "address"
        )

    @property
    def url(self) -> str:
        """Return the page's address, with the token."""
        return f"http://{LOOPBACK}:{self.port}/?token={self._token}"

    @property
    def port(self) -> int:
        """Return where it listens."""
        return int(self._server.server_address[1])

    def is_named(self, hosts: Collection[str]) -> bool:
        """Return whether it may be asked under all of these names."""
        return {host.lower() for host in hosts} <= self._hosts

    @property
    def is_open(self) -> bool:
        """Return whether it is served."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Serve it no more, and let go of what it watched."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
        with self._lock:
            self._taker.close()

    def refusal(self, host: str, token: str) -> HTTPStatus | None:
        """Return with which status a request is refused, or None if it is not.

        Args:
          host: that it names.
          token: that it brings.
        """
        name = host.lower()
        name = name[: name.index("]") + 1] if "]" in name else name.partition(":")[0]
        if name not in self._hosts:
            return HTTPStatus.MISDIRECTED_REQUEST
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return HTTPStatus.FORBIDDEN
        return None

    def panels(self) -> bytes:
        """Return the HTML of each panel by its name, as JSON; at most a second old."""
        with self._lock:
            if time.monotonic() >= self._looked + EVERY:
                self._look()
                found = {name: html(self.history) for name, html in PANELS.items()}
                self._told, self._looked = json.dumps(found).encode(), time.monotonic()
            return self._told

    def _look(self) -> None:
        try:
            found = self._taker.take()
        except OpError:
            return  # a session was closed, or a cluster stopped, just now
        self.history.add(time.monotonic() - self._began, found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Dashboard{about(self.target)}>"  # no token


_open: list[Dashboard] = []


def open_dashboard(target: Any, port: int = 0, hosts: Collection[str] = ()) -> Dashboard:
    """Return the dashboard of a cluster: the one that is open, or a new one.

    Raises:
      ValueError: one is open, at another port, or not under all of these names.
      OSError: see `Dashboard`.
    """
    for each in _open:
        if each.target is target:
            if port not in (0, each.port) or not each.is_named(hosts):
                raise ValueError(
                    f"the dashboard is open at port {each.port}, as it was asked for then; "
                    "%cluster dashboard close, then this once more"
                )
            return each
    _open.append(Dashboard(target, port, hosts))
    return _open[-1]


def close_dashboard(target: Any) -> bool:
    """Close the dashboard of a cluster, and return whether there was one."""
    found = [each for each in _open if each.target is target]
    for each in found:
        _open.remove(each)
        each.close()
    return bool(found)


class _Answers(BaseHTTPRequestHandler):
    """Answers to requests; those of another kind than GET are refused by the base."""

    server_version, sys_version = "tfdist", ""
    timeout = 10  # seconds that a browser may take to ask

    def __init__(self, dashboard: Dashboard, *arguments: Any) -> None:
        self._dashboard = dashboard
        super().__init__(*arguments)

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        token = next(iter(parse_qs(asked.query).get("token", ())), "")
        refusal = self._dashboard.refusal(self.headers.get("Host", ""), token)
        if refusal is not None:
            self._answer(refusal, "text/plain", REFUSALS[refusal].encode())
        elif asked.path == "/panels":
            self._answer(HTTPStatus.OK, "application/json", self._dashboard.panels())
        elif asked.path == "/":
            self._answer(
                HTTPStatus.OK, "text/html; charset=utf-8", page(repr(self._dashboard)[1:-1])
            )
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"Not Found")

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store",
            "Content-Security-Policy": policy(), "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }.items():  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: where a thread's output lands is not sure, and the path has the token."""


def page(title: str) -> bytes:
    """Return the page, which asks for the panels itself."""
    sheet, code = style_sheet("canvas", "view", "report"), script(DASHBOARD)
    places = "".join(f'<div id="{name}"></div>' for name in PANELS)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f'</title><meta name="viewport" content="width=device-width"><style>{sheet}</style></head>'
        f'<body><h1>{escape(title)}</h1><p id="state" role="status"></p>{places}'
        f'<script type="module">{code}</script></body></html>\n'
    ).encode()


def policy() -> str:
    """Return what the page may do: run its one script, and ask where it came from."""
    digest = b64encode(sha256(script(DASHBOARD).encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
