"""The pipeline and the policy that learns from it, as the page shows them."""

from dataclasses import replace

import numpy as np
import pytest

from sim.cluster.models import MODELS
from widgets.asynchrony import widget as asynchrony
from widgets.asynchrony.widget import PRESETS, Knobs


def result(k):
    (r,) = asynchrony.run(k)
    return r


def breaks(k):
    return asynchrony.broken(k, result(k))


def panels(k):
    return {p["title"]: p for p in asynchrony.figure(k, result(k))}


def readings(k):
    return {r.label: r.value for r in asynchrony.readouts(k, result(k))}


# The pipeline


def test_the_step_of_each_arrangement():
    # seconds from an independent script: tests/sim/cluster/test_pipeline.py
    seconds = [readings(Knobs(overlap=overlap))["Duration of a step"] for overlap in ("sync", "one-off", "async")]
    assert seconds == pytest.approx([102.9, 73.7, 30.4], rel=0.01)


def test_only_the_stream_has_completions_of_several_ages():
    ages = {overlap: readings(Knobs(overlap=overlap))["Lag, mean and largest"] for overlap in asynchrony.OVERLAPS}
    assert ages == {"sync": "0.0, 0", "one-off": "1.0, 1", "async": "2.0, 5"}


def test_the_bars_are_all_completions_of_the_settled_half():
    (bars, head, _) = panels(Knobs(head=4))["Lag of completions when trained on"]["data"]
    assert sum(bars["y"]) == pytest.approx(100) and head["x"] == [4, 4]
    mean = sum(lag * share for lag, share in zip(bars["x"], bars["y"])) / 100
    assert mean == pytest.approx(4.0, abs=0.05)


def test_the_policy_takes_its_lag_from_the_pipeline_or_from_the_knob():
    assert [result(Knobs(head=head)).delay for head in (0, 2, 4)] == [0, 2, 4]
    assert result(Knobs(head=4, delay="9")).delay == 9


def test_a_longer_queue_is_said_to_be_only_age():
    assert "only grow older" in asynchrony.worse(Knobs(head=4), result(Knobs(head=4)))
    assert asynchrony.worse(Knobs(), result(Knobs())) is None
    slow_engine = Knobs(head=8, train=20.0)  # its slots are full: no queue
    assert asynchrony.worse(slow_engine, result(slow_engine)) is None


def test_no_more_sequences_run_than_the_cache_holds():
    k = Knobs(model="qwen2.5-32b", slots=512)
    # beside 65.5 GB of weights on 2 H100, 0.9 · 80 − 32.8 = 39.2 GB each, a token takes 131 kB of it
    assert asynchrony.engine_size(k) == 2
    context = 512 + np.square(drawn := asynchrony.lengths(k, 200_000)).mean() / 2 / drawn.mean()
    room = (0.9 * 80e9 - MODELS["qwen2.5-32b"].params()) / 131_072
    assert asynchrony.slots(k) == pytest.approx(room / context, rel=0.02)
    assert asynchrony.slots(Knobs(slots=64)) == 64


def test_weights_that_arrive_slowly_cost_a_step_in_place_and_age_in_a_second_buffer():
    slow = Knobs(train=20.0, head=8, sync=30.0)
    buffered = replace(slow, in_place=False)
    assert readings(slow)["Duration of a step"] == pytest.approx(49.7, rel=0.01)
    assert readings(buffered)["Duration of a step"] < 23


def test_knobs_of_the_policy_leave_the_pipeline_alone():
    assert result(Knobs()).run is result(Knobs(learning_rate=1.5, beta=0.4, delay="3")).run


# The policy


def test_the_largest_stable_lag_is_where_the_step_meets_the_stability_limit():
    # 0.2 · 0.35585 · rate against 2 cos(Δπ / (2Δ + 1)): .1845 at 8, .1652 at 9, .2411 at 6, .2091 at 7, .1083 at 14
    assert [asynchrony.wall(Knobs(learning_rate=rate)) for rate in (1.5, 2.5, 3.0, 4.5)] == [14, 8, 6, 4]


@pytest.mark.parametrize("delay, state", [("4", ""), ("6", ""), ("7", "worse"), ("8", "worse"), ("16", "broken")])
def test_a_run_beyond_the_largest_stable_lag_is_worse_and_far_beyond_is_broken(delay, state):
    k = Knobs(delay=delay)
    verdict = "broken" if breaks(k) else "worse" if asynchrony.worse(k, result(k)) else ""
    assert verdict == state


