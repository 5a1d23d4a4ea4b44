import numpy as np

from rlpt.rollouts import shown


def test_a_phrase_is_found_where_it_stands():
    found = shown.pattern(("\n", "Final", ":", "#"))
    assert [one.span() for one in found.finditer("Final: 6\nFinal: 17\nFinal:\n8")] == [(8, 18)]


def test_rewards_have_two_digits_unless_both_are_zero():
    assert [shown.figure(value) for value in (1, 0.456, -0.2, 0, 0.0012, np.nan)] == (
        ["1.00", "0.46", "−0.20", "0.00", "0.001", "unknown"]
    )


def test_control_characters_and_reversed_text_are_shown_by_their_codes():
    assert shown.visible("a\x1b[31m\u202eb\u200bc\n\td\ud800") == "a⟨001B⟩[31m⟨202E⟩b⟨200B⟩c\n\td⟨D800⟩"
    assert shown.quoted("one\ntwo", 5) == "“one …”"
