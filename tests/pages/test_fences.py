"""A fence that cannot be made stops the build with one sentence: page, line, reason."""

import pytest
from pymdownx.superfences import SuperFencesException

import widgets
from rlpt.planning import calibrated
from tools.pages import fences, lessons, results
from tools.runtime import files
from widgets.frame.reader import pages
from widgets.reinforce import widget as reinforce


def failing(fence, language, source):
    """What a formatter says instead of making the fence."""
    with pytest.raises(SuperFencesException) as failure:
        fence(source, language, "", {}, None)
    return str(failure.value)


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    monkeypatch.setattr(fences, "LESSONS", tmp_path)
    return lambda text: files.write(tmp_path / "11-grpo.md", text)


def test_a_function_that_is_gone_is_named_with_page_and_line(lesson):
    lesson("# Groups\n\n```source\nsim/estimators/kl.py::k3\n```\n\n```source\nsim/estimators/kl.py::k9\n```\n")
    message = failing(fences.source, "source", "sim/estimators/kl.py::k9")
    assert message == "lessons/11-grpo.md, line 7: the fence source: sim/estimators/kl.py defines no k9"


def test_a_longer_fence_with_the_same_beginning_is_not_mistaken_for_the_shorter(lesson):
    lesson("```widget\nppo_again\n```\n\n```widget\nppo_a\n```\n")
    message = failing(fences.widget, "widget", "ppo_a")
    assert message == "lessons/11-grpo.md, line 5: the fence widget: there is no widgets/ppo_a/widget.py"


def test_a_widget_that_fails_says_at_which_line_of_its_own(monkeypatch):
    monkeypatch.setattr(fences.frames, "settled", lambda name: list(reinforce.run(None)))  # it asks None for its knobs
    message = failing(fences.widget, "widget", "reinforce")
    assert message.startswith("lessons/09-reinforce.md, line ") and "AttributeError" in message
    assert "(widgets/reinforce/widget.py, line " in message and "\n" not in message


@pytest.mark.parametrize(
    ("language", "source", "sentence"),
    [
        ("source", "sim/estimators/kl.py", "is not of the form sim/estimators/kl.py::k3"),
        ("patch", "sim/algorithms/ppo.py", "is not of the form sim/algorithms/ppo.py -> sim/algorithms/grpo.py"),
        ("patch", "sim/a.py -> sim/b.py\nadvantage", "advantage is not of the form function: what changes in it"),
        ("patch", "sim/algorithms/ppo.py -> sim/algorithms/grpo.py", "no clause says what changes in"),
    ],
)
def test_a_fence_of_another_form_is_told_its_form(language, source, sentence):
    assert sentence in failing(getattr(fences, language), language, source)


@pytest.fixture
def page(tmp_path, monkeypatch):
    """page(name, figures=…) makes lesson 29 with a widget of its own, in which some text stands for some other."""
    monkeypatch.setattr(fences, "ROOT", tmp_path)
    monkeypatch.setattr(fences, "WIDGETS", tmp_path / "widgets")
    monkeypatch.setattr(fences, "LESSONS", tmp_path / "lessons")
    monkeypatch.setattr(widgets, "__path__", [*widgets.__path__, str(tmp_path / "widgets")])

    def make(name, old="", new="", file="widget"):
        for module, template in dict(widget=WIDGET, figures=FIGURES).items():
            text = template.replace(old, new, 1) if file == module else template
            files.write(tmp_path / "widgets" / name / f"{module}.py", text)
        monkeypatch.setitem(pages.MODULES, name, {"widget", "figures"})
        monkeypatch.setattr(results, "WIDGETS", [*results.WIDGETS, name])
        monkeypatch.setattr(results, "DRAWN", [*results.DRAWN, name])
        return lesson_29(name)

    def lesson_29(name):
        page = lessons.Lesson("29-late", "29 Late", "Part I", "Late", "Late?", False, 1, 1, 1, name)
        monkeypatch.setattr(lessons, "parts", lambda: [("Part I", [page])])
        files.write(tmp_path / "lessons" / "29-late.md", f"# Late\n\n```widget\n{name}\n```\n")
        files.write(tmp_path / "lessons" / "index.md", "# Home\n\n```cards\n\n```\n")
        return name

    make.without_a_folder = lesson_29
    return make


