"""A reader's own completions in the page: dropped, stepped through, chosen by keyboard, refused as text."""

import io
import json

import pyarrow
import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from tests.browser.accessibility import LOOKS, assert_accessible
from tests.browser.conftest import until, visit
from tests.sim.rollouts import shipped

PAGE = "rollouts/"
ANSWERED = "['shown', 'refused', 'stopped'].includes(document.querySelector('run-rollouts').dataset.state)"
DROP = """(files) => {
  const dataTransfer = new DataTransfer();
  for (const [name, bytes] of files) dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
  document.querySelector("run-rollouts").dataset.state = "";
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector(".drop").dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error(`the browser would open the file: ${kind}`);
  }
}"""
VERDICT = "run-rollouts .verdict"
LENGTH = (shipped.FOLDER / "length.jsonl").read_bytes()
AT_40 = "Step 40: the mean reward is 0.80. None is correct."  # tests/rlpt/rollouts/test_words.py


@pytest.fixture
def reader(live_page, book):
    """The page that reads completions, brought in by the theme."""
    visit(live_page, book, PAGE)
    until(live_page, "document.querySelector('run-rollouts')?.form")
    return live_page


def dropped(page, **files):
    """The sentence after these files were dropped."""
    page.evaluate(DROP, [[name.replace("__", "."), list(content)] for name, content in files.items()])
    until(page, ANSWERED)
    return page.inner_text(VERDICT)


def as_parquet(rows):
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def at(page):
    return int(page.input_value("[name=at]"))


@pytest.mark.parametrize("width", [1280, 390])
def test_completions_are_dropped_and_stepped_through(reader, width):
    page = reader
    page.set_viewport_size(dict(width=width, height=900))
    assert page.get_attribute("run-rollouts", "data-state") == "static"
    assert dropped(page, mine__jsonl=LENGTH) == AT_40
    assert at(page) == 4 and page.locator("[data-sample][aria-pressed=true]").count() == 0
    assert page.inner_text(".lead") in page.inner_text(".findings li >> nth=0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.focus("[name=at]")
    page.keyboard.press("Home")
    expect(page.locator(VERDICT)).to_contain_text("Step 1: the mean reward is 0.39.")
    expect(page.locator("[name=at]")).to_have_attribute("aria-valuetext", "step 1")
    page.click(".go")
    expect(page.locator(".go")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(VERDICT)).to_contain_text("Step 5:")
    page.click(".go")
    expect(page.locator(".go")).to_have_attribute("aria-pressed", "false")


def test_a_parquet_file_says_the_same_as_json_lines(reader):
    rows = [json.loads(line) for line in LENGTH.splitlines()]
    for row in rows:
        row["prompt"] = [{"role": "user", "content": row["prompt"]}]
    whole = as_parquet(rows)
    assert dropped(reader, completions_00040__parquet=whole) == AT_40
    texts = reader.inner_text(".who .texts")
    assert dropped(reader, mine__jsonl=LENGTH) == AT_40 and reader.inner_text(".who .texts") == texts
    assert dropped(reader, cut__parquet=whole[:-30]).startswith("The Parquet file could not be read (")
    at = whole.rindex(b"\x16\x80\x05\x19")  # of 320 rows, as the zigzag varint 640: a footer that promises more
    lying = whole[: at + 1] + b"\x80\x7d" + whole[at + 3 :]
    assert dropped(reader, lying__parquet=lying).startswith("The Parquet file could not be read (")
    assert dropped(reader, cut__parquet=whole[:-30], good__parquet=whole) == AT_40
    assert "cut.parquet: The Parquet file could not be read (" in reader.text_content("run-rollouts .notes")


def test_a_fact_rings_its_cells_and_a_second_press_lets_them_go(reader):
    page = reader
    dropped(page, mine__jsonl=LENGTH)
    fact = page.locator(".facts [data-option=loops]")
    fact.click()
    expect(fact).to_have_attribute("aria-selected", "true")
    expect(page.locator(".wall .ring").first).to_be_visible()
    expect(fact).to_be_focused()
    fact.click()
    expect(page.locator(".wall .ring")).to_have_count(0)


def test_a_group_is_chosen_by_keyboard_and_an_algorithm_pushes_it(reader):
    page = reader
    page.locator("[data-sample]").first.click()
    until(page, "document.querySelector('run-rollouts').dataset.state === 'shown'")
    page.focus(".wall [aria-selected=true]")
    before = page.inner_text(".who .prompt")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".who .prompt")).not_to_have_text(before)
    expect(page.locator(".wall [aria-selected=true]")).to_be_focused()
    assert page.locator(".wall [tabindex='0']").count() == 1
    page.keyboard.press("ArrowUp")
    expect(page.locator(".who .prompt")).to_have_text(before)
    # group 4+2= at step 20 of the recorded run: 0.1237 of the push by GRPO, 0.1143 by the batch mean, per token
    expect(page.locator(".sums b").first).to_have_text("12 %")
    page.get_by_text("batch mean", exact=True).click()
    expect(page.locator(".sums b").first).to_have_text("11 %")


