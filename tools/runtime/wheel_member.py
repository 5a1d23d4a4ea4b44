"""Read one member of a wheel on the Python package index:

    python -m tools.runtime.wheel_member PACKAGE RELEASE MEMBER FILE

By HTTP ranges this moves the member's bytes only; an index that refuses ranges costs the whole wheel.
Runs in the project's environment, which has the two packages it needs.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import zipfile

import requests
from pypi_simple import PYPI_SIMPLE_ENDPOINT, PyPISimple
from remotezip import RemoteIOError, RemoteZip

from tools.runtime.messages import Progress


def member(package, release, name):
    with PyPISimple(index()) as client:
        packages = client.get_project_page(package).packages
    (wheel,) = [p for p in packages if p.version == release and p.package_type == "wheel"]
    try:
        with RemoteZip(wheel.url) as archive:
            return archive.read(name)
    except RemoteIOError:  # ranges refused
        return member_of_whole(wheel, name)


def index():
    """The index pip is set up for, or PyPI."""
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True
    )
    return os.environ.get("PIP_INDEX_URL") or pip.stdout.strip() or PYPI_SIMPLE_ENDPOINT


def member_of_whole(wheel, name):
    with tempfile.TemporaryFile() as file, requests.get(wheel.url, stream=True, timeout=30) as answer:
        answer.raise_for_status()
        progress = Progress(wheel.filename, int(answer.headers.get("Content-Length") or 0))
        for block in answer.iter_content(1 << 16):
            file.write(block)
            progress.add(len(block))
        progress.close()
        return zipfile.ZipFile(file).read(name)


if __name__ == "__main__":
    *source, out = sys.argv[1:]
    with contextlib.suppress(KeyboardInterrupt):
        try:
            content = member(*source)
        except Exception as error:  # whatever it was, the next source or the closing sentence deals with it
            sys.exit(f"{type(error).__name__}: {str(error)[:200]}")
        with open(out, "wb") as file:
            file.write(content)
