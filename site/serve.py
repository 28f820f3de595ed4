"""Serves the built site on this machine alone.

    python3 site/serve.py       on a free port, until it is interrupted
"""

import functools
import http.server
import sys
import threading
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent / "target/site/book"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files, without a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A server that takes a browser's leaving for no error."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of connections that their other end has closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def server(handler: type[Quiet] = Quiet) -> http.server.ThreadingHTTPServer:
    """A server of the site on a free port of the loopback address."""
    made = functools.partial(handler, directory=str(BOOK))
    return Server(("127.0.0.1", 0), made)


def in_background(handler: type[Quiet] = Quiet) -> http.server.ThreadingHTTPServer:
    """The same, serving beside the caller."""
    serving = server(handler)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    return serving


if __name__ == "__main__":
    with server() as serving:
        print(f"http://127.0.0.1:{serving.server_address[1]}/", flush=True)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            pass
