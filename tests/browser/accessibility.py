"""What axe-core finds on a page, in light and dark, wide and as on a phone."""

from pathlib import Path

from tests.browser.conftest import until

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
# all pairs of light and width: two neighbors differ in both, so two runs of axe see both lights and both widths
LOOKS = [("default", 1280), ("slate", 360), ("default", 360), ("slate", 1280)]


def violations(page, part="html"):
    """What axe-core finds in a part of the page, as [rule, first offending element, how many]; a formula is read as its
    MathML, its drawing is hidden.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    how = dict(runOnly=LEVELS, resultTypes=["violations"])
    found = page.evaluate(
        "([part, how]) => axe.run({ include: [part], exclude: ['.katex-html'] }, how).then((r) => r.violations)",
        [part, how],
    )
    return [(v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in found]


def wear(page, look):
    """Set light or dark by the header's own switch, and the width of the window."""
    scheme, width = look
    if page.evaluate("document.body.dataset.mdColorScheme") != scheme:
        page.locator("[data-md-component=palette] label:visible").click()
    page.set_viewport_size({"width": width, "height": 900})
    until(
        page,
        f"document.body.dataset.mdColorScheme === '{scheme}' && "
        "document.getAnimations().every((one) => one.playState !== 'running')",
    )
    page.wait_for_timeout(100)  # the plots are drawn again


def assert_accessible(page, looks, part="html"):
    """axe-core finds nothing in a part of the page, in each of these looks."""
    for look in looks:
        wear(page, look)
        found = violations(page, part)
        assert not found, (look, found)
