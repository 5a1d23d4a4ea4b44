from functools import partial

import numpy as np
import pytest

from sim.estimators import distillation
from tests.widgets import catalogue
from widgets.distillation import widget
from widgets.distillation.widget import BETTER, DRAWN, FORWARD, JSD, K1, LIKELIEST, LITTLE, NEVER, ONCE, PULLS, Knobs

last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)


def right(**knobs):
    return last(**knobs).last.right


def test_the_default_takes_a_student_to_its_teacher():
    assert right() == pytest.approx(last().teacher, abs=0.07)
    assert last().start.right < 0.3 and last().last.own_texts == 3_200


def test_the_student_that_answers_at_once_ends_at_nothing():
    assert broken(student=ONCE).fix == dict(cold=200) and right(student=ONCE) < 0.005
    assert last(student=ONCE).last.kl < last(student=ONCE).start.kl


def test_a_better_student_is_taught_down_to_its_teacher():
    assert broken(student=BETTER, teacher=LITTLE).fix == dict(teacher=BETTER)
    assert right(student=BETTER, teacher=LITTLE) < 0.35


def test_a_differentiated_log_ratio_teaches_nothing_and_as_an_advantage_it_does():
    assert broken(signal=K1).fix == dict(signal=DRAWN)
    assert right(signal=DRAWN) > 0.4


def test_two_faults_are_listed_and_both_undone():
    k = Knobs(student=ONCE, signal=K1)
    assert list(widget.faults(k)) == [PULLS, NEVER] and widget.undone(k) == dict(signal=DRAWN, cold=200)


def test_the_likeliest_token_alone_leads_higher_than_all_logits():
    assert right(signal=LIKELIEST, k=1) > right() + 0.02


def test_what_the_student_never_writes_is_pushed_by_forward_kl_alone():
    assert widget.scaled(Knobs()) and widget.scaled(Knobs(direction=JSD)) and widget.scaled(Knobs(signal=DRAWN))
    assert not widget.scaled(Knobs(direction=FORWARD)) and not widget.scaled(Knobs(signal=LIKELIEST))
    logp, teacher = np.log([[1 - 1e-9, 1e-9]]), np.log([[0.01, 0.99]])
    for direction in (JSD, FORWARD):
        slope = widget.signal(Knobs(direction=direction))(logp, teacher, np.array([[1, 0]]))[0, 1]
        assert abs(slope) > 0.9 if direction == FORWARD else abs(slope) < 1e-6


def test_the_bytes_follow_what_is_sent():
    assert widget.sent(Knobs()) == 2 * 151_936 and widget.sent(Knobs(signal=DRAWN)) == 4
    assert widget.sent(Knobs(signal=LIKELIEST, k=20)) == distillation.bytes_per_token(20, 1, 1)["likeliest k"]


@pytest.mark.slow
def test_what_is_never_written_is_learned_last():
    r = last(student=ONCE, updates=800)
    assert all(frame.right < 0.005 for frame in r.frames if 0 < frame.update <= 500)
    assert broken(student=ONCE, updates=800) is None and r.last.right > 0.6
