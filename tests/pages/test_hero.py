"""The figure of the front page: what it says of two recorded runs is so, and it names no setting."""

import re

from tools.pages import fences, hero
from widgets.ppo import widget as ppo


def test_the_two_runs_of_the_front_page_differ_only_in_the_clip_and_begin_alike():
    kept, deleted = (vars(ppo.PRESETS[preset]) for preset in hero.PRESETS.values())
    assert {name for name in kept if kept[name] != deleted[name]} == {"clip"}
    made = hero.runs()
    assert made["kept"][0] == made["deleted"][0]
    assert len(made["kept"]) == len(made["deleted"]) == 1 + ppo.UPDATES


def test_without_the_clip_line_a_nearly_solved_prompt_is_lost_for_good():
    made = hero.runs()
    assert made["deleted"][1] > 0.8 and max(made["deleted"][2:]) < 0.01
    assert made["kept"][-1] > 0.95


def test_the_sentences_of_the_front_page_figure_state_the_drawn_numbers():
    made = hero.runs()
    assert re.findall(r"([\d.]+) %", hero.said("kept")) == [f"{100 * made['kept'][i]:.2g}" for i in (0, -1)]
    once, at_most = map(float, re.findall(r"([\d.]+) %", hero.said("deleted")))
    assert abs(once - 100 * made["deleted"][1]) < 0.5 and abs(at_most - 100 * max(made["deleted"][2:])) < 0.005


def test_the_front_page_figure_switches_without_scripts_and_does_not_name_the_deleted_line():
    drawn = fences.two_lines("all", "hero", "hero", {}, None)
    assert re.findall(r'<input type="radio" name="line" value="(\w+)"', drawn) == ["kept", "deleted"]
    assert "<script" not in drawn and not re.search(r"\bclip|\bratio|passes|PPO", drawn)
