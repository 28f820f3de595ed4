"""Serves the built site on this machine alone.

    python3 site/serve.py       on a free port, until it is interrupted
"""

import functools
import http.server
import threading
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent / "target/site/book"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files, without a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def server(handler: type[Quiet] = Quiet) -> http.server.ThreadingHTTPServer:
    """A server of the site on a free port of the loopback address."""
    made = functools.partial(handler, directory=str(BOOK))
    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), made)


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
