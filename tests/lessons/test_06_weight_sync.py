"""The lesson on weight sync: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.cluster import fabric
from sim.cluster.models import MODELS
from sim.estimators import importance
from sim.experiments import off_policy_tokens, stale_policy
from sim.experiments.off_policy_tokens import NOW, OLD, REWARD
from sim.experiments.standard_runs import add_run
from sim.framework.weight_sync import WeightSync, transfer_seconds
from sim.worlds import tasks
from tests.lessons import spreads
from widgets.weight_sync import figures
from widgets.weight_sync import widget as weight_sync

EXPENSIVE = ("drifts",)
LAGS = (1, 2, 4, 8, 16, 32)
CORRECTIONS = ("none", "ratio", "truncated ratio", "ratio and clip")  # the columns of the table
kept = partial(spreads.values, "06_weight_sync")

start = tasks.exact_pass(tasks.checkpoint("add")).mean()
after_one = next(stale_policy.updates("ratio and clip", 1)).frame.exact["pass_rate"].mean()
now = off_policy_tokens.read(1)
truncated = importance.mean_under(NOW, OLD, REWARD, limit=2.0)
late, seldom = (figures.behind(stale_policy.versions(64, **how)) for how in (dict(lag=8), dict(every=8)))


def kimi(way):
    """Seconds to send Kimi K2 as stored, in fp8, into engines of 128 GPUs."""
    return fabric.transfer_seconds(MODELS["kimi-k2"], fabric.TRANSFERS[way], None, 128)


def ahead(one, other, lag):
    """In how many of the twenty seeds a correction ends above another."""
    return sum(kept(f"{one}, lag {lag}") > kept(f"{other}, lag {lag}"))


def first_below_half(correction):
    """The update whose batch first has an effective share below one half; 121 where none has."""
    return kept(f"{correction}, lag 8, first update below one half")


def moved_by(form):
    """The mean change of a token's log-probability, in nats, if the weights are rounded."""
    return weight_sync.precision.mismatch(*weight_sync.first_completions(), form)[0]


def lost_to_rounding(form):
    return kept("fresh") - kept(form)


lost_to_a_small_lag = [kept("fresh") - kept(f"{name}, lag {lag}") for name in CORRECTIONS[1:] for lag in (1, 2)]


@cache
def drifts(correction, **settings):
    return list(stale_policy.updates(correction, 120, **settings))


def final(correction="ratio and clip", **settings):
    return drifts(correction, **settings)[-1].frame.exact["pass_rate"].mean()


def test_a_plain_mean_says_the_same_wherever_the_policy_has_gone_and_a_weighted_one_is_right():
    assert importance.mean_under(OLD, OLD, REWARD) == pytest.approx((0.2, 0.16), abs=1e-12)
    assert importance.mean_under(NOW, OLD, REWARD) == pytest.approx((0.5, 1.0), abs=1e-12)
    assert truncated == pytest.approx((0.4, 0.64), abs=1e-12)
    for moved in (0, 1, 2):
        read = off_policy_tokens.read(moved)
        assert read.plain == 0.2 and read.weighted == pytest.approx(read.earns)


def test_a_rollout_that_is_seldom_served_has_every_lag_from_0_to_7():
    assert late[-1] == 8 and sorted(set(seldom)) == list(range(8))


def pass_rate(run):
    return run[-1].frame.exact["pass_rate"].mean()


def below_half(run):
    """The updates, from 1, whose batch has an effective share below one half."""
    return [update for update, drift in enumerate(run, 1) if drift.effective < 0.5]


def of(read, correction="ratio and clip", **settings):
    return lambda seed: read(drifts(correction, seed=seed, **settings))


def from_the_28th_on(run):
    return [d.frame.exact["pass_rate"].mean() for d in run[27:] if d.frame.exact]


def first_below(run):
    """121 where no update has an effective share below one half."""
    return min(below_half(run), default=121)


@cache
def moves(every, seed):
    """(% of tokens with a gradient, length of an update) in the last twenty updates."""
    # as sim/experiments/stale_policy.py: ratio and clip
    controller = add_run(grpo, hyper=dict(inner_epochs=1, beta=0.0), sync=WeightSync(every), seed=seed)
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
    return 100 * np.mean(pushed[-20:]), np.mean(moved[-20:])


AFTER_65 = 16  # index of the exact pass rate after update 65, the first one learned from a delivery after update 64


@cache
def correcting(seed, **sync):
    """% of the push, over updates 71 to 120 with the ratio alone, that comes from tokens with a negative advantage that
    are more than three times as likely as when sampled: from samples that correct a new mistake.
    """
    hooks = dict(surrogate=lambda logp, old_logp, A, hp, batch: importance.weighted(logp, old_logp, A))
    controller = add_run(
        grpo, seed=seed, hyper=dict(inner_epochs=1, beta=0.0), hooks=hooks, sync=WeightSync(**sync), exact_every=120
    )
    shares = []
    for event in controller.iterate(120):
        if event.stage == 2:
            batch = event.summary["batch"]
        if event.stage == 5:
            own = batch.response_mask > 0
            logp = controller.trainer.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)[0][own]
            ratio, advantage = np.exp(logp - batch.old_logp[own]), batch.advantage[own]
            push = abs(advantage) * ratio * (1 - np.exp(logp))
            shares.append(push[(advantage < 0) & (ratio > 3)].sum() / max(push.sum(), 1e-12))
    return 100 * np.mean(shares[70:])


