"""`python build.py numbers`: what it lists, and what it leaves out."""

from tools import unbound

PAGE = """---
see: 0.5
---
# 22b Title, 2025

At [0.5](= half()) and 0.8 the batch reads 0.5, or 12 %, of 7 tokens. [A cap of 0.9](#tail){ data-knobs="cap=0.9" }
leaves $x = 1.5$, `2.5` and 0.9.

```figure
tail.curve 3.5
```

## Sources

- They report 4.5 %.
"""


def test_repeats_and_what_has_a_point_or_a_percent_sign_are_listed_and_settings_are_not():
    listed = unbound.unbound(PAGE)
    assert [(line, number) for line, number, _ in listed] == [(6, "0.8"), (6, "0.5"), (6, "12")]
    assert "batch reads 0.5, or" in listed[1][2]


def test_a_lesson_that_is_not_there_is_said(capsys):
    assert unbound.main("99") == "There is no lesson 99."
    assert unbound.main("22b") is None and capsys.readouterr().out.endswith("numbers without an expression on 1 page\n")
