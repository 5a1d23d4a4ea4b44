"""A text in its tokens shows every blank, single spaces included."""

from widgets.frame.drawing import cuts


def test_every_blank_of_a_token_is_visible():
    assert cuts.spelled("Final: 3\n2\t\r\u00a0") == "Final:␣3↵2⇥⏎⍽"