WIDGET = """from dataclasses import dataclass

from widgets.frame.contract.knobs import slider

@dataclass(frozen=True)
class Knobs:
    p: float = slider("Pass rate", 0.5, 0.0, 1.0, 0.1)

PRESETS = {"Default": Knobs()}

def run(k):
    yield 1 / k.p
"""
FIGURES = "FIGURES = dict(curve=None)\n"


def test_the_cards_blame_a_widget_without_a_folder_on_its_own_lesson(page):
    page.without_a_folder("late_folder")
    for message in (failing(fences.widget, "widget", "late_folder"), failing(fences.cards, "cards", "")):
        assert message == "lessons/29-late.md, line 3: the fence widget: there is no widgets/late_folder/widget.py"


@pytest.mark.parametrize(
    "name, old, new, sentence",
    [
        ("late_import", "from dataclasses", "import sim.nothing\nfrom dataclasses", "ModuleNotFoundError: No module"),
        ("late_word", "import slider", "import sliders", "ImportError: cannot import name 'sliders'"),
        ("late_name", "class Knobs:", "class Knobs(Nothing):", "NameError: name 'Nothing' is not defined"),
        ("late_colon", "def run(k):", "def run(k)", "SyntaxError: expected ':'"),
        ("late_run", "1 / k.p", "1 / k.q", "AttributeError: 'Knobs' object has no attribute 'q'"),
        ("late_zero", "1 / k.p", "1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_widget_that_fails_is_named_with_its_lesson_file_and_line(page, name, old, new, sentence):
    page(name, old, new)
    (line,) = [n for n, text in enumerate(WIDGET.replace(old, new, 1).splitlines(), 1) if new.splitlines()[0] in text]
    for message in (failing(fences.widget, "widget", name), failing(fences.cards, "cards", "")):
        assert message.startswith(f"lessons/29-late.md, line 3: the fence widget: {sentence}"), message
        assert message.endswith(f"(widgets/{name}/widget.py, line {line})") and "\n" not in message, message


def test_a_missing_small_figure_is_named_with_the_existing_ones(page):
    name = page("late_figure")
    message = failing(fences.figure, "figure", f"{name}.curv")
    assert message.endswith(f"widgets/{name}/figures.py has curve, and no curv"), message


def test_a_page_without_small_figures_says_which_file_is_missing(page):
    assert failing(fences.figure, "figure", "late_none.curve").endswith("there is no widgets/late_none/figures.py")


def test_a_figure_that_fails_to_import_says_at_which_line(page):
    name = page("late_curve", "FIGURES", "import nothing\nFIGURES", "figures")
    message = failing(fences.figure, "figure", f"{name}.curve")
    assert message.endswith(f"No module named 'nothing' (widgets/{name}/figures.py, line 1)"), message


def test_a_fence_in_a_fold_is_named_with_its_lesson_and_line(page, monkeypatch):
    page("late_fold")
    text = '# Late\n\n??? deeper code "A fold"\n    Words.\n\n    ```source\n    sim/estimators/kl.py::k4\n    ```\n'
    files.write(fences.LESSONS / "29-late.md", text)
    message = failing(fences.source, "source", "sim/estimators/kl.py::k4\n")
    assert message == "lessons/29-late.md, line 6: the fence source: sim/estimators/kl.py defines no k4"


def test_an_opening_fence_of_a_widget_without_an_opening_is_reported(page):
    name = page("late_opening")
    message = failing(fences.opening, "opening", name)
    assert message.endswith(
        f"the fence opening, which stands in no lesson as it is: widgets/{name}/widget.py has no OPENING"
    )


def test_rows_are_computed_and_an_empty_last_cell_is_one():
    table = fences.rows("rlpt.planning.calibrated::passes_table\nJob | H100 | H200", "rows", "", {}, None)
    lines = table.split("<tr>")[2:]
    assert len(lines) == len(calibrated.passes_table().splitlines())
    assert {line.count("<td") for line in lines} == {3} and any(
        '<td style="text-align: right"></td></tr>' in x for x in lines
    )
