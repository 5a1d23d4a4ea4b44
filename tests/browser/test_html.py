"""The built pages are valid HTML; html-validate.json turns off what is taste (white space, quotes, the styles that
formulas carry).
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tools.runtime import environment

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("BOOK_SITE", "no-such-folder"))
PROGRAM, SETTINGS = (
    ROOT / "node_modules" / "html-validate" / "bin" / "html-validate.mjs",
    Path(__file__).with_name("html-validate.json"),
)
# The theme's own faults: its switches (ids that begin with __, autocomplete on a checkbox, an empty tabindex) and its
# search form without a button.
THEMES = re.compile(r"^#__|header > nav > form$")


def faults(folder, pages):
    """(page, rule, where, what) of everything that html-validate finds on the pages and that is not the theme's."""
    report = folder / "html-validate.txt"  # not by a pipe, which the program does not wait for
    try:
        with report.open("w") as out:
            words = ["--config", SETTINGS, "--formatter", "json", *pages]
            subprocess.run(["node", PROGRAM, *words], env=environment.with_node(), cwd=ROOT, stdout=out)
        return [
            (file["filePath"], m["ruleId"], m["selector"], m["message"])
            for file in json.loads(report.read_text(encoding="utf-8"))
            for m in file["messages"]
            if not THEMES.search(m["selector"] or "")
        ]
    finally:
        report.unlink()


def test_every_page_is_valid():
    modules = sorted((SITE / "code").rglob("*.html"))  # all made by one template
    pages = [page for page in SITE.rglob("*.html") if "code" not in page.parts]
    assert len(pages) > 20 and len(modules) > 50
    assert faults(SITE, [*pages, *modules[::20]]) == []


@pytest.mark.nightly
def test_every_page_of_a_module_is_valid():
    assert faults(SITE, (SITE / "code").rglob("*.html")) == []


def test_a_fault_of_ours_would_be_found(tmp_path):
    body = '<p id="one"><div>no paragraph holds this</div></p><p id="one">twice</p>'
    (tmp_path / "page.html").write_text(
        f'<!DOCTYPE html><html lang="en"><head><title>A page</title></head><body>{body}</body></html>', encoding="utf-8"
    )
    assert {rule for _, rule, _, _ in faults(tmp_path, tmp_path.glob("*.html"))} >= {"no-dup-id", "close-order"}
