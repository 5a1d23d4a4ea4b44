"""Serve built pages on this machine alone, and have open pages load again when there are new ones."""

import http.server
import os
import threading
from pathlib import Path
from urllib.parse import urlsplit

from tools.runtime.messages import Stop

RELOAD = b"""let seen;
new EventSource("/-/builds").onmessage = ({ data }) => { if (seen && seen !== data) location.reload(); seen = data; };
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {
        ".html": "text/html; charset=utf-8",
        ".htm": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".wasm": "application/wasm",
        ".svg": "image/svg+xml",
        ".xml": "application/xml",
        ".woff2": "font/woff2",
        ".zip": "application/zip",
        ".whl": "application/zip",
        ".gz": "application/gzip",
        ".png": "image/png",
        ".txt": "text/plain; charset=utf-8",
        ".py": "text/plain; charset=utf-8",
        "": "application/octet-stream",
    }

    def __init__(self, request, client, server):
        super().__init__(request, client, server, directory=server.directory)

    def do_GET(self):
        address = urlsplit(self.path).path
        if self.server.live and address == "/-/builds":
            return self.announce_builds()
        if self.server.live and address == "/-/reload.js":
            return self.answer(200, "text/javascript", RELOAD)
        if not address.startswith(self.server.base):
            return self.redirect(self.server.base) if address == "/" else self.send_error(404)
        path = Path(self.translate_path(self.path))
        if path.is_dir() and address.endswith("/"):
            path /= "index.html"
        if self.server.live and path.suffix == ".html" and path.is_file():
            return self.answer(
                200, "text/html; charset=utf-8", path.read_bytes() + b'<script src="/-/reload.js"></script>'
            )
        super().do_GET()

    def translate_path(self, path):
        return super().translate_path("/" + path.removeprefix(self.server.base))

    def announce_builds(self):
        """An event for every new build, until the page is gone; the comments in between are how we notice that."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection, announced = True, None
        while True:
            with self.server.built:
                if self.server.build == announced:
                    self.server.built.wait(10)
                message = f"data: {self.server.build}\n\n" if self.server.build != announced else ":\n\n"
                announced = self.server.build
            self.wfile.write(message.encode())

    def answer(self, status, kind, content):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def redirect(self, to):
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_error(self, status, message=None, explain=None):
        lost = Path(self.server.directory) / "404.html"
        if status == 404 and lost.is_file():
            return self.answer(404, "text/html; charset=utf-8", lost.read_bytes())
        super().send_error(status, message, explain)

    def list_directory(self, path):
        self.send_error(404)

    def end_headers(self):
        self.send_header("Cache-Control", self.server.cache_control)
        super().end_headers()

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    """The pages of a directory under http://127.0.0.1:PORT/base/, at the port asked for or the next one that is
    free.
    """

    daemon_threads = True
    request_queue_size = 128  # a page asks for forty files at once, and a full queue is a refused connection
    allow_reuse_address = os.name != "nt"  # there it would let two servers share a port

    def __init__(self, directory, port=8000, base="/", live=False, cache_control="no-cache", handler=Handler):
        self.directory, self.base, self.live, self.cache_control = str(directory), base, live, cache_control
        self.built, self.build = threading.Condition(), 1
        for self.port in range(port, port + 100):
            try:
                super().__init__(("127.0.0.1", self.port), handler)
                break
            except OSError:
                continue
        else:
            raise Stop(f"None of the ports {port} to {port + 99} of 127.0.0.1 is free.")
        self.address = f"http://127.0.0.1:{self.port}{base}"

    def announce(self):
        """There are new pages."""
        with self.built:
            self.build += 1
            self.built.notify_all()

    def handle_error(self, request, client_address):
        pass  # a reader who closed the page is no error

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()
