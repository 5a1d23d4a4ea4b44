"""The leading picture of the simulator: what the worst prompt's policy writes, drawn by the page's own Python."""

import numpy as np
import pytest

from sim.worlds import modsum
from tests.widgets import catalogue
from widgets.frame.drawing import answers
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