def test_a_real_run_is_tried_and_opens_at_its_own_step(reader):
    page = reader
    recorded = page.inner_text(VERDICT)
    button = page.locator("[data-sample]").nth(1)
    button.click()
    expect(page.locator(VERDICT)).to_have_text(AT_40)
    expect(button).to_have_attribute("aria-pressed", "true")
    page.locator("[data-sample]").first.click()
    expect(page.locator(VERDICT)).to_have_text(recorded)
    assert at(page) == 2


def test_a_hostile_file_is_one_sentence_and_the_run_before_stays(reader):
    page = reader
    nasty = b"dear <img src=x onerror=alert(1)> diary\n"
    assert dropped(page, nasty__jsonl=nasty).startswith("No completion was found in 1 line.")
    page.focus("[name=at]")
    page.keyboard.press("Home")  # of the run that the page opens on
    expect(page.locator(VERDICT)).to_contain_text("Step 1: 29 of 64 are paid.")
    dropped(page, mine__jsonl=LENGTH)
    wall = page.inner_html(".wall")
    assert dropped(page, nasty__jsonl=bytes(range(256)) * 9).startswith("The file is binary.")
    assert page.inner_html(".wall") == wall
    page.click(".facts [data-option=loops]")
    expect(page.locator(VERDICT)).to_have_text(AT_40)


def test_text_of_a_file_is_never_rendered(reader):
    page = reader
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202e"
    rows = [{"step": 1, "prompt": evil, "completion": evil, "reward": n % 2, evil: n // 2} for n in range(4)]
    assert "2 of 4 are paid" in dropped(page, mine__jsonl="\n".join(map(json.dumps, rows)).encode())
    assert page.locator("run-rollouts :is(img, script)").count() == 0
    assert "<script>alert(1)</script>⟨202E⟩" in page.inner_text(".who .texts")


def test_columns_that_nobody_can_name_are_named_by_the_reader(reader):
    page = reader
    rows = [{"when": 1, "q": f"{n // 2}+1=", "a": f"{n}", "mark": n % 2} for n in range(8)]
    said = dropped(page, own__jsonl="\n".join(map(json.dumps, rows)).encode())
    assert said.startswith("No column is called prompt or completion")
    page.select_option("[name=map_prompt]", "q")  # its fold is open
    expect(page.locator(VERDICT)).to_contain_text("No column is called completion")
    page.select_option("[name=map_completion]", "a")
    page.select_option("[name=map_reward]", "mark")
    expect(page.locator(VERDICT)).to_contain_text("4 of 8 are paid.")
    assert page.input_value("[name=map_prompt]") == "q"


@pytest.mark.parametrize("width, height, latest", [(1280, 900, 250), (390, 844, 330)])
def test_the_headline_and_the_wall_stand_on_the_first_screen(page_without_scripts, book, width, height, latest):
    page = page_without_scripts
    page.set_viewport_size(dict(width=width, height=height))
    page.goto(book + PAGE)
    assert page.inner_text(VERDICT) == "Step 20: 52 of 64 are paid. Three are correct."
    wall = page.locator("run-rollouts .wall").bounding_box()
    assert wall["y"] <= latest and wall["y"] + wall["height"] <= height
    expect(page.locator("run-rollouts :is(.drop, .go, select)").first).to_be_hidden()
    assert page.locator(".who .texts li").count() == 8 and "rlpt rollouts" in page.inner_text("article")


def test_on_paper_there_is_nothing_to_press(reader):
    page = reader
    page.emulate_media(media="print")
    for place in (".drop", ".logs", ".go", "input[type=range]", ".switch", ".read"):
        expect(page.locator(f"run-rollouts {place}").first).to_be_hidden()
    expect(page.locator("run-rollouts .wall")).to_be_visible()
    expect(page.locator(".who .texts")).to_be_visible()


@pytest.mark.parametrize("looks", [LOOKS[:2], pytest.param(LOOKS[2:], marks=pytest.mark.nightly)])
def test_axe_finds_no_fault_in_any_fold(reader, looks):
    page = reader
    dropped(page, mine__jsonl=LENGTH)
    page.evaluate("document.querySelectorAll('run-rollouts details').forEach((fold) => { fold.open = true; })")
    assert_accessible(page, looks, "run-rollouts")
