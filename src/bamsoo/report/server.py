"""The server of the live page. It has two addresses, and never serves a file."""

import ipaddress
import socket
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .._version import __version__
from ..errors import SettingsError
from .page import as_json, render_live
from .watch import Watch

LOOPBACK = "127.0.0.1"

SILENCE = 30.0
"""Seconds after which a silent connection is closed."""


class Server(ThreadingHTTPServer):
    """Answers requests for the page and for the changes since the last request.

    Parameters
    ----------
    watch : Watch
    host : str, default "127.0.0.1"
        The address to listen on. With any address other than loopback, everybody who can reach the
        machine can read the study.
    port : int, default 0
        The port to listen on; 0 takes any free one.
    """

    daemon_threads = True

    def __init__(self, watch: Watch, host: str = LOOPBACK, port: int = 0) -> None:
        self.watch, self.host = watch, host
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise SettingsError(
                f"{host}, port {port}: the page cannot be served there ({error}); give another "
                "--port, or 0 for any free one"
            ) from error

    def server_bind(self) -> None:
        """Bind without looking up the host name, which can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a connection, such as a browser that leaves in the middle of a reply."""

    @property
    def url(self) -> str:
        """The address to open."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}/"

    def is_asked_for(self, name: str | None) -> bool:
        """Whether a Host header names this server.

        Another web site could make its own name point to this machine, and so read the study
        through the browser of a visitor (DNS rebinding). Such a request carries that site's name.
        """
        try:
            host = urlsplit(f"//{name}").hostname
        except ValueError:
            return False
        if host is None:
            return False
        if host in ("localhost", self.host.lower()):
            return True
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True


class Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = f"bamsoo/{__version__}"
    sys_version = ""
    timeout = SILENCE

    def do_GET(self) -> None:
        """Send the page or the changes; there is nothing else."""
        if not self.server.is_asked_for(self.headers.get("Host")):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "This server has another name.")
            return
        address = urlsplit(self.path)
        watch = self.server.watch
        if address.path == "/":
            page, policy = render_live(watch.news({"trials": 0, "search": 0}))
            self._send(
                HTTPStatus.OK,
                "text/html; charset=utf-8",
                page.encode("utf-8", "backslashreplace"),
                policy,
            )
        elif address.path == "/news":
            known = {name: _version(text[0]) for name, text in parse_qs(address.query).items()}
            answer = as_json(watch.news(known))
            self._send(HTTPStatus.OK, "application/json", answer.encode())
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "There is nothing here; the page is at /.")

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True
        self._send(status, "text/plain; charset=utf-8", f"{why}\n".encode())

    def _send(
        self, status: HTTPStatus, kind: str, content: bytes, policy: str = "default-src 'none'"
    ) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, since each page sends a request every second."""


def _version(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 20 else 0
