"""The two commands where things go wrong: each ends in one sentence and leaves nothing half done. No test here uses the
network.
"""

import ast
import hashlib
import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

import build
from tools import book
from tools.pages import links
from tools.runtime import environment, fetch, files, snapshot, vendor
from tools.runtime.messages import Stop
from tools.runtime.serve import Server

WHEEL, CONTENT = "numpy-0.0-wasm32.whl", b"the bytes that were published"
SUM = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def caches(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "CACHE", tmp_path / "clone" / "_cache")
    monkeypatch.setattr(fetch, "SHARED", tmp_path / "home" / ".cache")
    return fetch.CACHE / WHEEL, fetch.SHARED / WHEEL


def delivers(content):
    return lambda path: path.write_bytes(content)


def fails(error):
    def function(*words):
        raise error

    return function


# --- fetching


def test_the_first_source_that_delivers_the_published_bytes_is_the_last_one_asked(caches):
    sources_asked = []
    sources = [("a", fails(FileNotFoundError())), ("b", delivers(CONTENT)), ("c", sources_asked.append)]
    assert fetch.wheel(WHEEL, SUM, sources).read_bytes() == CONTENT
    assert not sources_asked


def test_bytes_that_differ_from_the_published_sum_are_refused_and_not_kept(caches):
    with pytest.raises(Stop, match="its sha256 is"):
        fetch.wheel(WHEEL, SUM, [("the mirror", delivers(CONTENT + b"!"))])
    assert list(fetch.CACHE.iterdir()) == []


def test_when_no_source_answers_one_sentence_says_what_was_tried_and_where_the_file_goes(caches):
    with pytest.raises(Stop) as stopped:
        fetch.wheel(
            WHEEL,
            SUM,
            [
                ("the CDN", fails(urllib.error.URLError(OSError(-2, "Name or service not known")))),
                ("the index", fails(Stop("no answer"))),
            ],
        )
    sentence = str(stopped.value)
    assert "the CDN (Name or service not known)" in sentence and "the index (no answer)" in sentence
    assert str(fetch.CACHE / WHEEL) in sentence and SUM in sentence
    assert "\n" not in sentence


def test_a_file_put_into_the_cache_by_hand_is_used_without_a_download(caches):
    ours, _ = caches
    files.write(ours, CONTENT)
    assert fetch.wheel(WHEEL, SUM, [("anyone", fails(AssertionError("asked")))]) == ours


def test_a_damaged_cache_is_fetched_again(caches, capsys):
    ours, shared = caches
    files.write(ours, CONTENT[:-1])
    fetch.wheel(WHEEL, SUM, [("the CDN", delivers(CONTENT))])
    assert ours.read_bytes() == shared.read_bytes() == CONTENT
    assert "damaged" in capsys.readouterr().out


def test_a_second_clone_finds_the_files_that_the_first_one_downloaded(caches, monkeypatch, tmp_path):
    fetch.wheel(WHEEL, SUM, [("the CDN", delivers(CONTENT))])
    monkeypatch.setattr(fetch, "CACHE", tmp_path / "second clone" / "_cache")
    monkeypatch.setattr(fetch, "downloaded", fails(AssertionError("asked")))
    lock = tmp_path / "node_modules" / "pyodide"
    files.write(lock / "pyodide-lock.json", json.dumps(dict(packages=dict(numpy=dict(file_name=WHEEL, sha256=SUM)))))
    files.write(lock / "package.json", json.dumps(dict(version="0.0")))
    monkeypatch.setattr(fetch, "ROOT", tmp_path)
    path, sum_ = fetch.numpy_wheel(python=None)
    assert path.read_bytes() == CONTENT and sum_ == SUM


