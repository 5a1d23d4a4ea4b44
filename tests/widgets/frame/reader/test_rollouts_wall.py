"""Cells of a wall: what is seen of a group, and how many groups fit."""

import re

from widgets.frame.reader import rollouts_wall as wall

CELLS = [("right", 4), ("wrong", 4), ("right", 0), ("right", 4)]


def row(group=0, cells=CELLS, ringed=(False, True, False, False), tied=False):
    return wall.Row(group, f"prompt {group}", "3/4", "3 of 4 paid", cells, ringed, tied)


def places(markup, kind):
    """(first cell, number of cells) of each square of a kind."""
    (path,) = re.findall(rf'<path class="{kind}" d="(.*?)"', markup)
    return [(round(float(at) - 0.03), round(float(n) + 0.06)) for at, n in re.findall(r"M(\S+) \.06h(\S+?)v", path)]


def test_a_few_groups_show_each_completion_at_its_place():
    drawn = wall.drawn([row()], 0)
    assert places(drawn, "right l4") == [(0, 1), (3, 1)] and places(drawn, "wrong l4") == [(1, 1)]
    assert places(drawn, "none l0") == [(2, 1)] == [(place + 1, n) for place, n in places(drawn, "ring")]
    assert "<code>prompt 0</code>" in drawn and "<i>3/4</i>" in drawn


def test_many_groups_show_equal_completions_side_by_side_with_their_rings():
    drawn = wall.drawn([row(n) for n in range(wall.ROWS + 1)], 0).partition("</svg>")[0]
    assert places(drawn, "right l4") == [(0, 2)] and places(drawn, "none l0") == [(3, 1)]
    assert places(drawn, "wrong l4") == [(2, 1)] == places(drawn, "ring")
    assert "<code>" not in drawn and 'aria-label="prompt 0: 3 of 4 paid"' in drawn


def test_more_reward_stands_before_less():
    cells = [("plain", level) for level in (1, 4, 0, 2, 4)]
    drawn = wall.drawn([row(n, cells, [False] * 5) for n in range(wall.ROWS + 1)], 0).partition("</svg>")[0]
    found = [places(drawn, kind)[0] for kind in ("plain l4", "plain l2", "plain l1", "none l0")]
    assert found == [(0, 2), (2, 1), (3, 1), (4, 1)] and "ring" not in drawn


def test_the_keyboard_reaches_the_chosen_group_alone_and_a_tied_one_is_faint():
    drawn = wall.drawn([row(0), row(1, tied=True)], 1)
    assert re.findall(r'data-option="(\d)" aria-selected="(\w+)" tabindex="(\S+)"( class="tied")?', drawn) == [
        ("0", "false", "-1", ""),
        ("1", "true", "0", ' class="tied"'),
    ]


def test_512_groups_of_64_are_small():
    cells = [(kind, level) for kind in ("right", "wrong") for level in (4, 0)] * 16
    drawn = wall.drawn([row(n, cells, [False, True] * 32) for n in range(wall.MOST)], 0)
    assert len(drawn) < 250_000 and 'style="--rows:64"' in drawn
