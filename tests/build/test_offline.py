"""What the build does for readers without a network: addresses named by content, the list of all files, and the
archive.
"""

import hashlib
import http.server
import json
import threading
import urllib.request
import zipfile
from functools import partial

import pytest

import build
from tools.runtime import files, offline

PAGE = (
    '<link href="../assets/style.css"><a href="../assets.html"><script>{"search": '
    '"../assets/search.js"}</script><code>href=assets/</code>'
)


def pages(site, style="body{}"):
    """A small book as MkDocs leaves it."""
    for name, content in {
        "index.html": '<link href="assets/style.css"><span class="megabytes">?</span> MB',
        "ppo/index.html": PAGE,
        "sw.js": "",
        ".built-from": "x",
        "404.html": '<link href="/some-repo/assets/style.css">',
        "assets/style.css": style,
        "assets/bundle.js.map": "{}",
        "vendor/pyodide.wasm": b"\0asm" * 500_000,
    }.items():
        files.write(site / name, content)
    offline.seal(site)
    return json.loads((site / "offline.json").read_text())


def test_every_page_names_the_runtime_by_its_content(tmp_path):
    build = pages(tmp_path)["build"]
    assert (tmp_path / build / "vendor" / "pyodide.wasm").exists() and not (tmp_path / "assets").exists()
    assert f'href="../{build}/assets/style.css"' in (text := (tmp_path / "ppo" / "index.html").read_text())
    assert (
        f'"search": "../{build}/assets/search.js"' in text
        and 'href="../assets.html"' in text
        and "<code>href=assets/" in text
    )
    assert f'href="/some-repo/{build}/assets/style.css"' in (tmp_path / "404.html").read_text()


def test_the_search_of_either_generator_finds_its_worker():
    for written in ('"search": "../assets/search.js"', '"search":"../assets/search.js"'):  # MkDocs, Zensical
        assert offline.NAMED.search(written)[2] == "../"


def test_the_name_of_the_runtime_changes_exactly_when_one_of_its_files_does(tmp_path):
    first, same, changed = (
        pages(tmp_path / name, style)["build"] for name, style in (("1", "body{}"), ("2", "body{}"), ("3", "p{}"))
    )
    assert first == same != changed


def test_the_offline_list_names_every_file_of_the_book_with_checksum_and_size(tmp_path):
    record = pages(tmp_path)
    build = record["build"]
    assert [url for url, _, _ in record["files"]] == [
        f"{build}/assets/style.css",
        f"{build}/vendor/pyodide.wasm",
        "",
        "ppo/",
    ]
    for url, sum_, size in record["files"]:
        content = (tmp_path / (url if url and not url.endswith("/") else f"{url}index.html")).read_bytes()
        assert (sum_, size) == (hashlib.sha256(content).hexdigest(), len(content))


def test_the_offline_button_says_how_many_megabytes_it_stores(tmp_path):
    pages(tmp_path)
    assert "2 MB" in (tmp_path / "index.html").read_text()  # half a million times four bytes


def test_the_archive_starts_by_the_line_its_readme_gives(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(
        "tools.book.build", lambda out, generator, strict: pages(out) if strict else pytest.fail("no strict build")
    )
    assert not build.main("build", "--zip")
    with zipfile.ZipFile(tmp_path / "rl-post-training.zip") as archive:
        archive.extractall(tmp_path / "stick")
    (folder,) = (tmp_path / "stick").iterdir()
    assert "python -m http.server 8000 --bind 127.0.0.1" in (folder / "README.txt").read_text()
    assert {path.relative_to(folder) for path in folder.rglob("*")} - {
        path.relative_to(tmp_path / "_site") for path in (tmp_path / "_site").rglob("*")
    } == {(folder / "README.txt").relative_to(folder)}
    for name in ("x.mjs", "x.js", "x.json"):
        files.write(folder / name, "")
    handler = partial(
        http.server.SimpleHTTPRequestHandler, directory=folder
    )  # what `python -m http.server` answers with
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *words: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        kinds = {
            name: urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{name}").headers["Content-Type"]
            for name in (
                "x.mjs",
                "x.js",
                "x.json",
                next(folder.glob("build-*/vendor/*.wasm")).relative_to(folder).as_posix(),
            )
        }
        server.shutdown()
    assert list(kinds.values()) == [
        "text/javascript",
        "text/javascript",
        "application/json",
        "application/wasm",
    ]  # else modules and wasm are refused


@pytest.mark.parametrize("words", [("build", "--zap"), ("serve", "--zip"), ("build", "--zip", "more")])
def test_an_unknown_build_option_is_refused_with_the_valid_one(words, capsys):
    assert build.main(*words) == 2
    assert "--zip" in capsys.readouterr().out
