from dataclasses import replace

from widgets.gaps import widget
from widgets.gaps.widget import BY_MINUTE, Knobs


def result(**knobs):
    k = replace(Knobs(), **knobs)
    (r,) = widget.run(k)
    return k, r


def test_a_plan_without_anything_of_value_is_not_broken_and_the_verdict_says_so():
    k, r = result(signal=0.0, estimator=0.0, cost=0.0)
    assert widget.broken(k, r) is None and "nothing to plan" in widget.holds(k, r)


def test_choosing_lessons_by_value_per_minute_can_be_worse_than_the_best_plan():
    k, r = result(minutes=90, order=BY_MINUTE)
    assert (r.plan.value, r.best.value) == (9, 10) and "worth 10" in widget.worse(k, r)


def test_a_lesson_that_is_already_known_is_in_no_plan():
    _, r = result(k03a=True, minutes=465)
    assert "03a" not in r.plan.ids and len(r.plan.ids) == 13  # 18c, 20a and 22f are worth 0 and nothing needs them
