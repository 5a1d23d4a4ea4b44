"""The picture that an answer leads with: which curves, where its marks stand, and what its numbers are."""

import re

import numpy as np
import pytest

from rlpt import doctor
from tests.rlpt.doctor import made, real_logs
from widgets.frame.reader import doctor_lead


def report(name, held_out=""):
    return doctor.report(real_logs.read(real_logs.text(name)), held_out)


@pytest.mark.parametrize(
    "name, lines",
    [
        ("hack-plus", ["the reward", "rewards/exact/mean"]),
        ("memorize", ["the reward", "eval_rewards/exact/mean"]),
        ("late-collapse", ["reward"]),
        ("grpo-sparse", ["groups in which all rewards are equal"]),
        ("healthy-defaults", ["reward"]),
        ("dpo-healthy", ["margin of the rewards"]),
    ],
)
def test_the_curve_is_the_sign_s_own(name, lines):
    assert [line.name for line in doctor_lead.leading(report(name))] == lines


def test_the_line_is_the_mean_of_nine_rows_and_the_numbers_are_its_last():
    found = report("hack-plus")
    reward = found.found.curves["reward"]
    mean = doctor_lead.Mean(reward)
    assert mean.to_each_side == 4
    assert np.allclose(mean.values[4:-4], np.convolve(reward.values, np.ones(9) / 9, "valid"))
    assert mean.values[-1] == pytest.approx(reward.values[-5:].mean())
    drawn = doctor_lead.drawing(found)
    assert "<b>1.5</b> the reward" in drawn and "<b>0</b> rewards/<wbr>exact/<wbr>mean" in drawn
    assert "Steps 1 to 240. Each dot is a step, and the line is the mean of 9 steps." in drawn


def test_few_rows_are_not_smoothed():
    rows = made.report(8, reward=np.arange(8.0), reward_std=np.ones(8))
    assert list(doctor_lead.Mean(rows.found.curves["reward"]).values) == list(range(8))
    assert "mean of" not in doctor_lead.drawing(rows)


def test_the_step_is_marked_where_it_is_and_only_if_there_is_one():
    drawn = doctor_lead.drawing(report("hack-plus"))
    at = float(re.search(r'class="onset" x1="([\d.]+)%"', drawn)[1])
    assert at == pytest.approx(100 * 23 / 239, abs=1e-3) and ">step 24</text>" in drawn
    assert "onset" not in doctor_lead.drawing(report("healthy-defaults"))


def test_two_numbers_keep_their_distance():
    for name in real_logs.TRUTHS:
        free = [float(y) for y in re.findall(r"--free:(\d+)px", doctor_lead.drawing(report(name)))]
        assert free and all(0 <= y <= doctor_lead.TOP + doctor_lead.TALL for y in free)
        assert len(free) == 1 or abs(free[0] - free[1]) >= doctor_lead.APART - 1


def test_events_on_the_left_are_told_upward_and_those_on_the_right_downward():
    drawn = doctor_lead.drawing(report("hack-plus"))
    items = re.findall(r'<li class="(?:first )?(left|right)" style="--x:([\d.]+)%', drawn)
    for side, ordered in (("left", -1), ("right", 1)):
        at = [float(x) * ordered for which, x in items if which == side]
        assert at == sorted(at)
    assert len(items) == doctor_lead.RAIL and drawn.count('"first ') == 1


def test_one_row_has_no_picture():
    rows = real_logs.text("hack-plus").split("\n")
    assert doctor_lead.drawing(doctor.report(real_logs.read("\n".join(rows[:2])))) == ""


def test_names_of_a_log_are_text():
    name = "rewards/<img src=x>/mean"
    table = [row | {name: row["rewards/exact/mean"]} for row in real_logs.rows("hack-plus")]
    drawn = doctor_lead.drawing(doctor.report(real_logs.read(real_logs.cut(table, {"rewards/exact/mean"}))))
    assert "<img" not in drawn and "&lt;img" in drawn
