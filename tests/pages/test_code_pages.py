"""The page of a module: its lines, its definitions, what they compute, and the ways back."""

import ast
import html
import re

from tools.pages import code_pages

CODE = '''"""A module.

Its second paragraph.
"""

RATE = 0.1


@cached
def two(x):
    return 2 * x


class Both:
    limit = 3

    def one(self):
        return 1
'''


def body(computed=None):
    return code_pages.body(CODE, ast.parse(CODE), computed or {}, "../")


def shown(text):
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def test_a_code_page_shows_every_line_once_under_its_number():
    lines = shown(body()).split("\n")
    assert lines[:-1] == [f"{n}{line}" for n, line in enumerate(CODE.splitlines(), 1)]
    assert re.findall(r'id="L(\d+)"', body()) == [str(n) for n in range(1, len(CODE.splitlines()) + 1)]


def test_a_definition_is_one_element_from_its_decorator_to_its_end():
    definition = re.search(r'<span class="def" id="L9">(.*?)\n</span>', body(), re.S)[1]
    assert [shown(line) for line in definition.split("\n")] == ["9@cached", "10def two(x):", "11    return 2 * x"]


def test_a_method_lies_within_its_class():
    lines = [(n.lineno, n.end_lineno) for n in ast.parse(CODE).body if isinstance(n, ast.ClassDef)]
    assert list(code_pages.definitions(ast.parse(CODE).body)) == [(6, 6), (9, 11), *lines, (17, 18)]
    assert body().count("<span") == body().count("</span")


def test_the_readouts_that_a_function_computes_stand_above_it():
    text = body({9: {("10 · PPO", "10-ppo/"): ["Twice", "Twice", "Most"]}})
    assert shown(text).split("\n")[8] == "Twice, Most · 10\u00a0·\u00a0PPO9@cached"
    assert '<a href="../10-ppo/">' in text


def test_a_module_s_page_says_what_it_is_who_uses_it_and_what_tests_it():
    used = code_pages.Uses(pages={"03a · KL estimators": "03a-kl-estimators/"})
    page = code_pages.page("sim/estimators/kl.py", ["sim/estimators/advantages.py", "sim/estimators/kl.py"], used)
    head, files = page[page.index("codehead") : page.index("<pre")], page[page.index("<nav") :]
    assert '<a href="../../../03a-kl-estimators/">' in head
    assert "KL between a policy and its reference" in head
    assert '<a href="../../../code/tests/sim/estimators/test_kl.py.html">' in head
    assert re.findall(r'href="([^"]+)"', files) == ["advantages.py.html", "kl.py.html"]
    assert files.count("aria-current") == 1


def test_a_test_leads_to_the_module_it_tests():
    assert code_pages.tested_by("tests/sim/estimators/test_kl.py") == "sim/estimators/kl.py"
    assert code_pages.tested_by("tests/conftest.py") == code_pages.tested_by("tests/pages/test_code_pages.py") == ""


def test_uses_are_read_off_the_built_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(code_pages.lessons, "pages", lambda: [("10 · PPO", "10-ppo/"), ("Compare", "compare/")])
    frame = '{"readouts": [{"label": "KL", "source": "sim/a.py#L4"}, {"label": "Cost", "source": ""}]}'
    for name in ("10-ppo", "compare"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text('<a href="../code/sim/a.py.html#L4">4</a>', encoding="utf-8")
    page = tmp_path / "10-ppo" / "index.html"
    page.write_text(page.read_text() + f'<rl-widget name="ppo" data-frame="{html.escape(frame)}">', encoding="utf-8")
    uses = code_pages.uses(tmp_path)
    pages, lines = {"10 · PPO": "10-ppo/", "Compare": "compare/"}, {4: {("10 · PPO", "10-ppo/"): ["KL"]}}
    assert uses["sim/a.py"] == code_pages.Uses(pages=pages, lines=lines)
    assert uses["sim/algorithms/ppo.py"] == code_pages.Uses(runs={"10 · PPO": "10-ppo/"})
    assert "sim/cluster/step.py" not in uses


def test_a_module_that_no_page_links_to_leads_to_the_pages_that_run_it():
    used = code_pages.Uses(runs={"10 · PPO": "10-ppo/"})
    assert shown(code_pages.back(used, "../")) == "← 10\u00a0·\u00a0PPO"
    used.pages["11 · GRPO"] = "11-grpo/"
    assert shown(code_pages.back(used, "../")) == "← 11\u00a0·\u00a0GRPO"
    assert code_pages.back(code_pages.Uses(), "../") == ""
