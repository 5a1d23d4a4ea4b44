"""The numbers of the lesson on weight sync, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.estimators import importance
from sim.experiments import stale
from sim.experiments.runs import add_run
from sim.framework.weight_sync import WeightSync, transfer_seconds
from tests.lessons.prose import Lesson
from widgets import weight_sync

LESSON = Lesson("06")
LAGS = (1, 2, 4, 8, 16, 32)


@cache
def drifts(correction, **settings):
    return list(stale.updates(correction, 120, **settings))


def final(correction="ratio and clip", **settings):
    return drifts(correction, **settings)[-1].frame.exact["pass_rate"].mean()


def test_three_tokens():
    pi, mu, reward = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2]), np.array([0.0, 0, 1])
    assert importance.mean_under(mu, mu, reward) == pytest.approx((0.2, 0.16), abs=1e-12)
    assert (
        importance.mean_under(pi, mu, reward) == pytest.approx((0.5, 1.0), abs=1e-12)
        and "0.2 × 2.5 = 0.5" in LESSON.text
    )
    assert importance.mean_under(pi, mu, reward, limit=2.0) == pytest.approx((0.4, 0.64), abs=1e-12)
    assert pi / mu == pytest.approx([0.4, 1, 2.5], abs=1e-12) and "0.4, 1 and 2.5" in LESSON.text
    LESSON.says("1.63", (pi**2 / mu).sum())
    LESSON.says("61", 100 / (pi**2 / mu).sum())


@pytest.mark.parametrize("lag", LAGS)
def test_the_table_of_lags(lag):
    row = next(line for line in LESSON.text.splitlines() if line.startswith(f"| {lag} | 0."))
    said = [float(cell) for cell in row.strip("| ").split(" | ")[1:]]
    order = ("none", "ratio", "truncated ratio", "ratio and clip")
    assert said == pytest.approx([final(correction, lag=lag) for correction in order], abs=5.001e-4)


def test_with_fresh_weights_and_with_none():
    LESSON.says("0.932", final())
    LESSON.says("0.329", weight_sync.tasks.exact_pass(weight_sync.tasks.checkpoint("add")).mean())
    LESSON.says("0.614", final(every=128))
    LESSON.says("54", 100 * np.mean([d.frame.clip_fraction for d in drifts("ratio and clip", every=128)[-20:]]))
    wandering = [
        d.frame.exact["pass_rate"].mean()
        for d in drifts("ratio and clip", every=128)[27:]
        if "pass_rate" in d.frame.exact
    ]
    LESSON.says("0.50", min(wandering))
    LESSON.says("0.67", max(wandering))
    LESSON.says("0.919", final(every=8))


@pytest.mark.parametrize("every, length", [(128, "0.26"), (1, "0.17")])
def test_the_run_that_receives_nothing_does_not_come_to_rest(every, length):
    # as sim/experiments/stale.py: ratio and clip
    controller = add_run(grpo, hyper=dict(inner_epochs=1, beta=0.0), sync=WeightSync(every))
    algorithm, pushed, moved = controller.algorithm, [], []
    for event in controller.iterate(120):
        if event.stage == 2:
            batch = event.summary["batch"]
        if event.stage == 5:
            before = controller.trainer.policy.copy()
            logp, _, _ = before.token_logp(batch.prompt, batch.tokens, batch.response_mask)
            _, slope = algorithm.surrogate(logp, batch.old_logp, batch.advantage, algorithm.hp, batch)
            pushed.append((slope[batch.response_mask > 0] != 0).mean())
        if event.stage == 7:
            now = controller.trainer.policy.params
            moved.append(np.sqrt(sum(((now[name] - array) ** 2).sum() for name, array in before.params.items())))
    assert event.summary["frame"].exact["pass_rate"].mean() == final(every=every)
    LESSON.says(length, np.mean(moved[-20:]))
    if every == 128:
        LESSON.says("42", 100 * np.mean(pushed[-20:]))


def test_three_seeds():
    for lag, low, high in ((4, "0.37", "0.59"), (8, "0.25", "0.41")):
        ends = [final("none", lag=lag, **({"seed": seed} if seed else {})) for seed in range(3)]
        LESSON.says(low, min(ends))
        LESSON.says(high, max(ends))


def test_the_effective_sample_size_says_it_first():
    run = drifts("none", lag=8)
    for said, update in (("0.92", 3), ("0.84", 4), ("0.61", 5), ("0.26", 6), ("0.20", 7)):
        LESSON.says(said, run[update - 1].effective)
    LESSON.says("0.57", run[4].frame.exact["pass_rate"].mean())
    LESSON.says("0.30", run[8].frame.exact["pass_rate"].mean())


def test_the_distance_in_nats():
    LESSON.says("0.052", np.mean([d.distance for d in drifts("ratio and clip", lag=4)]))
    LESSON.says("0.132", np.mean([d.distance for d in drifts("ratio and clip", lag=8)]))
    LESSON.says("0.751", final("none", lag=8, learning_rate=0.003))
    LESSON.says("0.814", final(learning_rate=0.003))


def test_the_deliveries():
    for said, delivery in (("0.32", (8e9, 2, 50)), ("2.8", (70e9, 2, 50)), ("13.4", (671e9, 1, 50))):
        LESSON.says(said, transfer_seconds(*delivery))


def test_rounded_weights():
    policy, batch = weight_sync.first_completions()
    for form, moved, end in (("bf16", "0.0017", "0.927"), ("e4m3", "0.023", "0.936"), ("e5m2", "0.043", "0.893")):
        LESSON.says(moved, weight_sync.precision.mismatch(policy, batch, form)[0])
        LESSON.says(end, final(form=form))
