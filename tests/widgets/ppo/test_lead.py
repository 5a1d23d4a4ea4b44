"""The leading picture of the instrument: what the worst prompt's policy writes, drawn by the page's own Python."""

import json

import numpy as np
import pytest

from sim.worlds import modsum
from tests.widgets import catalogue
from widgets.frame.drawing import answers
from widgets.frame.reader import host
from widgets.ppo import widget as ppo


def lead(result):
    return ppo.figure(ppo.Knobs(), result)[0]


def rings(result):
    marks = [mark for view in lead(result)["columns"][0] for mark in view["marks"]]
    return [mark["words"] for mark in marks if mark["kind"] == "ring" and mark["seen"]]


def test_the_rows_are_those_of_the_prompt_that_is_least_often_right():
    result = catalogue.last(ppo)
    run, prompt = result.worst
    assert result.pass_rate[run, -1, prompt] == result.pass_rate[:, -1].min()
    assert len(result.written) == 8 and result.following.sum() == pytest.approx(1)


def test_a_lost_prompt_goes_on_where_it_should_stop_and_the_default_does_not():
    broken = catalogue.last(ppo, passes=16, clip=False)
    (words,) = rings(broken)
    run, prompt = broken.worst
    assert words.endswith(f"{modsum.TARGETS[prompt]}: no stop") and broken.pass_rate[run, -1, prompt] < 0.01
    assert np.argmax(broken.following) != modsum.EOS
    assert not rings(catalogue.last(ppo)) and not answers.right(broken.written, prompt)


def test_the_page_gets_a_drawing_and_the_numbers_for_its_table():
    k = ppo.Knobs()
    frame = json.loads(host.frame(ppo, k, catalogue.last(ppo)))
    drawn, *others = frame["panels"]
    assert drawn["svg"].startswith('<div class="k-views">') and "columns" not in drawn and not others[0]["svg"]
    assert "eight answers after update 60" in drawn["alt"]
    assert "next at a sum of" in host.table("ppo", json.dumps(frame))


def test_every_moment_of_a_run_has_the_same_keys_so_that_the_page_can_move_them():
    keys = set()
    for result in list(ppo.run(ppo.Knobs(passes=1)))[:3]:
        svg = json.loads(host.frame(ppo, ppo.Knobs(), result))["panels"][0]["svg"]
        keys.add(tuple(part.split('"')[0] for part in svg.split('data-k="')[1:]))
    assert len(keys) == 1
