"""Two browsers by the W3C's own protocols: Firefox by WebDriver BiDi, WebKitGTK by WebDriver. Each opens an address and
answers an expression.
"""

import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import suppress
from itertools import count

import requests
from websockets.sync.client import connect


class Firefox:
    """Firefox without a window, in a fresh profile; what its console calls an error is kept in `faults`."""

    def __init__(self, program, profile):
        self.faults, self.number = [], count()
        words = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        self.process = subprocess.Popen([program, *words], stderr=subprocess.PIPE, text=True)
        address = next(
            found[1] for line in self.process.stderr if (found := re.search(r"BiDi listening on (\S+)", line))
        )
        self.socket = connect(f"{address}/session", max_size=None)
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])
        self.tab = self.send("browsingContext.create", type="tab")["context"]

    def send(self, method, **params):
        number = next(self.number)
        self.socket.send(json.dumps(dict(id=number, method=method, params=params)))
        while (answer := json.loads(self.socket.recv(timeout=120))).get("id") != number:
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.faults.append(answer["params"]["text"])
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, address):
        self.send("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def run(self, expression):
        answer = self.send(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target=dict(context=self.tab),
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer
        return json.loads(answer["result"].get("value", "null"))

    def close(self):
        with suppress(Exception):
            self.send("browser.close")
        self.process.terminate()
        self.process.wait()


class WebKit:
    """WebKitGTK's small browser on a screen that nobody sees."""

    faults = ()

    def __init__(self, program):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        screen = [os.environ["SCREEN"], "--auto-servernum", program, f"--port={port}"]
        self.process = subprocess.Popen(
            screen, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.address = f"http://127.0.0.1:{port}/session"
        for _ in range(100):
            with suppress(requests.ConnectionError):
                self.address += "/" + self.post("", capabilities={})["sessionId"]
                return
            time.sleep(0.2)
        raise TimeoutError(f"{program} does not answer")

    def post(self, what, **body):
        answer = requests.post(self.address + what, json=body, timeout=120).json()["value"]
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer

    def open(self, address):
        self.post("/url", url=address)

    def run(self, expression):
        return json.loads(self.post("/execute/sync", script=f"return JSON.stringify({expression})", args=[]) or "null")

    def close(self):
        with suppress(Exception):
            requests.delete(self.address, timeout=20)
        os.killpg(self.process.pid, signal.SIGTERM)  # the screen and the driver with the script that started them
        self.process.wait()
