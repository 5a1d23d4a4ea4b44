"""What happens to the built pages after the generator, MkDocs or Zensical: numbers lead to what computes them,
lessons get their heads, the search index is written, words open at their first use, the ways through the book are
laid, every page says what it is about to those who link to it, runs can be taken away, formulas become HTML and
MathML, every module gets a page of its own, the style sheets become one, and every page says which scripts it runs.
"""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.pages import (
    bound,
    code_pages,
    heads,
    links,
    navigation,
    quoting,
    scripts,
    search,
    sharing,
    standalone_run,
    words,
)

POLICY = "'inline-scripts'"  # where site/main.html has their sums written


def finish(site):
    """Formulas by one Node call, links, styles and policies, and the pages of the modules."""
    bound.link_all(site)
    heads.head_all(site)
    search.index(site)
    words.explain_all(site)  # after the index, which holds no buttons and should hold these words
    navigation.lay(site)
    sharing.share(site)
    standalone_run.write(site)
    scripts.write(site, sharing.address(site))
    node = shutil.which("node")  # by its whole name, which Windows needs where it is not an .exe
    subprocess.run([node, str(quoting.ROOT / "tools" / "pages" / "maths.mjs"), str(site)], check=True)
    for page in site.rglob("*.html"):
        if page.name != "404.html":  # shown anywhere, so its links are absolute
            text = page.read_text(encoding="utf-8")
            page.write_text(links.relative(scrollable(text), page.relative_to(site)), encoding="utf-8")
    keep_contents_behind_their_button(site / "assets")
    join_styles(site / "assets" / "style.css")
    allow_inline_scripts(sorted(site.rglob("*.html")))
    code_pages.write(site)  # these run no inline script, and one of them quotes the policy


def scrollable(text):
    """A table wider than a phone scrolls in a box that the keyboard reaches; the theme's own box is not focusable."""
    return re.sub(
        r"<table>(.*?)</table>",
        r'<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\1</table></div>',
        text,
        flags=re.S,
    )


def keep_contents_behind_their_button(assets):
    """The theme shows its rail from 1220 px on; here the page has that room until there is some for both, 1500 px."""
    for file in [*assets.glob("stylesheets/*.css"), *assets.glob("javascripts/bundle*.js")]:
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("76.25em", "93.75em").replace("76.234375em", "93.734375em"), encoding="utf-8")


def join_styles(sheet):
    """Every `@import url(style/…);` of the sheet gives way to its file, so that a page asks for one; addresses are seen
    from one folder up. Comments and indents, a sixth of the bytes, stay in the sources.
    """

    def imported(name):
        return (sheet.parent / name[1]).read_text(encoding="utf-8").replace("url(../", "url(")

    joined = re.sub(r"@import url\((.+)\);", imported, sheet.read_text(encoding="utf-8"))
    sheet.write_text(re.sub(r"/\*.*?\*/|(?<=\n)\s+", "", joined, flags=re.S), encoding="utf-8")
    shutil.rmtree(sheet.parent / "style")


def allow_inline_scripts(pages):
    """The sums of the inline scripts in the pages' content security policies: in every page those of all, for the theme
    brings one page into another.
    """
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    scripts = {script for text in texts.values() for script in re.findall(r"<script>(.*?)</script>", text, flags=re.S)}
    sums = " ".join(
        sorted(f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts)
    )
    for page, text in texts.items():
        if POLICY in text:
            page.write_text(text.replace(POLICY, sums, 1), encoding="utf-8")


if __name__ == "__main__":
    finish(Path(sys.argv[1]))
