import re

import pytest

from tools.pages import quizzes

ONE = """<details class="quiz">
<summary>Which?</summary>
<ul>
<li>
<p>[x] This one.</p>
<p>It is <em>so</em>.</p>
</li>
<li>
<p>[ ] That one.</p>
<p>It is not.</p>
</li>
</ul>
</details>"""


def test_a_list_of_answers_becomes_a_question_that_asks_for_one_of_them():
    page = quizzes.asked(ONE + ONE)
    assert page.count("data-quiz") == 2 and "<details" not in page
    assert re.findall(r'name="(quiz-\d)" value="(\w+)"', page) == [
        ("quiz-1", "right"),
        ("quiz-1", "wrong"),
        ("quiz-2", "right"),
        ("quiz-2", "wrong"),
    ]
    assert "<legend>Which?</legend>" in page
    assert "<span>This one.</span></label>" in page and "<b>Right.</b> It is <em>so</em>.</p>" in page
    assert "<b>Not this one.</b> It is not.</p>" in page


@pytest.mark.parametrize("signs", ["", "[x][x]", "[ ][ ]", "[x]", "[x]" + 4 * "[ ]"])
def test_one_of_two_to_four_answers_is_right(signs):
    items = "".join(f"<li>\n<p>{sign} a</p><p>b</p></li>" for sign in re.findall(r"\[.\]", signs))
    with pytest.raises(ValueError, match="one is right"):
        quizzes.asked(f'<details class="quiz"><summary>Which?</summary><ul>{items}</ul></details>')