MEASURED = {
    **{f"{name}, lag {lag}": of(pass_rate, name, lag=lag) for lag in LAGS for name in CORRECTIONS},
    "fresh": of(pass_rate),
    "never": of(pass_rate, every=128),
    **{f"never, {name}": of(pass_rate, name, every=128) for name in ("none", "ratio")},
    "once, ratio": of(pass_rate, "ratio", every=64),
    "once, ratio, after update 65": of(
        lambda run: [d.frame.exact["pass_rate"].mean() for d in run if d.frame.exact][AFTER_65], "ratio", every=64
    ),
    "never, ratio, percent of the push": lambda seed: correcting(seed, every=128),
    "once, ratio, percent of the push": lambda seed: correcting(seed, every=64),
    "lag 8, ratio, percent of the push": lambda seed: correcting(seed, lag=8),
    "never, lowest from the 28th update on": of(lambda run: min(from_the_28th_on(run)), every=128),
    "never, highest from the 28th update on": of(lambda run: max(from_the_28th_on(run)), every=128),
    "never, percent outside the clip": of(
        lambda run: 100 * np.mean([d.frame.clip_fraction for d in run[-20:]]), every=128
    ),
    "never, percent with a gradient": lambda seed: moves(128, seed)[0],
    "never, length of an update": lambda seed: moves(128, seed)[1],
    "fresh, length of an update": lambda seed: moves(1, seed)[1],
    "every eighth time": of(pass_rate, every=8),
    **{
        f"{name}, lag 8, effective share of update {n}": of(lambda run, n=n: run[n - 1].effective, name, lag=8)
        for name in ("none", "ratio")
        for n in (2, 3, 4, 5)
    },
    **{
        f"{name}, lag 8, after nine updates": of(lambda run: run[8].frame.exact["pass_rate"].mean(), name, lag=8)
        for name in ("none", "ratio")
    },
    **{
        f"{name}, lag 8, first update below one half": of(first_below, name, lag=8)
        for name in ("none", "ratio", "ratio and clip")
    },
    **{
        f"{name}, lag 8, percent below one half": of(lambda run: 100 * len(below_half(run)) / 120, name, lag=8)
        for name in ("none", "ratio")
    },
    **{f"lag {lag}, nats": of(lambda run: np.mean([d.distance for d in run]), lag=lag) for lag in (4, 8)},
    "none, lag 8, rate 0.003": of(pass_rate, "none", lag=8, learning_rate=0.003),
    "fresh, rate 0.003": of(pass_rate, learning_rate=0.003),
    **{form: of(pass_rate, form=form) for form in ("bf16", "e4m3", "e5m2")},
}


def test_every_correction_beats_none_and_between_ratio_and_clip_there_is_hardly_an_order():
    assert all((kept("none, lag 8") < kept(f"{name}, lag 8")).all() for name in CORRECTIONS[1:])
    assert len({ahead("ratio and clip", "ratio", lag) for lag in (4, 8, 32)}) == 1


def test_with_any_correction_a_lag_of_one_or_two_costs_nothing_measurable():
    for of in lost_to_a_small_lag:  # within three standard errors
        assert abs(of.mean()) < 3 * of.std(ddof=1) / 20**0.5


def test_a_run_that_receives_nothing_ends_above_its_start_and_the_clip_stops_it():
    assert (kept("never") < 0.8 * kept("fresh")).all() and kept("never").min() > start
    assert kept("never, none").max() < kept("never").min() < kept("never, ratio").min()


def test_the_untrained_policy_teaches_the_ratio_better_than_a_trained_one():
    """A trained policy samples its next mistakes seldom, so that few samples with large ratios must correct them."""
    assert kept("never, ratio").min() > kept("once, ratio").max()
    assert (kept("once, ratio") < kept("once, ratio, after update 65")).all()
    never, once, late = (kept(f"{run}, ratio, percent of the push") for run in ("never", "once", "lag 8"))
    assert never.max() < min(once.min(), late.min())


def test_a_small_effective_share_is_a_distance_and_no_danger():
    """The control: runs that weigh their samples, and learn, have shares that fall as early as those that collapse."""
    for name in ("none", "ratio"):
        second, third = (kept(f"{name}, lag 8, effective share of update {n}") for n in (2, 3))
        assert second.min() > 0.999 > third.max()


def test_the_first_screen_shows_two_runs_of_one_lag():
    assert kept("ratio and clip, lag 8").min() > 0.7 > 0.5 > kept("none, lag 8").max()


def test_of_the_three_formats_only_e5m2_can_be_told_from_none():
    for form in ("bf16", "e4m3"):  # within three standard errors
        lost = lost_to_rounding(form)
        assert abs(lost.mean()) < 3 * lost.std(ddof=1) / 20**0.5
