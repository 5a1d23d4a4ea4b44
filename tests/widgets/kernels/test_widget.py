from dataclasses import replace

import pytest

from sim.cluster import kernels
from sim.experiments.rounding_net import WEIGHINGS
from widgets.kernels import widget
from widgets.kernels.widget import Knobs


def result(**knobs):
    k = replace(Knobs(), **knobs)
    (r,) = widget.run(k)
    return k, r


def test_a_token_s_weight_is_a_bias_and_no_repair():
    k, r = result(mode="bf16", weighing=WEIGHINGS[1])
    # 4,096 tokens of half a squared spread of .023
    assert widget.broken(k, r) is None and r.far == pytest.approx(4096 * 0.023**2 / 2, rel=0.03)
    assert "nats per sequence stay uncorrected" in widget.worse(k, r)


def test_the_famous_kernel_first_is_worse_with_short_prompts():
    k, r = result(order=widget.FAMOUS, prompt=256, completion=8192, groups=8)
    assert r.names[0] == "prefix attention" and r.steps[-1] > 1.05 * r.best and widget.worse(k, r)


def test_shares_of_a_step_never_come_to_more_than_one():
    k, _ = result(rollout=1.0, train=1.0, sync=1.0)
    assert sum(widget.work(k).shares) == pytest.approx(1)


@pytest.mark.parametrize("weeks", [0, 1, 5, 24])
def test_the_chosen_kernels_take_no_more_weeks_than_available(weeks):
    _, r = result(weeks=weeks)
    price = {s.name: s.weeks for s in r.surfaces}
    assert sum(price[name] for name in r.names) <= weeks


def test_where_both_causes_apply_only_one_readout_is_marked():
    k, r = result(mode="fp8", groups=64)
    assert [row.state for row in widget.readouts(k, r)].count("violated") == 1


def test_the_best_is_the_best_of_all_sets_that_the_weeks_pay_for():
    # by return ends at 66 % after these nine weeks; the sync, then paging cost nine as well and leave 64
    k = Knobs(rollout=0.50, sync=0.25, weeks=9, order=widget.FAMOUS)
    r = next(widget.run(k))
    two = ["weight sync", "paged memory"]
    assert sum(s.weeks for s in r.surfaces if s.name in two) == 9
    assert r.best == pytest.approx(kernels.bought(r.surfaces, two)[0][-1])
    assert "the best set of kernels would leave only 64 %" in widget.worse(k, r)
    # lesson 28: by return over eleven weeks is 75 against 69
    k = Knobs(weeks=11)
    assert "75 %" in widget.worse(k, next(widget.run(k))) and "69 %" in widget.worse(k, next(widget.run(k)))
