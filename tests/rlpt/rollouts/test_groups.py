"""Completions of one prompt that were sampled in one step belong together."""

from rlpt.rollouts import groups


def test_a_prompt_that_comes_up_twice_in_a_step_makes_two_groups():
    assert groups.numbered([*"aaabbbaaa"]) == ([0, 0, 0, 1, 1, 1, 2, 2, 2], 0)


def test_two_groups_of_one_prompt_that_follow_each_other_are_two():
    assert groups.numbered([*"aabbbbcc"]) == ([0, 0, 1, 1, 2, 2, 3, 3], 0)


def test_the_last_group_may_be_cut():
    assert groups.numbered([*"aaabbbaa"]) == ([0, 0, 0, 1, 1, 1, 2, 2], 0)


def test_shuffled_rows_are_grouped_by_prompt():
    assert groups.numbered([*"abcbacabc"]) == ([0, 1, 2, 1, 0, 2, 0, 1, 2], 0)


def test_two_groups_of_one_prompt_cannot_be_told_apart_once_shuffled():
    assert groups.numbered([*"abcabaca"]) == ([0, 1, 2, 0, 1, 0, 2, 0], 1)


def test_groups_of_different_sizes_stay_whole():
    assert groups.numbered([*"aabbbb"]) == ([0, 0, 1, 1, 1, 1], 0)


def test_one_completion_per_prompt_makes_groups_of_one():
    assert groups.numbered([*"abcd"]) == ([0, 1, 2, 3], 0)
