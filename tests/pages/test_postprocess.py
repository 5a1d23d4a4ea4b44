"""The style sheets as one; the content security policy: which inline scripts it allows, and nothing else changes."""

import base64
import hashlib

from tools.pages import postprocess

HEAD = """<meta http-equiv="Content-Security-Policy" content="script-src 'self' 'inline-scripts'">"""


def sum_of(script):
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def test_every_page_allows_the_inline_scripts_of_all_pages_by_their_sums(tmp_path):
    (tmp_path / "a.html").write_text(HEAD + "<script>one</script><script src='x.js'></script>")
    (tmp_path / "b.html").write_text(HEAD + "<script>two\n  lines</script>")
    postprocess.allow_inline_scripts([tmp_path / "a.html", tmp_path / "b.html"])
    allowed = {
        (tmp_path / name).read_text().partition("script-src 'self' ")[2].partition('"')[0]
        for name in ("a.html", "b.html")
    }
    assert allowed == {" ".join(sorted([sum_of("one"), sum_of("two\n  lines")]))}


def test_data_blocks_are_no_scripts_and_a_page_without_a_policy_is_unchanged(tmp_path):
    page = tmp_path / "a.html"
    page.write_text('<script type="application/json">{}</script>')
    postprocess.allow_inline_scripts([page])
    assert page.read_text() == '<script type="application/json">{}</script>'


def test_the_style_sheets_become_one_in_their_order_with_addresses_seen_from_its_place(tmp_path):
    sheet, part = tmp_path / "assets" / "style.css", tmp_path / "assets" / "style"
    part.mkdir(parents=True)
    sheet.write_text("/* all */\n@import url(style/b.css);\n@import url(style/a.css);\n")
    (part / "a.css").write_text("a {}")
    (part / "b.css").write_text("b {\n  src: url(../../vendor/b.woff2); /* why */\n}")
    postprocess.join_styles(sheet)
    assert sheet.read_text().split() == ["b", "{", "src:", "url(../vendor/b.woff2);", "}", "a", "{}"]
    assert not part.exists()