def test_a_read_only_home_folder_does_not_stop_a_download(caches, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(fetch, "SHARED", tmp_path / "file" / "below a file")
    assert fetch.wheel(WHEEL, SUM, [("the CDN", delivers(CONTENT))]).exists()


def test_a_full_disk_is_not_blamed_on_the_source(caches):
    with pytest.raises(OSError, match="No space left"):
        fetch.wheel(
            WHEEL, SUM, [("the CDN", fails(OSError(28, "No space left on device"))), ("the index", delivers(CONTENT))]
        )
    assert list(fetch.CACHE.iterdir()) == []


def test_an_interrupted_copy_leaves_the_old_file(tmp_path):
    path = tmp_path / "plotly.min.js"
    files.write(path, "old")
    with pytest.raises(KeyboardInterrupt), files.replacing(path) as new:
        new.write_text("ne")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_damaged_npm_package_is_installed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "ROOT", tmp_path)
    files.write(tmp_path / "package.json", '{"dependencies": {"katex": "0.0.0"}}')
    files.write(tmp_path / "package-lock.json", "{}")
    runs = []

    def npm(command, **options):
        runs.append((command[1], command[-1]))
        files.write(tmp_path / "node_modules" / "katex" / "katex.css", CONTENT)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", npm)
    for damage in (None, None, "damage"):
        if damage:
            files.write(tmp_path / "node_modules" / "katex" / "katex.css", damage)
        assert fetch.npm_packages(["katex/katex.css"], {"PATH": ""}, "--omit=dev") == {"katex/katex.css": SUM}
    assert runs == [("ci", "--omit=dev")] * 2  # at first, and after the damage


def test_npm_keeps_its_downloads_in_the_clone_if_the_home_folder_is_read_only(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "ROOT", tmp_path)
    monkeypatch.setattr(fetch, "CACHE", tmp_path / "_cache")
    files.write(tmp_path / "package.json", '{"dependencies": {}}')

    def npm(command, **options):
        in_the_clone = command[-1] == f"--cache={tmp_path / '_cache' / 'npm'}"
        return subprocess.CompletedProcess(
            command, 0 if in_the_clone else 1, "", "" if in_the_clone else "npm error code EACCES"
        )

    monkeypatch.setattr(fetch.subprocess, "run", npm)
    assert fetch.npm_packages([], {"PATH": ""}) == {}


def test_npm_without_a_network_ends_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "ROOT", tmp_path)
    files.write(tmp_path / "package.json", '{"dependencies": {}}')
    failed = subprocess.CompletedProcess([], 1, "", "npm error code EAI_AGAIN\nnpm error network")
    monkeypatch.setattr(fetch.subprocess, "run", lambda command, **options: failed)
    with pytest.raises(Stop, match=r"EAI_AGAIN.*needs a network"):
        fetch.npm_packages([], {"PATH": ""})


# --- what is shipped


def test_the_archive_of_our_python_depends_on_names_and_contents_alone(tmp_path):
    archives = []
    for clone, order, when in (
        ("one", ["kl.py", "tasks.json", "data/weights.npz"], 1e9),
        ("two", ["data/weights.npz", "tasks.json", "kl.py"], 1.5e9),
    ):
        for name in order:
            files.write(tmp_path / clone / "sim" / name, name)
            os.utime(tmp_path / clone / "sim" / name, (when, when))
        files.write(tmp_path / clone / "sim" / "__pycache__" / "kl.cpython-311.pyc", clone)
        archives.append(vendor.packed(["sim"], tmp_path / clone))
    assert archives[0] == archives[1]
    assert zipfile.ZipFile(BytesIO(archives[0])).namelist() == ["sim/data/weights.npz", "sim/kl.py", "sim/tasks.json"]


def test_the_style_sheet_of_the_formulas_names_one_font_format():
    css = (
        '@font-face{font-family:K;src:url(fonts/K.woff2) format("woff2"),url(fonts/K.woff) '
        'format("woff"),url(fonts/K.ttf) format("truetype")}'
    )
    assert vendor.woff2_only(css) == '@font-face{font-family:K;src:url(K.woff2) format("woff2")}'


