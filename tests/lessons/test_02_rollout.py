"""The numbers of the lesson on rollouts, recomputed."""

from functools import partial

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.estimators import attempts, kl
from sim.experiments.runs import add_run
from sim.framework.rollout import nucleus
from sim.worlds import tasks
from sim.worlds.tinylm import PAD, TEXT, log_softmax
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import rollout as widget
from widgets.rollout import EACH, ONCE, ONE, Knobs

LESSON = Lesson("02")
LOGITS = np.array([[2.0, 1.0, 0.0, -1.0]])


last = partial(catalogue.last, widget)


def after(**knobs):
    return last(**knobs).pass_rate[-1][1]


def trained(groups, K, seed, passes=1, temperature=1.0):
    run = add_run(
        grpo,
        seed=seed,
        groups=groups,
        K=K,
        hyper=dict(inner_epochs=passes, beta=0.0),
        hooks=dict(weights=lambda mask, hp, batch: mask / mask.sum()),
        temperature=temperature,
        exact_every=60,
    )
    return list(run.frames(60))


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


def ends_within(low, high, seeds=6, **knobs):
    """The ends of some seeds, all inside the range that the text gives, but for what another processor's rounding
    makes of it.
    """
    ends = [after(**knobs, seed=seed) for seed in range(seeds)]
    assert low in LESSON.text and high in LESSON.text
    assert float(low) - 0.05 <= min(ends) and max(ends) <= float(high) + 0.05, ends
    return ends


def test_more_prompts_against_more_samples():
    LESSON.says("0.329", tasks.exact_pass(tasks.checkpoint("add")).mean())
    assert "end at 0.83 to 0.87, two prompts with 64 at 0.48 to 0.61" in LESSON.text
    many, few = (
        [trained(groups, K, seed)[-1].exact["pass_rate"].mean() for seed in range(6)]
        for groups, K in ((16, 8), (2, 64))
    )
    assert max(few) < 0.65 < 0.8 < min(many)


def test_three_moments():
    stored = ends_within("0.84", "0.89")
    forgotten = ends_within("0.23", "0.42", old=EACH)
    assert max(forgotten) < 0.5 < min(stored)
    assert max(ends_within("0.00", "0.12", seeds=3, old=EACH, passes=8)) < 0.2
    assert min(max(last(old=EACH, seed=seed).moved) for seed in range(6)) > 1.1
    np.testing.assert_allclose(last(old=ONCE).pass_rate, last().pass_rate, atol=1e-9)
    np.testing.assert_allclose(last(passes=1, old=EACH).pass_rate, last(passes=1).pass_rate, atol=1e-9)


def test_two_temperatures():
    knobs = dict(passes=1, temperature=1.5, trainer=ONE)
    off, clipped = zip(*(last(**knobs, seed=seed).first[0] for seed in range(6)))
    assert np.mean(off) == pytest.approx(0.2, abs=0.02) and np.mean(clipped) == pytest.approx(1 / 6, abs=0.03)
    apart = ends_within("0.01", "0.37", **knobs)
    alike = ends_within("0.83", "0.88", passes=1, temperature=1.5)
    recomputed = ends_within("0.83", "0.87", **knobs, old=ONCE)
    assert max(apart) < 0.5 < min(alike + recomputed)


def test_a_mismatch_without_damage_and_a_sampler_that_leaves_nothing_to_compare():
    wide = [last(top_p=0.8, passes=1, seed=seed) for seed in range(5)]
    LESSON.says("0.08", np.mean([r.first[0][0] for r in wide]))
    assert min(r.pass_rate[-1][1] for r in wide) > 0.78
    for seed in range(3):
        alike = last(top_p=0.1, passes=1, seed=seed)
        assert alike.pass_rate[-1][1] == alike.pass_rate[0][1] and not any(alike.live)


def test_what_temperature_does_before_training():
    LESSON.says("0.704", widget.prompt_rates(0.05).mean())
    LESSON.says("22.8", 100 * widget.without_signal(0.05, 8))
    LESSON.says("29.5", 100 * widget.without_signal(2.0, 8))
    assert min(widget.TEMPERATURES, key=lambda tau: widget.without_signal(tau, 8)) == 0.5
    few, many = ([np.mean(last(**knobs, seed=s).live[10:]) for s in range(6)] for knobs in (dict(temperature=0.05), {}))
    assert max(few) < 1 and 7.5 < min(many) <= max(many) < 9.5
    ends_within("0.08", "0.27", temperature=0.05)
