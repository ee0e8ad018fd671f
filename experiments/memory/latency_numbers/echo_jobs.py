"""The other end of a connection: a process that sends each byte back."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

HOST = "127.0.0.1"


def connected(port: int) -> socket.socket:
    """Return a connection that sends every byte at once (no Nagle delay)."""
    connection = socket.create_connection((HOST, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def listen(_request: dict[str, Any]) -> dict[str, Any]:
    """Echo one connection, on a port that the system chooses, until this process ends."""
    listener = socket.create_server((HOST, 0))
    threading.Thread(target=_echo, args=(listener,), daemon=True).start()
    return {"port": listener.getsockname()[1]}


def _echo(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, contextlib.suppress(OSError):
        while byte := connection.recv(1):
            connection.send(byte)


if __name__ == "__main__":
    from experiments.tools.serving import serve

    serve({"listen": listen})
