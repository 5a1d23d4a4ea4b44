"""What a reader sees first, measured on the built pages at both widths: the rules of CONTRIBUTING.md, "The first
screen". Pages that do not keep one of them yet are named with what they reach; a name may only be crossed out.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WITH_WIDGET

SCREENS = {"wide": (1280, 900, 250), "phone": (390, 844, 300)}  # wide, high, where the picture begins at the latest
WORDS, CONTROLS, LETTERS = 80, 5, 12
LEFT = {  # (screen, lesson's number): the rules that it does not keep yet
    ("phone", "00"): "whole",
    ("phone", "03a"): "whole",
    ("phone", "15a"): "whole",
}
MEASURED = """([wide, high]) => {
  const figure = document.querySelector(".rl-opening");
  const box = (part) => part.getBoundingClientRect();
  const picture = box(figure.querySelector(":scope > .panels, .k-scene"));
  const seen = (part) => part.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const within = ({ top, bottom, width, height }) => top < high && bottom > 0 && width > 1 && height > 1;
  const texts = document.createTreeWalker(document.querySelector(".md-content"), NodeFilter.SHOW_TEXT);
  let [words, letters] = [0, Infinity];
  while (texts.nextNode()) {
    const { parentElement: place, textContent } = texts.currentNode;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    if (!textContent.trim() || place.closest("template, .unseen, .headerlink") || !seen(place)) continue;
    if (!within(box(range))) continue;
    words += (textContent.match(/\\p{L}{2,}/gu) ?? []).length;
    const drawing = place.closest("svg[viewBox]");
    const scale = drawing ? box(drawing).width / drawing.viewBox.baseVal.width : 1;
    if (/[\\p{L}\\p{N}]/u.test(textContent)) {
      letters = Math.min(letters, parseFloat(getComputedStyle(place).fontSize) * scale);
    }
  }
  const all = document.querySelectorAll(".md-content :is(a, button, input, select, summary):not(.headerlink)");
  const shown = [...all].filter((one) => seen(one) && within(box(one)));
  const controls = new Set(shown.map((one, i) => one.name || i)).size;  // a switch is one
  return { begins: picture.top, ends: picture.bottom, wide: picture.width, words, letters, controls };
}"""


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS)
def test_a_page_shows_its_picture_first(browser, book, screen):
    """In one page without its scripts, one lesson after the other."""
    wide, high, latest = SCREENS[screen]
    context = browser.new_context(viewport=dict(width=wide, height=high), service_workers="block")
    page = context.new_page()
    page.route("**/*.js", lambda route: route.abort())
    wrong = []
    for lesson in WITH_WIDGET:
        page.goto(f"{book}{lesson.url}")
        page.evaluate("document.fonts.ready")
        found = page.evaluate(MEASURED, [wide, high])
        rules = {
            "begins": found["begins"] <= latest,
            "whole": found["ends"] <= high,
            "wide": found["wide"] >= min(1180, wide - 40),
            "words": found["words"] <= WORDS,
            "letters": found["letters"] >= LETTERS - 0.1,
            "controls": found["controls"] <= CONTROLS,
        }
        broken = {rule for rule, kept in rules.items() if not kept}
        known = set(LEFT.get((screen, lesson.number), "").split())
        if broken != known:
            wrong.append(f"{lesson.stem}: not kept {sorted(broken)}, named in LEFT {sorted(known)}: {found}")
    context.close()
    assert not wrong, "\n".join(wrong)


def test_the_contents_open_by_keyboard_and_are_off_its_way_while_they_are_closed(page, book):
    page.set_viewport_size(dict(width=1280, height=900))
    page.goto(f"{book}10-ppo/")
    button = page.locator(".md-header label[for=__drawer]")
    link = page.locator(".md-sidebar--primary").get_by_role("link", name="09 REINFORCE")
    expect(link).to_be_hidden()
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(link).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(link).to_be_hidden()
