"""What happens to the built pages after MkDocs: formulas become HTML and MathML, and every module gets a page of its own."""
import re
import subprocess
import sys
from pathlib import Path

from tools import quoting

SHOWN = ("sim", "widgets", "tests")


def finish(site):
    """Formulas by one Node call; code/sim/kl.py.html and its like for every module."""
    subprocess.run(["node", str(quoting.ROOT / "tools" / "maths.mjs"), str(site)], check=True)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if "<table>" in text:
            page.write_text(scrollable(text), encoding="utf-8")
    for folder in SHOWN:
        for file in sorted((quoting.ROOT / folder).rglob("*.py")):
            path = file.relative_to(quoting.ROOT).as_posix()
            page = site / "code" / f"{path}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(quoting.module_page(path, "RL Post-Training"), encoding="utf-8")


def scrollable(text):
    """A table wider than a phone scrolls in a box that the keyboard reaches; the theme's own box is not focusable."""
    return re.sub(r"<table>(.*?)</table>", r'<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\1</table></div>', text, flags=re.S)


if __name__ == "__main__":
    finish(Path(sys.argv[1]))
