"""A fence that cannot be made stops the build with one sentence: page, line, reason."""

import pytest
from pymdownx.superfences import SuperFencesException

from tools.pages import fences
from tools.runtime import files
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
    said = failing(fences.source, "source", "sim/estimators/kl.py::k9")
    assert said == "lessons/11-grpo.md, line 7: the fence source: sim/estimators/kl.py defines no k9"


def test_a_longer_fence_that_begins_alike_is_not_taken_for_it(lesson):
    lesson("```widget\nppo_again\n```\n\n```widget\nppo_a\n```\n")
    said = failing(fences.widget, "widget", "ppo_a")
    assert said == "lessons/11-grpo.md, line 5: the fence widget: there is no widgets/ppo_a/widget.py"


def test_a_widget_that_fails_says_at_which_line_of_its_own(monkeypatch):
    monkeypatch.setattr(fences.frames, "settled", lambda name: list(reinforce.run(None)))  # it asks None for its knobs
    said = failing(fences.widget, "widget", "reinforce")
    assert said.startswith("lessons/09-reinforce.md, line ") and "AttributeError" in said
    assert "(widgets/reinforce/widget.py, line " in said and "\n" not in said


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
