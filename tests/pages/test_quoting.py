"""Code on the page is colored once for every state of it."""

from tools.pages import quoting


def test_a_module_is_syntax_colored_once_and_only_recolored_after_a_change(tmp_path, monkeypatch):
    monkeypatch.setattr(quoting, "KEPT", tmp_path)
    colored = []
    monkeypatch.setattr(quoting, "colored", lambda code: colored.append(code) or code.upper())
    assert [quoting.colored_once(code) for code in ("x = 1", "x = 1", "x = 2")] == ["X = 1", "X = 1", "X = 2"]
    assert colored == ["x = 1", "x = 2"]
