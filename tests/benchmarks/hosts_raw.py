"""What a bare socket does between two hosts: an answer of a few bytes, and one of 100 MB.

`python hosts_raw.py serve ADDRESS PORT KEYS` answers until its input ends; `python hosts_raw.py ask
ADDRESS PORT KEYS` reads names of rows and answers each as `hosts_client.py` does. KEYS is the
folder of a certificate, for TLS, or "".
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import sys
import threading
import time
from pathlib import Path

from hosts_client import LARGE, LARGE_ROWS, ROUND, SMALL

SIZES = {SMALL: 64, **dict.fromkeys(LARGE_ROWS, LARGE)}


def main() -> None:
    """Serve, or ask."""
    what, address, port, keys = sys.argv[1:]
    if what == "serve":
        with socket.create_server((address, int(port))) as listening:
            print("ready", flush=True)
            threading.Thread(target=serve, args=(listening, keys), daemon=True).start()
            sys.stdin.read()
        os._exit(0)
    connected = prepared(socket.create_connection((address, int(port))))
    if keys:
        connected = context(keys, ssl.PROTOCOL_TLS_CLIENT).wrap_socket(
            connected, server_hostname=address
        )
    room = memoryview(bytearray(LARGE))
    print(json.dumps({"version": "sockets"}), flush=True)
    for line in sys.stdin:
        row = line.strip()
        size = SIZES.get(row)
        print(json.dumps({"error": "-"} if size is None else best(connected, room[:size])))
        sys.stdout.flush()


def best(connected: socket.socket, room: memoryview) -> dict[str, float]:
    """Return the shortest time of an answer that fills `room`."""
    found, end = [], time.perf_counter() + ROUND[1]
    while not found or (len(found) < ROUND[0] and time.perf_counter() < end):
        begun = time.perf_counter()
        connected.sendall(f"{len(room):9}".encode())
        filled = 0
        while filled < len(room):
            filled += connected.recv_into(room[filled:])
        found.append(time.perf_counter() - begun)
    return {"seconds": min(found)}


def serve(listening: socket.socket, keys: str) -> None:
    """Answer whoever connects with as many bytes as are asked for."""
    content = memoryview(os.urandom(1 << 20) * (LARGE // (1 << 20) + 1))
    while True:
        accepted = prepared(listening.accept()[0])
        if keys:
            accepted = context(keys, ssl.PROTOCOL_TLS_SERVER).wrap_socket(
                accepted, server_side=True
            )
        while asked := accepted.recv(9):
            accepted.sendall(content[: int(asked)])


def prepared(sock: socket.socket) -> socket.socket:
    """Return a socket that sends at once."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def context(keys: str, side: int) -> ssl.SSLContext:
    """Return how both sides show a certificate, as tfdist's do."""
    found = ssl.SSLContext(side)
    found.minimum_version = ssl.TLSVersion.TLSv1_3
    found.verify_mode = ssl.CERT_REQUIRED
    folder = Path(keys)
    found.load_verify_locations(folder / "authority.pem")
    found.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return found


if __name__ == "__main__":
    main()
