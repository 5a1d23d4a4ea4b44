"""What happens to the built pages after MkDocs: formulas become HTML and MathML, and every module gets a page of its own."""
import subprocess
import sys
from pathlib import Path

from tools import quoting

SHOWN = ("sim", "widgets", "tests")


def finish(site):
    """Formulas by one Node call; code/sim/kl.py.html and its like for every module."""
    subprocess.run(["node", str(quoting.ROOT / "tools" / "maths.mjs"), str(site)], check=True)
    for folder in SHOWN:
        for file in sorted((quoting.ROOT / folder).rglob("*.py")):
            path = file.relative_to(quoting.ROOT).as_posix()
            page = site / "code" / f"{path}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(quoting.module_page(path, "RL Post-Training"), encoding="utf-8")


if __name__ == "__main__":
    finish(Path(sys.argv[1]))