def test_a_stuck_policy_keeps_one_answer_and_pays_the_full_kl_price():
    k = PRESETS["Rate 12, lag 8"]
    assert asynchrony.final(result(k)) == pytest.approx(1 - 0.2 * np.log(8), abs=1e-3)


def test_a_pipeline_can_break_the_policy_by_itself():
    k = Knobs(head=32, train=150.0, learning_rate=4.5)
    assert result(k).delay > asynchrony.wall(k)
    assert breaks(k).cause in (asynchrony.SWINGS, asynchrony.STUCK)


def test_corrected_data_has_no_largest_stable_lag():
    k = Knobs(delay="16", correction="KL as a loss, and ratio")
    assert breaks(k) is None and asynchrony.worse(k, result(k)) is None
    assert readings(k)["Largest lag that settles"] == "not computed"


def test_dropping_old_completions_drops_the_long_ones():
    k = PRESETS["None older than 4"]
    r = result(k)
    assert r.run.lag.max() == 4
    # from the independent script: 728 dropped of mean length 5,522, trained on 1,489
    assert len(r.run.dropped) == pytest.approx(728, rel=0.01)
    assert r.run.dropped.mean() == pytest.approx(5522, rel=0.01)
    assert asynchrony.kept(r)[0] == pytest.approx(1489, rel=0.01)
    assert breaks(replace(k, hard_cap="16")) is None


# The picture


def test_the_trainer_s_row_counts_up_and_the_slots_lie_behind_it():
    (drawn,) = panels(Knobs(head=4))["Who works with which weights"]["data"]
    versions = np.array(drawn["z"])
    trainer, slots = versions[-1], versions[: asynchrony.LANES]
    assert (np.diff(trainer[~np.isnan(trainer)]) >= 0).all()
    both = ~np.isnan(slots) & ~np.isnan(trainer)
    assert (slots <= np.broadcast_to(trainer, slots.shape))[both].all() and both.any()
    assert np.isnan(versions[asynchrony.LANES : -1]).all()


def test_a_job_that_does_not_fit_shows_no_seconds():
    k = Knobs(model="deepseek-v3")  # 1,342 GB of weights, 8 · 72 that an engine may fill
    assert "does not fit" in breaks(k).why
    assert {value for value in readings(k).values()} == {"–"}


def test_the_setting_is_handed_over_with_the_lag_that_is_refused():
    k = PRESETS["None older than 4"]
    exported = asynchrony.export(k, result(k))
    assert exported["lag"] == 4 and exported["concurrency"] == 256 and exported["context"] == 512 + 8192
    assert "lag" not in asynchrony.export(Knobs(), result(Knobs()))
    impossible = Knobs(model="deepseek-v3")
    assert asynchrony.export(impossible, result(impossible)) is None


def test_a_way_back_ends_where_none_of_its_steps_is_enough():
    """Looking for it asked each place for its own way back, without end."""
    machine = dict(overlap="async", train=30.0, sync=2.0, in_place=True, slots=256, completions=128, bandwidth=0.75)
    learner = dict(head=4, learning_rate=12.0, hard_cap="4", correction="none", draws="16", beta=0.2, overhead=1.5)
    k = Knobs(**machine, **learner, flops=0.6, timed="64 sequences, 2048 tokens, 12 ms")
    break_ = breaks(k)
    assert break_ and (not break_.fix or asynchrony.sound(replace(k, **break_.fix)))


def test_where_nearly_all_is_thrown_away_the_job_does_not_fit_and_a_way_back_is_found():
    """The stream of this setting once ran out of completions."""
    k = Knobs(hard_cap="1", sync=60.0, in_place=False, completions=16, slots=32, longest=128, head=5)
    k = replace(k, p50=128, p90=128, p99=128, accelerator="h20", model="glm-4.5-air", overhead=0.0, flops=1.0)
    *_, r = asynchrony.run(k)
    assert [m.what for m in r.misfits] == [
        "nearly all completions are older than 1 when they are done, and thrown away"
    ]
    fix = asynchrony.broken(k, r).fix
    assert fix and not asynchrony.misfits(replace(k, **fix))
