"""Measure the built book on this machine, next to a bare Pyodide and numpy page in the same run: python bench/run.py
[--repeat 3] [--only ppo,grpo]

Every start is a new browser with an empty cache; files come gzipped from a server on this machine, as GitHub Pages
sends them, so that what is measured is computation and not a network. Times are milliseconds from navigation, or from
the knob's move, to the next painted frame.
"""

import argparse
import gzip
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]
BARE, MOVES = ROOT / "bench" / "bare", 30
PAGES = {"(bare)": "bare/", "(worker alone)": "bare/restored.html"}  # bench's own, beside the book's
CHUNK, TURNS = 1 << 14, 500
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

WATCH = (Path(__file__).parent / "watch.js").read_text(encoding="utf-8")


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--repeat", type=int, default=3, help="cold starts of every page; the median is shown")
    asked.add_argument("--only", default="", help="widgets by name, with commas")
    wanted = asked.parse_args()

    from tools.runtime import environment

    python = environment.install("requirements.txt", "requirements-test.txt")
    if Path(sys.prefix) != environment.VENV:
        return subprocess.run([python, __file__, *sys.argv[1:]], cwd=ROOT).returncode

    from playwright.sync_api import sync_playwright

    from tools import book

    site, chromium = ROOT / "_cache" / "tested-site", environment.chromium()
    with gzipped_server(site) as server, sync_playwright() as playwright:
        book.build(site, server.address, strict=True)
        widgets = {
            name: page for name, page in widgets_of(site).items() if not wanted.only or name in wanted.only.split(",")
        }

        def launch():
            return playwright.chromium.launch(executable_path=chromium, args=FLAGS)

        measured(launch, server, "bare/", 1)  # the server's first packing of the files is not the reader's time
        with launch() as browser:
            print(
                f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Chromium "
                f"{browser.version}, "
                f"median of {wanted.repeat} cold starts\n"
            )
        print(
            f"{'':21}{'from navigation to, ms':>27}{'':17}{'the page until then':>25}"
            f"{'a knob, median and p95 of 30, ms':>33}"
            f"{'a default run, ms':>22}"
        )
        print(
            f"{'page':21}{'figure':>9}{'plot':>9}{'Python':>9}{'of bare':>9}{'MB':>8}"
            f"{'layouts':>9}{'styles':>8}{'ms':>8}"
            f"{'answer':>12}{'':8}{'picture':>8}{'':8}{'first frame':>14}{'end':>8}"
        )
        failed = 0
        for name, page in {**PAGES, **widgets}.items():
            found = measured(launch, server, page, wanted.repeat)
            failed |= bool(fault(found))
            print(row(name, found), flush=True)

        print("\nOver a link of 20 Mbit/s and 40 ms: ms from navigation to Python's first answer, of bare, MB")
        some = next(iter(widgets.values()))
        server.link = Link(20e6 / 8, 0.04)
        bare = None
        for name, page, server.without in (
            ("(bare)", "bare/", ""),
            ("(worker alone)", PAGES["(worker alone)"], ""),
            ("no snapshot", some, "snapshot.json"),
            (some.strip("/"), some, ""),
        ):
            starts = [cold_start(launch, server, page) for _ in range(wanted.repeat)]
            live = statistics.median(start["live"] for start in starts)
            bare = bare or live
            print(f"{name:16}{live:18.0f}{live / bare:9.2f}{starts[0]['bytes'] / 1e6:8.2f}", flush=True)
        server.link = None
        print(
            f"\nThe page's heap on {some} after {TURNS} knob moves and after as many again, "
            f"MB:{heap(launch, server, some)}"
        )
    return failed


class Link:
    """One wire for all answers, so many bytes a second, and a delay before each."""

    def __init__(self, rate, delay):
        self.rate, self.delay, self.wire = rate, delay, threading.Lock()

    def chunks(self, content):
        time.sleep(self.delay)
        for at in range(0, len(content), CHUNK):
            chunk = content[at : at + CHUNK]
            with self.wire:
                time.sleep(len(chunk) / self.rate)
            yield chunk


@contextmanager
def opened(launch, server, page):
    """A page in a new browser with nothing in its cache, once Python has answered."""
    with launch() as browser:
        tab = browser.new_page(viewport=dict(width=1280, height=1000), bypass_csp=True)
        tab.add_init_script(WATCH)
        tab.devtools = tab.context.new_cdp_session(tab)
        tab.devtools.send("Performance.enable")
        server.sent = 0
        tab.goto(server.address + page, wait_until="commit")
        tab.wait_for_function("window.seen?.live && window.seen.figure", timeout=120_000)
        yield tab


def cold_start(launch, server, page):
    """What was seen when, the bytes, and the page's own work until then: layouts, style passes, seconds of both."""
    with opened(launch, server, page) as tab:
        counted = tab.devtools.send("Performance.getMetrics")["metrics"]
        work = {metric["name"]: metric["value"] for metric in counted}
        return {
            **tab.evaluate("window.seen"),
            "bytes": server.sent,
            "layouts": work["LayoutCount"],
            "styles": work["RecalcStyleCount"],
            "work": 1e3 * (work["LayoutDuration"] + work["RecalcStyleDuration"]),
        }


