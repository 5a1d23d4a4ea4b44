"""Formulas become KaTeX's, and a mark behind a short one does not begin the next line."""

import subprocess

from tools.pages import quoting

LONG = r"\sum_y \mu(y)\,\frac{\pi_\theta(y)}{\mu(y)} = \sum_y \pi_\theta(y) = 1"


def built(tmp_path, tex, after):
    page = tmp_path / "a.html"
    page.write_text(rf'<p>so <span class="arithmatex">\({tex}\)</span>{after}</p>')
    subprocess.run(["node", str(quoting.ROOT / "tools" / "pages" / "maths.mjs"), str(tmp_path)], check=True)
    return page.read_text()


def test_a_mark_stays_with_a_short_formula(tmp_path):
    assert built(tmp_path, r"\rho=\pi(a)/\mu(a)", ": how").startswith(
        '<p>so <span class="unbroken"><span class="katex">'
    )
    assert built(tmp_path, "x", "). Then").endswith("</span>).</span> Then</p>")


def test_a_long_formula_may_still_be_broken_and_one_before_a_word_is_left_alone(tmp_path):
    for tex, after in ((LONG, "."), ("x", " is")):
        assert "unbroken" not in built(tmp_path, tex, after) and built(tmp_path, tex, after).endswith(f"{after}</p>")