def test_no_lock_file_names_a_host_to_download_from():
    assert '"resolved"' not in (build.ROOT / "package-lock.json").read_text()
    for path in build.ROOT.glob("requirements*.txt"):
        assert "//" not in path.read_text(), path.name


def test_lists_that_share_an_environment_pin_the_same_versions():
    pinned = {}
    for path in build.ROOT.glob("requirements*.txt"):
        for name, version in re.findall(r"^([\w.-]+)==(\S+)(?: \\$)", path.read_text(), re.M):
            assert pinned.setdefault(name, version) == version, f"{path.name}: {name}"


def test_every_pinned_package_carries_its_sums():
    for path in build.ROOT.glob("requirements*.txt"):
        entries = path.read_text().replace("\\\n", "").splitlines()
        assert entries and all("==" in entry and "--hash=sha256:" in entry for entry in entries), path.name


# --- building


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository of one page, built without the runtime."""
    for module in (book, environment):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(book, "CACHE", tmp_path / "_cache")
    monkeypatch.setattr(book.environment, "install", lambda *lists: sys.executable)
    monkeypatch.setattr(book.environment, "with_node", lambda: dict(os.environ))
    monkeypatch.setattr(book.vendor, "fill", lambda *words: True)
    files.write(
        tmp_path / "mkdocs.yml",
        "site_name: B\nsite_url: !ENV [SITE_URL, 'https://example.org/']\n"
        "docs_dir: lessons\nsite_dir: !ENV [SITE_DIR, _site]\ntheme: {name: null, custom_dir: site}\n",
    )
    files.write(tmp_path / "site" / "main.html", "<link href={{ config.site_url }}>{{ page.content }}")
    files.write(tmp_path / "lessons" / "index.md", "one")
    for step in ("precompute", "postprocess"):
        files.write(tmp_path / "tools" / "pages" / f"{step}.py", "")
    return tmp_path


def test_pages_that_have_not_changed_are_not_built_again(clone, monkeypatch, capsys):
    book.build(clone / "_site")
    capsys.readouterr()
    book.build(clone / "_site")
    assert capsys.readouterr().out == ""
    files.write(clone / "lessons" / "index.md", "two")
    book.build(clone / "_site")
    assert "two" in (clone / "_site" / "index.html").read_text()


def test_pages_without_a_snapshot_are_built_again_by_the_next_build(clone, monkeypatch):
    strict = []
    monkeypatch.setattr(book.vendor, "fill", lambda node, python, is_strict: strict.append(is_strict))
    monkeypatch.delenv("CI", raising=False)
    book.build(clone / "_site")
    book.build(clone / "_site", strict=True)
    monkeypatch.setenv("CI", "true")
    book.build(clone / "_site")
    assert strict == [False, True, True]


def test_snapshot_that_cannot_be_made_stops_a_strict_build_only(tmp_path, monkeypatch, capsys):
    def refused(*words):
        raise Stop("The snapshot of Python was not made: widgets/ppo/widget.py raised in Pyodide: KeyError: 3")

    pyodide = tmp_path / "node_modules" / "pyodide"
    files.write(pyodide / "pyodide.asm.mjs", vendor.PATCH[0])
    files.write(tmp_path / "node_modules" / vendor.STYLE, "")
    files.write(tmp_path / "numpy.whl", "wheel")
    monkeypatch.setattr(vendor, "ROOT", tmp_path)
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(vendor, "COPIES", {vendor.LINKER: vendor.COPIES[vendor.LINKER]})
    monkeypatch.setattr(vendor, "bundle", lambda name, node: b"")
    monkeypatch.setattr(vendor, "packed", lambda folders: b"")
    monkeypatch.setattr(fetch, "npm_packages", lambda *words: {})
    monkeypatch.setattr(fetch, "numpy_wheel", lambda python: (tmp_path / "numpy.whl", fetch.sum_of(b"wheel")))
    monkeypatch.setattr(snapshot, "pieces", refused)
    assert vendor.fill({}, None) is False
    assert (tmp_path / "vendor" / "snapshot.json").read_text() == "{}"
    assert "widgets/ppo/widget.py raised in Pyodide: KeyError: 3\nThe pages will start" in capsys.readouterr().out
    with pytest.raises(Stop, match="snapshot of Python was not made"):
        vendor.fill({}, None, strict=True)


def test_a_build_for_another_address_rebuilds_the_pages(clone):
    for address in ("http://127.0.0.1:8000/", "http://127.0.0.1:8001/"):
        book.build(clone / "_site", address)
        assert f"<link href={address}>" in (clone / "_site" / "index.html").read_text()


def test_a_broken_link_stops_the_build_and_the_old_pages_stay(clone, capsys):
    book.build(clone / "_site")
    files.write(clone / "lessons" / "index.md", "[there](nowhere.md)")
    with pytest.raises(Stop, match="not built"):
        book.build(clone / "_site")
    assert "nowhere.md" in capsys.readouterr().out
    assert "one" in (clone / "_site" / "index.html").read_text()
    assert list((clone / "_cache").iterdir()) == []


def test_new_pages_that_cannot_be_moved_into_place_leave_the_old_pages(tmp_path):
    files.write(tmp_path / "_site" / "index.html", "old")
    with pytest.raises(FileNotFoundError):
        files.exchange(tmp_path / "nothing", tmp_path / "_site", tmp_path / "old")
    assert (tmp_path / "_site" / "index.html").read_text() == "old"
    files.write(tmp_path / "new" / "index.html", "new")
    files.exchange(tmp_path / "new", tmp_path / "_site", tmp_path / "old")
    assert (tmp_path / "_site" / "index.html").read_text() == "new"
    assert (tmp_path / "old" / "index.html").read_text() == "old"


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("code/kl.html#L9", "leads to no such anchor"),
        ("code/kl.html", None),
        ("code/kl.html#L1", None),
        ("code/gone.html", "leads to no file"),
        ("#nowhere", "leads to no such anchor"),
        ("#here", None),
        ("https://example.org/#x", None),
        ("../", None),
        ("code/?a=1#L1", "leads to no file"),
    ],
)
def test_every_link_of_a_page_leads_somewhere(link, complaint, tmp_path):
    files.write(tmp_path / "index.html", "")
    files.write(tmp_path / "ppo" / "index.html", f'<p id="here"><a class="x" href="{link}">')
    files.write(tmp_path / "ppo" / "code" / "kl.html", '<span id="L1">')
    assert list(links.broken(tmp_path)) == ([f"ppo/index.html: {link} {complaint}"] if complaint else [])


def step_that_prints(*lines):
    return [sys.executable, "-c", f"import sys; print({chr(10).join(lines)!r}); sys.exit(1)"]


def test_only_the_error_sentence_is_shown_for_a_fence_that_fails(capsys):
    sentence = "lessons/11-grpo.md, line 7: the fence source: sim/estimators/kl.py defines no k9"
    mkdocs = step_that_prints(
        "INFO    -  Building documentation...",
        f"ERROR   -  Error reading page '11-grpo.md': {sentence}",
        "Traceback (most recent call last):",
        '  File "fences.py", line 40, in formatter',
        f"pymdownx.superfences.SuperFencesException: {sentence}",
    )
    with pytest.raises(Stop, match="not built"):
        book.step(mkdocs, dict(os.environ))
    assert capsys.readouterr().out.split("\n") == [f"  {sentence}", ""]


def test_the_full_output_is_shown_for_any_other_build_failure(capsys):
    crash = ["Traceback (most recent call last):", 'File "their.py", line 1', "KeyError: 'x'"]
    with pytest.raises(Stop, match="not built"):
        book.step(step_that_prints(*crash), dict(os.environ))
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == crash


def test_a_lesson_outside_the_navigation_stops_the_build_and_is_named(clone, capsys):
    settings = (clone / "mkdocs.yml").read_text()
    ours = (build.ROOT / "mkdocs.yml").read_text()
    (validation,) = re.findall(r"^validation:\n(?:  .*\n)+", ours, flags=re.M)
    files.write(clone / "mkdocs.yml", settings + validation + "nav: [index.md]\n")
    book.build(clone / "_site")
    files.write(clone / "lessons" / "09a-entropy-bonus.md", "unfinished")
    with pytest.raises(Stop, match="not built"):
        book.build(clone / "_site")
    output = capsys.readouterr().out
    assert 'not included in the "nav" configuration' in output and "- 09a-entropy-bonus.md" in output


@pytest.mark.parametrize(
    ("page", "link"), [("index.html", "./code/a.html#L1"), ("10-ppo/index.html", "../code/a.html#L1")]
)
def test_a_link_from_the_root_becomes_one_from_its_page(page, link):
    for name in ("href", "xlink:href"):
        text = f'<a class="x" {name}="/code/a.html#L1">'
        assert links.relative(text, Path(page)) == f'<a class="x" {name}="{link}">'


@pytest.mark.parametrize("href", ["//example.org/", "https://example.org/", "#L1", "../10-ppo/"])
def test_a_link_that_does_not_start_at_the_site_root_is_unchanged(href):
    assert links.relative(f'<a href="{href}">', Path("11-grpo/index.html")) == f'<a href="{href}">'


def test_a_link_that_a_fence_wrote_to_nowhere_stops_the_build(clone, capsys):
    files.write(clone / "site" / "main.html", "<a href=../code/sim/estimators/kl.py.html#L1>")
    with pytest.raises(Stop, match="not built"):
        book.build(clone / "_site")
    assert "index.html: ../code/sim/estimators/kl.py.html#L1 leads to no file" in capsys.readouterr().out
    assert not (clone / "_site").exists()


def test_an_interrupted_build_leaves_the_old_pages(clone, monkeypatch):
    book.build(clone / "_site")
    files.write(clone / "lessons" / "index.md", "two")
    monkeypatch.setattr(book, "step", fails(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        book.build(clone / "_site")
    assert "one" in (clone / "_site" / "index.html").read_text()
    assert list((clone / "_cache").iterdir()) == []


def test_generated_and_hidden_files_are_no_sources_of_the_book(clone):
    for name in ("site/vendor/python.zip", "sim/__pycache__/kl.pyc", "lessons/.index.md.swp", "lessons/index.md~"):
        files.write(clone / name, "x")
    assert [path.relative_to(clone).as_posix() for path in book.sources()] == [
        "lessons/index.md",
        "site/main.html",
        "tools/pages/postprocess.py",
        "tools/pages/precompute.py",
        "mkdocs.yml",
    ]


# --- the environment


def test_an_interrupted_installation_is_begun_afresh(tmp_path, monkeypatch):
    environments, outcomes = [], iter([KeyboardInterrupt, (0, [])])
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    for name in ("VENV", "STAMPS", "UNFINISHED"):
        monkeypatch.setattr(environment, name, tmp_path / ".venv" / ("" if name == "VENV" else name))
    monkeypatch.setattr(environment, "answers", lambda command: True)
    monkeypatch.setattr(environment, "make", lambda: (environments.append(1), environment.UNFINISHED.unlink()))
    files.write(tmp_path / "requirements.txt", "numpy==2.4.6")
    (tmp_path / ".venv").mkdir()

    def pip(*words, **options):
        outcome = next(outcomes)
        if outcome is KeyboardInterrupt:
            raise KeyboardInterrupt
        return outcome

    monkeypatch.setattr(environment, "run", pip)
    with pytest.raises(KeyboardInterrupt):
        environment.install("requirements.txt")
    environment.install("requirements.txt")
    environment.install("requirements.txt")  # a third run of pip would exhaust `outcomes`
    assert environments == [1]


def test_pip_without_a_network_ends_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    for name in ("STAMPS", "UNFINISHED"):
        monkeypatch.setattr(environment, name, tmp_path / name)
    monkeypatch.setattr(environment, "answers", lambda command: True)
    monkeypatch.setattr(
        environment,
        "run",
        lambda *words, **options: (1, ["WARNING: retrying", "ERROR: No matching distribution found for mkdocs==1.6.1"]),
    )
    files.write(tmp_path / "requirements.txt", "mkdocs==1.6.1")
    with pytest.raises(Stop, match=r"No matching distribution found for mkdocs==1\.6\.1.*needs a network"):
        environment.install("requirements.txt")
    assert not environment.UNFINISHED.exists()


def test_a_chromium_that_does_not_start_is_named(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(Stop, match="/nowhere/chromium, which does not start"):
        environment.chromium()


def test_a_missing_chromium_is_reported_in_one_sentence(monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    for source in ("installed", "playwrights", "debians"):
        monkeypatch.setattr(environment, source, lambda: None)
    with pytest.raises(Stop, match="need a Chromium"):
        environment.chromium()


# --- the commands


def test_an_old_python_is_told_which_version_is_needed(monkeypatch):
    monkeypatch.setattr(build.sys, "version_info", (3, 10, 13, "final", 0))
    assert build.main("build").startswith("This needs Python 3.11 or newer; this is Python 3.10")


def test_an_old_python_can_parse_build_py():
    ast.parse((build.ROOT / "build.py").read_text(), feature_version=(3, 7))


def test_ctrl_c_ends_in_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(build, "build", fails(KeyboardInterrupt()))
    assert build.main("build") == 130
    assert capsys.readouterr().out.strip().startswith("Stopped.")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), "The disk is full"),
        (Stop("npm: code ENOSPC"), "The disk is full"),
        (OSError(28, "There is not enough space on the disk"), "The disk is full"),  # as Windows says it
        (Stop("npm is missing."), "npm is missing."),
        (PermissionError(13, "Permission denied", "_site"), "Permission denied: _site"),
    ],
)
def test_an_error_that_stops_a_command_is_one_sentence_on_standard_error(error, sentence, monkeypatch):
    monkeypatch.setattr(build, "build", fails(error))
    status = build.main("build")
    assert status.startswith(sentence) and "\n" not in status  # sys.exit prints a string to standard error, status 1


def test_build_py_without_a_command_explains_its_commands(capsys):
    assert build.main() == 0
    explained = capsys.readouterr().out
    assert all(f"python build.py {verb}" in explained for verb in ("serve", "build", "test", "new", "mutate"))
    assert build.main("biuld") == 2


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ([], True),
        (["tests"], True),
        (["tests/browser/test_pages.py"], True),
        (["-k", "kl"], True),
        (["tests/build"], False),
        (["tests/build/test_build.py::test_x", "-q"], False),
        (build.parts_of_the_night()["native"], False),
        (build.parts_of_the_night()["pyodide"], False),
        (build.parts_of_the_night()["browser-1"], True),
    ],
)
def test_a_browser_is_only_looked_for_when_its_tests_may_run(words, needed):
    assert build.browser_asked_for(words) == needed


@pytest.mark.parametrize(
    ("words", "nightly", "others", "rest"),
    [
        ("", False, False, ""),
        ("tests/sim -k kl", False, False, "tests/sim -k kl"),
        ("--browsers all --nightly", True, True, ""),
        ("--nightly others -x", True, True, "-x"),
        ("--nightly pyodide", True, False, ""),
        ("--nightly tests/lessons", True, False, "tests/lessons"),
    ],
)
def test_the_options_of_test_stand_before_the_words_for_pytest(words, nightly, others, rest):
    options = build.test_options(words.split())
    assert (options[0], options[1], " ".join(options[3])) == (nightly, others, rest)


@pytest.mark.parametrize("words", ["--browsers", "--browsers firefox", "tests/sim --nightly", "-x --browsers all"])
def test_a_misplaced_option_of_the_test_command_is_reported_in_one_sentence(words):
    with pytest.raises(Stop, match="stand before the words for pytest"):
        build.test_options(words.split())


def below(file, folders):
    return any(file == folder or file.startswith(f"{folder}/") for folder in folders)


def test_the_parts_of_the_night_are_all_tests_and_each_is_a_job_of_the_workflow():
    every = {path.relative_to(build.ROOT).as_posix() for path in (build.ROOT / "tests").rglob("test_*.py")}
    parts = {}
    for name, words in build.parts_of_the_night().items():
        paths = [word for word in words if not word.startswith("--")] or ["tests"]
        ignored = [word.partition("=")[2] for word in words if word.startswith("--ignore=")]
        parts[name] = {file for file in every if below(file, paths) and not below(file, ignored)}
    assert set.union(*parts.values()) == every
    assert sum(map(len, parts.values())) == len(every), "a file is in two parts"
    night = (build.ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    assert set(re.search(r"part: \[(.*)\]", night)[1].split(", ")) == parts.keys()


@pytest.mark.parametrize("workflow", ["pages", "nightly"])
def test_every_action_of_a_workflow_is_pinned_by_its_commit(workflow):
    text = (build.ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used and [action for action, version in used if not re.search(r"@[0-9a-f]{40}$", action)] == []
    assert [action for action, version in used if not re.fullmatch(r" +# v\d+\.\d+\.\d+", version)] == []


# --- serving


@pytest.fixture
def served(tmp_path):
    for name, content in {
        "index.html": "<html>home",
        "404.html": "lost",
        "a.mjs": "x",
        "a.wasm": "x",
        "deep/index.html": "deep",
    }.items():
        files.write(tmp_path / name, content)
    with Server(tmp_path, port=8700, base="/book/", live=True) as server:
        yield server


def fetched(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read().decode()


def test_wasm_and_module_files_are_served_with_the_types_that_browsers_require(served):
    assert fetched(served.address + "a.wasm")[1] == "application/wasm"
    assert fetched(served.address + "a.mjs")[1].startswith("text/javascript")


def test_an_address_that_does_not_exist_gets_the_books_own_page(served):
    assert fetched(served.address + "nothing/") == (404, "text/html; charset=utf-8", "lost")
    assert fetched(f"http://127.0.0.1:{served.port}/elsewhere")[0] == 404


def test_a_served_page_waits_for_the_next_build(served):
    status, _, text = fetched(served.address)
    assert status == 200 and text.startswith("<html>home") and '<script src="/-/reload.js">' in text
    with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/-/builds", timeout=5) as events:
        assert events.readline() == b"data: 1\n"
        threading.Timer(0.1, served.announce).start()
        assert [events.readline(), events.readline()] == [b"\n", b"data: 2\n"]


def test_a_port_that_is_taken_leads_to_the_next_one(served, tmp_path):
    with Server(tmp_path, port=served.port) as second:
        assert second.port > served.port
        assert fetched(second.address)[0] == 200


def test_a_reader_who_hangs_up_disturbs_nobody(served, capfd):
    files.write(build.Path(served.directory) / "big.wasm", bytes(20_000_000))
    for _ in range(3):
        line = socket.create_connection(("127.0.0.1", served.port))
        line.sendall(b"GET /book/big.wasm HTTP/1.1\r\nHost: x\r\n\r\n")
        line.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
        )  # close with a reset, as a closed tab does
        line.close()
    assert fetched(served.address)[0] == 200
    assert capfd.readouterr().err == ""


def test_many_files_come_through_one_connection(served):
    line = http.client.HTTPConnection("127.0.0.1", served.port)
    for _ in range(3):
        line.request("GET", "/book/a.mjs")
        assert line.getresponse().read() == b"x"
