"""The numbers of the lesson on rollouts, recomputed."""

from functools import partial

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.estimators import attempts, kl, surrogate
from sim.experiments import running_batch, uniform_groups
from sim.experiments.standard_runs import add_run
from sim.framework.rollout import nucleus
from sim.worlds import modsum, tasks
from sim.worlds.tinylm import PAD, TEXT, log_softmax
from tests.lessons.prose import TWENTY, Lesson
from tests.widgets import catalogue
from widgets.rollout import widget
from widgets.rollout.widget import ONCE, ONE, Knobs

LESSON = Lesson("02")
LOGITS = np.array([[2.0, 1.0, 0.0, -1.0]])


last = partial(catalogue.last, widget)


def after(**knobs):
    return last(**knobs).pass_rate[-1][1]


def run_of(seed, groups=16, K=8, eps=0.2, temperature=1.0, trainer=None):
    return add_run(
        grpo,
        seed=seed,
        groups=groups,
        K=K,
        hyper=dict(inner_epochs=1, beta=0.0, eps=eps),
        hooks=dict(weights=lambda mask, hp, batch: mask / mask.sum()),
        temperature=temperature,
        trainer_temperature=trainer,
        exact_every=60,
    )


def trained(seed, **settings):
    """The policy after sixty updates."""
    run = run_of(seed, **settings)
    for _ in run.frames(60):
        pass
    return run.trainer.policy


def right(policy, temperature=1.0):
    policy = policy.copy()
    policy.params |= {name: policy.params[name] / temperature for name in ("W2", "b2")}
    return tasks.exact_pass(policy).mean()


def spread(words, ends):
    """The ends of the first of the twenty seeds, which agree with mean and standard deviation of all."""
    LESSON.spread(words, ends)
    return ends


SOME = TWENTY[:4]


def over_seeds(of, **knobs):
    return [of(last(**knobs, seed=seed)) for seed in SOME]


def end(r):
    return r.pass_rate[-1][1]


def test_the_running_batch():
    policy = modsum.Policy()
    recorded, read = running_batch.drawn_logp(policy), running_batch.drawn_logp(policy, 1.5)
    own = running_batch.tokens()[1]
    LESSON.says("−1.28", recorded[0, 0])
    LESSON.says("0.28", np.exp(recorded[0, 0]))
    np.testing.assert_allclose(recorded[:, 0], recorded[0, 0])
    LESSON.says("−0.74", recorded[0, 2])
    LESSON.says("−0.93", read[0, 2])
    LESSON.says("0.83", np.exp(read - recorded)[0, 2])
    assert np.abs(read - recorded).sum() / own.sum() == pytest.approx(0.076, abs=0.001)


def test_the_table_of_the_record():
    rows, _, _ = widget.one_prompt(Knobs())
    for i, verdict in ((0, "right"), (1, "right"), (2, "no format"), (4, "wrong")):
        tokens, logp, said = rows[i]
        words = " ".join(f"`{TEXT[token].strip()}`" for token in tokens if token != PAD)
        numbers = " ".join(f"{p:.3f}" for p in logp[tokens != PAD]).replace("-", "−")
        assert f"| {words} | {numbers} | end | {verdict} |" in LESSON.text and widget.WORDS[said] == verdict
    tokens, logp, said = rows[6]
    assert said == "truncated" and {TEXT[token] for token in tokens} == {"hmm "}
    assert (
        f"| `hmm` × 8 | {' '.join(f'{p:.3f}' for p in logp[:5]).replace('-', '−')} … | length | cut off |"
        in LESSON.text
    )


def test_four_distributions_of_one_set_of_logits():
    for name, logp in (
        ("$\\tau=0.5$", log_softmax(LOGITS / 0.5)),
        ("$\\tau=1$", log_softmax(LOGITS)),
        ("$\\tau=2$", log_softmax(LOGITS / 2)),
    ):
        assert f"| {name} | {' | '.join(f'{p:.3f}' for p in np.exp(logp[0]))} |" in LESSON.text
    kept = np.exp(nucleus(log_softmax(LOGITS), 0.8)[0])
    assert f"| $\\tau=1$, top-p 0.8 | {kept[0]:.3f} | {kept[1]:.3f} | 0 | 0 |" in LESSON.text and (kept[2:] == 0).all()
    raw, cooler = np.exp(log_softmax(LOGITS)), np.exp(log_softmax(LOGITS / 0.7))
    LESSON.says("0.040", kl.divergence(cooler, raw)[0])
    assert (raw / cooler).max() == pytest.approx(3.05, abs=0.01)


def test_groups_and_attempts():
    LESSON.says("0.959", attempts.informative(0.33, 8))
    LESSON.says("0.077", attempts.informative(0.01, 8))
    LESSON.says("0.474", attempts.informative(0.01, 64))
    LESSON.says("1.24", 16 * attempts.informative(0.01, 8))
    LESSON.says("0.95", 2 * attempts.informative(0.01, 64))
    LESSON.says("0.403", attempts.plug_in_pass_at_k(16, 1, 8))
    assert attempts.pass_at_k(16, 1, 8) == 0.5 and "pass@8 = 0.5" in LESSON.text