def heap(launch, server, page):
    with opened(launch, server, page) as tab:
        tab.wait_for_function("seen.plot")
        sizes = []
        for _ in range(2):
            for i in range(TURNS):
                tab.evaluate(f"turn({share(i)})()")
            tab.wait_for_function("document.querySelector('rl-widget').settled")
            tab.devtools.send("HeapProfiler.collectGarbage")
            sizes.append(tab.devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
    return "".join(f"{size:7.1f}" for size in sizes)


def widgets_of(site):
    """Widget name -> page that holds it."""
    found = {}
    for path in sorted(site.glob("*/index.html")):
        _, mark, rest = path.read_text(encoding="utf-8").partition('<figure class="rl-widget" id="')
        if mark:
            found[rest.partition('"')[0]] = f"{path.parent.name}/"
    return found


def measured(launch, server, page, repeat):
    pairs = [
        (cold_start(launch, server, "bare/"), cold_start(launch, server, page)) for _ in range(repeat)
    ]  # side by side: a machine's speed wanders
    starts = [start for _, start in pairs]
    with opened(launch, server, page) as tab:
        tab.wait_for_function("seen.plot || !document.querySelector('figure.rl-widget')")
        trains = tab.query_selector(
            "rl-widget .go"
        )  # not the button of a reader's code, which stands in the figure too
        first = tab.evaluate("after((widget) => widget.querySelector('rl-widget .go').click())") if trains else None
        knob = tab.evaluate("knob() ? 'yes' : 'none'")
        moves = [tab.evaluate(f"after(turn({share(i)}))") for i in range(MOVES)] if knob != "none" else []

    def median(key):
        return (
            statistics.median(start[key] for start in starts if key in start)
            if any(key in start for start in starts)
            else None
        )

    share_of_bare = statistics.median(start["live"] / bare["live"] for bare, start in pairs)
    return dict(
        share=share_of_bare,
        figure=median("figure"),
        plot=median("plot"),
        live=median("live"),
        bytes=median("bytes"),
        layouts=median("layouts"),
        styles=median("styles"),
        work=median("work"),
        moves=moves,
        first=first,
    )


def share(i):
    """Thirty places of a slider, far from one another in turn."""
    return i * 11 % MOVES / (MOVES - 1)


def fault(m):
    """What the page said where a move or a run failed."""
    return next((move["error"] for move in [*m["moves"], m["first"] or {}] if "error" in move), "")


def row(name, m):
    start = "".join(f"{'–':>9}" if m[key] is None else f"{m[key]:9.0f}" for key in ("figure", "plot", "live"))
    knob = "".join(spread([move[key] for move in m["moves"] if key in move]) for key in ("answer", "picture"))
    run = f"{m['first']['picture']:14.0f}{m['first']['run']:8.0f}" if m["first"] and "run" in m["first"] else ""
    work = f"{m['layouts']:9.0f}{m['styles']:8.0f}{m['work']:8.0f}"
    return f"{name:21}{start}{m['share']:9.2f}{m['bytes'] / 1e6:8.2f}{work}{knob}{run}  {fault(m)}"


def spread(times):
    """Median and 95th percentile: the smallest of the times that 95 % do not exceed."""
    return (
        f"{statistics.median(times):9.0f}{sorted(times)[-(-len(times) * 95 // 100) - 1]:7.0f}"
        if times
        else f"{'–':>16}"
    )


def gzipped_server(site):
    from tools.runtime.serve import Handler, Server

    class Gzipped(Handler):
        packed = {}

        def do_GET(self):
            path = Path(self.translate_path(self.path))
            path = path / "index.html" if path.is_dir() else path
            if not path.is_file() or path.name == self.server.without:
                return self.send_error(404)
            key = path, path.stat().st_mtime_ns
            if key not in self.packed:
                plain = path.read_bytes()
                worth = path.suffix in (".html", ".css", ".js", ".mjs", ".json", ".svg", ".wasm", ".xml", ".txt")
                self.packed[key] = gzip.compress(plain, 6) if worth else plain, worth
            content, zipped = self.packed[key]
            self.send_response(200)
            self.send_header("Content-Type", self.guess_type(str(path)))
            self.send_header("Content-Length", str(len(content)))
            if zipped:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.server.sent += len(content)
            for chunk in self.server.link.chunks(content) if self.server.link else [content]:
                self.wfile.write(chunk)

        def translate_path(self, path):
            below = path.partition("?")[0].removeprefix(self.server.base)
            if below.startswith(("vendor/", "assets/")):  # bench's pages take the book's files, wherever they are
                return str(next(site.glob("build-*")) / below)
            return (
                str(BARE / below.removeprefix("bare/")) if below.startswith("bare/") else super().translate_path(path)
            )

    Server.link, Server.without = None, ""
    return Server(site, port=8500, base="/rl-post-training/", cache_control="max-age=600", handler=Gzipped)


if __name__ == "__main__":
    sys.exit(main())
