"""The numbers of the lesson on weight sync, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.estimators import importance
from sim.experiments import off_policy_tokens, stale_policy
from sim.experiments.standard_runs import add_run
from sim.framework.weight_sync import WeightSync, transfer_seconds
from tests.lessons.prose import Lesson, agrees
from widgets.weight_sync import figures
from widgets.weight_sync import widget as weight_sync

LESSON = Lesson("06")
LAGS = (1, 2, 4, 8, 16, 32)


@cache
def drifts(correction, **settings):
    return list(stale_policy.updates(correction, 120, **settings))


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


def test_the_figure_of_three_tokens_shows_what_the_text_says():
    read = off_policy_tokens.read(1)
    assert (read.plain, read.earns) == pytest.approx((0.2, 0.5)) and read.ratio == pytest.approx([0.4, 1, 2.5])
    LESSON.says("61", 100 * read.effective)
    assert all(off_policy_tokens.read(moved).plain == 0.2 for moved in (0, 1, 2)) and "wherever" in LESSON.text


def test_two_engines_of_which_one_is_always_late_and_one_is_seldom_served():
    late, seldom = (figures.behind(stale_policy.versions(64, **how)) for how in (dict(lag=8), dict(every=8)))
    assert late[-1] == 8 and sorted(set(seldom)) == list(range(8)) and seldom.mean() == 3.5
    assert "3.5 on average" in LESSON.text and "from 0 to 7" in LESSON.text


def pass_rate(run):
    return run[-1].frame.exact["pass_rate"].mean()


def below_half(run):
    """The updates, from 1, whose batch has an effective share below one half."""
    return [update for update, drift in enumerate(run, 1) if drift.effective < 0.5]


CORRECTIONS = ("none", "ratio", "truncated ratio", "ratio and clip")  # the columns of the table


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


MEASURED = {
    **{f"{name}, lag {lag}": of(pass_rate, name, lag=lag) for lag in LAGS for name in CORRECTIONS},
    "fresh": of(pass_rate),
    "never": of(pass_rate, every=128),
    **{f"never, {name}": of(pass_rate, name, every=128) for name in ("none", "ratio")},
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


def row(lag):
    (found,) = [line for line in map(str.strip, LESSON.text.splitlines()) if line.startswith(f"| {lag} | 0.")]
    return dict(zip(CORRECTIONS, found.strip("| ").split(" | ")[1:], strict=True))


kept = LESSON.kept


@pytest.mark.parametrize("lag", LAGS)
def test_the_table_of_lags(lag):
    for correction, words in row(lag).items():
        agrees(words, kept(f"{correction}, lag {lag}"))


def test_the_order_of_the_corrections():
    ends = {lag: {name: kept(f"{name}, lag {lag}") for name in CORRECTIONS} for lag in LAGS}
    whole = [int((ends[lag]["ratio"] > ends[lag]["truncated ratio"]).sum()) for lag in LAGS]
    assert f"{whole[2]}, {whole[3]} and {whole[4]} of the twenty seeds at lag 4, 8 and 16" in LESSON.text
    assert f"at lag 4, 8 and 16, and in {whole[5]} at lag 32" in LESSON.text
    clip = [int((ends[lag]["ratio and clip"] > ends[lag]["ratio"]).sum()) for lag in LAGS]
    assert clip[2] == clip[3] == clip[5]
    assert f"in {clip[2]} of twenty seeds at lag 4, 8 and 32, and in {clip[4]} at lag 16" in LESSON.text
    assert all((ends[8]["none"] < ends[8][name]).all() for name in CORRECTIONS[1:])
    LESSON.says("0.41", ends[8]["ratio"].min())
    LESSON.says("0.79", ends[8]["ratio and clip"].min())


def test_with_any_correction_a_lag_of_one_or_two_costs_hardly_anything():
    lost = [kept("fresh") - kept(f"{name}, lag {lag}") for name in CORRECTIONS[1:] for lag in (1, 2)]
    assert "a lag of 1 or 2 costs at most 0.001 in the mean" in LESSON.text
    LESSON.says("0.001", max(of.mean() for of in lost))
    for of in lost:  # "costs nothing measurable": within three standard errors
        assert abs(of.mean()) < 3 * of.std(ddof=1) / 20**0.5


def test_with_fresh_weights_and_with_none():
    LESSON.says("0.329", weight_sync.tasks.exact_pass(weight_sync.tasks.checkpoint("add")).mean())
    LESSON.spread("0.93 ± 0.01", kept("fresh"))
    LESSON.spread("0.58 ± 0.05", kept("never"))
    assert (kept("never") < 0.8 * kept("fresh")).all() and kept("never").min() > 0.329
    LESSON.spread("0.90 ± 0.02", kept("never, ratio"))
    LESSON.says("0.10", kept("never, none").mean())
    assert kept("never, none").max() < kept("never").min() < kept("never, ratio").min()
    LESSON.spread("53 ± 2", kept("never, percent outside the clip"))


def test_the_run_that_receives_nothing_wanders():
    LESSON.spread("0.52 ± 0.03", kept("never, lowest from the 28th update on"))
    LESSON.spread("0.69 ± 0.03", kept("never, highest from the 28th update on"))


def test_delivering_every_eighth_time_costs_a_hundredth():
    fresh, seldom = kept("fresh"), kept("every eighth time")
    LESSON.says("0.01", np.mean(fresh - seldom))
    LESSON.counts("costs about 0.01: it ends behind fresh weights in {} of twenty seeds", seldom < fresh)


def test_the_run_that_receives_nothing_does_not_come_to_rest():
    LESSON.spread("42 ± 3", kept("never, percent with a gradient"))
    LESSON.spread("0.24 ± 0.03", kept("never, length of an update"))
    LESSON.spread("0.25 ± 0.06", kept("fresh, length of an update"))


def test_a_small_effective_share_is_a_distance_and_no_danger():
    """The control: runs that weigh their samples, and learn, have shares that fall as early as those that collapse."""
    first = {name: kept(f"{name}, lag 8, first update below one half") for name in CORRECTIONS if name[0] != "t"}
    assert max(first["none"].max(), first["ratio"].max()) < 13 and "before the thirteenth update" in LESSON.text
    LESSON.counts("below one half at some time in {} of the twenty seeds", first["ratio and clip"] <= 120)
    for name, fourth, fifth, ninth, often in (
        ("none", "0.81 ± 0.06", "0.67 ± 0.13", "0.24 ± 0.05", "52 ± 8"),
        ("ratio", "0.82 ± 0.06", "0.71 ± 0.12", "0.57 ± 0.03", "9 ± 3"),
    ):
        second, third, *later = (kept(f"{name}, lag 8, effective share of update {n}") for n in (2, 3, 4, 5))
        assert second.min() > 0.999 > third.max()
        for words, share in zip((fourth, fifth), later, strict=True):
            LESSON.spread(words, share)
        LESSON.spread(ninth, kept(f"{name}, lag 8, after nine updates"))
        LESSON.spread(often, kept(f"{name}, lag 8, percent below one half"))


def test_the_first_screen_shows_two_runs_of_one_lag():
    assert "gets most of the sums right" in LESSON.text and "about where it began" in LESSON.text
    weighed, plain = kept("ratio and clip, lag 8"), kept("none, lag 8")
    LESSON.spread("0.85 ± 0.03", weighed)
    LESSON.spread("0.26 ± 0.08", plain)
    assert weighed.min() > 0.7 > 0.5 > plain.max()


def test_the_distance_in_nats():
    for said, lag in (("0.06", 4), ("0.14", 8)):
        LESSON.says(said, kept(f"lag {lag}, nats").mean())
        assert f"{said} at lag {lag}" in LESSON.text
    LESSON.spread("0.77 ± 0.03", kept("none, lag 8, rate 0.003"))
    LESSON.says("0.82", kept("fresh, rate 0.003").mean())


def test_the_deliveries():
    for said, delivery in (("0.32", (8e9, 2, 50)), ("2.8", (70e9, 2, 50)), ("13.4", (671e9, 1, 50))):
        LESSON.says(said, transfer_seconds(*delivery))


def test_rounded_weights():
    policy, batch = weight_sync.first_completions()
    for form, moved, ends in (
        ("bf16", "0.0017", "0.93 ± 0.01"),
        ("e4m3", "0.023", "0.92 ± 0.01"),
        ("e5m2", "0.043", "0.89 ± 0.01"),
    ):
        LESSON.says(moved, weight_sync.precision.mismatch(policy, batch, form)[0])
        LESSON.spread(ends, kept(form))


def test_what_rounding_costs():
    lost = {form: kept("fresh") - kept(form) for form in ("bf16", "e4m3", "e5m2")}
    for form in ("bf16", "e4m3"):  # cannot be told from none: within three standard errors
        assert abs(np.mean(lost[form])) < 3 * np.std(lost[form], ddof=1) / 20**0.5
    assert lost["e5m2"].mean() == pytest.approx(0.035, abs=0.0025) and "e5m2 costs 0.035 in the mean" in LESSON.text
    LESSON.counts("in the mean, in {} of twenty seeds", lost["e5m2"] > 0)
