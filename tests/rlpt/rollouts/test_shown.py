import numpy as np

from rlpt.rollouts import shown
from sim.rollouts.phrases import NUMBER


def test_a_phrase_is_found_where_it_stands():
    found = shown.pattern(("\n", "Final", ":", NUMBER))
    assert [one.span() for one in found.finditer("Final: 6\nFinal: 17\nFinal:\n8")] == [(8, 18)]


def test_a_phrase_is_not_found_inside_longer_words_and_numbers():
    def found(words, text):
        return [one.span() for one in shown.pattern(words).finditer(text)]

    assert found(("is",), "this is_it isn 2is") == [(5, 7), (16, 18)]
    assert found(("#", "b"), "a #b 1b") == [(2, 4)]
    assert found((NUMBER, NUMBER), "17 1 7") == [(0, 4)]


def test_a_number_and_its_sign_are_both_shown_as_the_sign():
    assert shown.phrase_words(("\n", "#", NUMBER, "."), 2) == "“⏎ # #.” at least twice"


def test_letters_that_are_written_without_spaces_stay_together():
    words = ("答", "案", "是", "0")
    assert shown.phrase_words(words, 1) == "“答案是 #”"
    assert shown.pattern(words).search("所以答案是 4。")


def test_rewards_have_two_digits_unless_both_are_zero():
    assert [shown.figure(value) for value in (1, 0.456, -0.2, 0, 0.0012, np.nan)] == (
        ["1.00", "0.46", "−0.20", "0.00", "0.001", "unknown"]
    )


def test_control_characters_and_reversed_text_are_shown_by_their_codes():
    assert shown.visible("a\x1b[31m\u202eb\u200bc\n\td\ud800") == "a⟨001B⟩[31m⟨202E⟩b⟨200B⟩c\n\td⟨D800⟩"
    assert shown.quoted("one\ntwo", 5) == "“one …”"