@LESSON.when_changed
def test_more_prompts_against_more_samples():
    LESSON.says("0.329", tasks.exact_pass(tasks.checkpoint("add")).mean())
    many = spread("0.86 ± 0.01", [right(trained(seed)) for seed in SOME])
    few = spread("0.59 ± 0.05", [right(trained(seed, groups=2, K=64)) for seed in SOME])
    assert max(few) < 0.75 < 0.8 < min(many)


@LESSON.when_changed
def test_two_temperatures():
    knobs = dict(temperature=1.5, trainer=ONE)
    alike_ends = spread("0.85 ± 0.02", over_seeds(end, temperature=1.5))
    apart = spread("0.24 ± 0.07", over_seeds(end, **knobs))
    recomputed = spread("0.85 ± 0.02", over_seeds(end, **knobs, old=ONCE))
    assert max(apart) < 0.5 < min(alike_ends + recomputed)
    assert np.mean(over_seeds(lambda r: r.off[0], **knobs)) == pytest.approx(0.2, abs=0.02)
    assert np.mean(over_seeds(lambda r: r.removed[0], **knobs)) == pytest.approx(0.18, abs=0.02)
    first = last(**knobs)
    assert "83 right sums of 100" in LESSON.text and round(100 * end(last(temperature=1.5))) == 83
    assert end(first) < first.pass_rate[0][1]


@pytest.mark.parametrize("seed", range(5))
def test_of_pushing_up_a_third_is_lost_and_of_pushing_down_a_tenth(seed):
    """One large batch: the pushes, ratio times advantage, that the clip takes away before any step."""
    run = run_of(seed, groups=160, temperature=1.5, trainer=1.0)
    for event in run.iterate(1):
        if event.stage == 3:
            batch = event.summary["batch"]
            logp = run.trainer.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask, 1.0)[0]
        if event.stage == 5:
            ratio, A = np.exp(logp - batch.old_logp), batch.advantage * np.ones(logp.shape)
            gone, own = surrogate.removed(ratio, A, 0.2, 0.2), batch.response_mask > 0
    praised, blamed = own & (A > 0), own & (A < 0)
    lost = lambda which: (ratio * A * gone)[which].sum() / (ratio * A)[which].sum()
    assert gone[praised].mean() == pytest.approx(0.3, abs=0.03)
    assert lost(praised) == pytest.approx(1 / 3, abs=0.04) and lost(blamed) == pytest.approx(0.1, abs=0.03)


@LESSON.when_changed
def test_without_the_rule_the_gap_does_no_harm():
    free = [right(trained(seed, eps=1e9, temperature=1.5, trainer=1.0)) for seed in SOME]
    assert min(spread("0.88 ± 0.01", free)) > 0.8


def test_a_ratio_averages_to_one_whoever_reads():
    _, mean = zip(*(mean_ratio(seed) for seed in range(3)))
    assert mean == pytest.approx([1, 1, 1], abs=0.06)


def mean_ratio(seed):
    run = run_of(seed, groups=160, temperature=1.5, trainer=1.0)
    batch = next(event.summary["batch"] for event in run.iterate(1) if event.stage == 3)
    logp = run.trainer.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask, 1.0)[0]
    own = batch.response_mask > 0
    return np.abs(logp - batch.old_logp)[own].mean(), np.exp(logp - batch.old_logp)[own].mean()


@LESSON.when_changed
def test_a_gap_without_damage_and_a_sampler_that_leaves_nothing_to_compare():
    spread("0.083 ± 0.005", over_seeds(lambda r: r.off[0], top_p=0.8))
    assert max(over_seeds(lambda r: r.removed[0], top_p=0.8)) < 0.01
    assert min(spread("0.82 ± 0.01", over_seeds(end, top_p=0.8))) > 0.75
    narrow = spread("0.70 ± 0.03", over_seeds(end, top_p=0.5))
    assert max(narrow) < 0.8 and min(over_seeds(lambda r: r.off[0], top_p=0.5)) > 0.1
    for seed in range(3):
        same = last(top_p=0.1, seed=seed)
        assert end(same) == same.pass_rate[0][1] and not any(same.live)


@LESSON.when_changed
def test_one_answer_eight_times():
    LESSON.says("0.704", uniform_groups.pass_rates(0.05).mean())
    LESSON.says("22.8", 100 * uniform_groups.share(0.05, 8))
    LESSON.says("29.5", 100 * uniform_groups.share(2.0, 8))
    assert min(widget.TEMPERATURES, key=lambda tau: uniform_groups.share(tau, 8)) == 0.5
    live = over_seeds(lambda r: r.live, temperature=0.05)
    spread("12.6 ± 1.4", [first for first, *_ in live])
    assert max(second for _, second, *_ in live) <= 4 and "none in the second, in 18 of twenty seeds" in LESSON.text
    spread("0.40 ± 0.09", over_seeds(end, temperature=0.05))
    spread("0.49 ± 0.14", [right(trained(seed, temperature=0.05), 0.05) for seed in SOME])
    assert np.mean([np.mean(found[10:]) for found in live]) < 1
