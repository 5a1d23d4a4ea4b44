"""The numbers of the lesson on what reinforcement learning adds, recomputed."""

import re

import numpy as np
import pytest

from sim.estimators import kl
from sim.worlds import bandit, tasks, tinylm
from tests.lessons.prose import Lesson
from tests.widgets.test_what_rl_adds import result
from widgets import what_rl_adds as widget
from widgets.what_rl_adds import EXACT, SFT, Knobs

LESSON = Lesson("01")
SHOWN, REWARD = np.array([0.30, 0.15, 0.15, 0.25, 0.15]), np.array([1.0, 0, 0, 0, 0])
LAZY = dict(offset=10, baseline="none")


def failed(**knobs):
    return int((result(**knobs).right[-1] < 0.5).sum())


def test_the_optimum_of_imitation():
    LESSON.says("1.561", bandit.cross_entropy(SHOWN, SHOWN))
    LESSON.says("1.609", bandit.cross_entropy(np.ones(5) / 5, np.ones(5) / 5))
    np.testing.assert_allclose(widget.demonstrations(Knobs()), SHOWN)


def test_the_table_of_the_one_push():
    arms = np.array([0, 3, 3, 1])
    rewards = REWARD[arms]
    plain, compared = (
        bandit.softmax(np.log(SHOWN) + bandit.push(SHOWN, arms, rewards - b(rewards)))
        for b in (bandit.no_baseline, bandit.leave_one_out)
    )
    rows = re.findall(r"^\| `.+?` \| (0\.\d{3}) \| (0\.\d{3}) \| (0\.\d{3}) \|$", LESSON.text, re.M)
    np.testing.assert_allclose(np.array(rows, float), np.array([SHOWN, plain, compared]).T, atol=0.0005)
    np.testing.assert_allclose(rewards - bandit.leave_one_out(rewards), [1, -1 / 3, -1 / 3, -1 / 3])


def test_the_closed_form_at_the_start():
    said = ", ".join(f"{g:g}" for g in bandit.policy_gradient(SHOWN, REWARD).round(9)).replace("-", "−")
    assert f"({said}) at the start" in LESSON.text


def test_the_chain_of_tokens():
    tokens = np.array([[tinylm.FINAL, 1, 2, tinylm.EOS] + [tinylm.PAD] * 4])
    logp, _, _ = tasks.checkpoint("add").token_logp(
        tasks.Add().prompt_ids(np.array([75])), tokens, (tokens != tinylm.PAD).astype(float)
    )
    row = " | ".join([*(f"{p:.3f}" for p in np.exp(logp[0, :4])), f"{np.exp(logp.sum()):.3f}"])
    assert f"| probability | {row} |" in LESSON.text
    row = " | ".join([*(f"{p:.3f}" for p in logp[0, :4]), f"{logp.sum():.3f}"]).replace("-", "−")
    assert f"| log-probability | {row} |" in LESSON.text
    LESSON.says("8,708", sum(array.size for array in tinylm.Policy().params.values()))


def test_the_variance_of_one_draw():
    LESSON.says("0.1302", bandit.gradient_variance(SHOWN, REWARD))
    LESSON.says("0.0888", bandit.gradient_variance(SHOWN, REWARD, 0.3))
    best = bandit.best_baseline(SHOWN, REWARD)
    LESSON.says("0.238", best)
    LESSON.says("0.0858", bandit.gradient_variance(SHOWN, REWARD, best))
    LESSON.says("81.9", bandit.gradient_variance(SHOWN, REWARD + 10))


SEEDS = range(100)  # all that the knob offers


def test_what_the_runs_showed():
    for knobs in ({}, dict(method=EXACT)):
        for seed in SEEDS:
            assert 0.995 <= result(**knobs, seed=seed).right[-1].mean() < 0.9965
            assert np.flatnonzero(result(**knobs, seed=seed).right.mean(axis=1) > 0.9)[0] in (13, 14, 15)
    assert "0.995 to 0.996 in the mean" in LESSON.text and "by update 15" in LESSON.text
    ends = [failed(**LAZY, seed=seed) for seed in SEEDS]
    assert (min(ends), max(ends)) == (6, 18) and "6 to 18 of the 20 runs" in LESSON.text
    LESSON.says("12.6", np.mean(ends))
    assert result(method=SFT).right[-1].mean() == pytest.approx(0.3, abs=1e-9)


def test_the_first_update_of_the_first_run():
    first = result(**LAZY)
    assert first.drawn.tolist() == [3, 0, 0, 4, 1]
    assert first.pushed[4] < 0 < first.pushed[0] < first.pushed[3]  # `hmm` falls though paid; `12` rises most
    LESSON.says("0.735", first.policies[1, 0, 3])
    LESSON.says("0.219", first.policies[1, 0, 0])
    ends = np.concatenate([result(**LAZY, seed=seed).policies[-1] for seed in SEEDS])
    assert np.quantile(ends.max(axis=1), 0.02) > 0.95  # all but certain of something
    for seed in SEEDS:
        policies = result(**LAZY, seed=seed).policies
        surest = np.where(policies.max(axis=-1) > 0.95, policies.argmax(axis=-1), -1)  # (steps + 1, runs)
        assert any(len(set(run[run >= 0])) > 1 for run in surest.T)  # and of another one before, in some run


def test_the_language_model():
    def after(seed, **knobs):
        *_, (_, pass_rate, _) = widget.language_model(Knobs(seed=seed, **knobs))
        return pass_rate

    LESSON.says("0.329", tasks.exact_pass(tasks.checkpoint("add")).mean())
    for text, low, high, knobs in (
        ("0.85 to 0.87 over six seeds", 0.85, 0.87, {}),
        ("to 0.24 at best", 0.0, 0.24, LAZY),
        ("imitation to 0.29 to 0.36", 0.29, 0.36, dict(method=SFT)),
        ("it reaches 0.88 to 0.91", 0.88, 0.91, dict(baseline="none")),
    ):
        assert text in LESSON.text
        ends = [after(seed, **knobs) for seed in range(5)]
        assert low - 0.01 < min(ends) and max(ends) < high + 0.01, ends


def test_the_two_divergences():
    target, wide, narrow = np.array([0.495, 0.01, 0.495]), np.ones(3) / 3, np.array([0.9, 0.09, 0.01])
    LESSON.says("0.356", kl.divergence(target, wide))
    LESSON.says("0.905", kl.divergence(wide, target))
    LESSON.says("1.614", kl.divergence(target, narrow))
    LESSON.says("0.697", kl.divergence(narrow, target))


def test_the_price_on_the_distance_is_a_reverse_divergence():
    reward, beta, ref, pi = (
        np.array([1.0, 0.2, 0.0, 0.5]),
        0.3,
        np.array([0.1, 0.2, 0.3, 0.4]),
        np.array([0.4, 0.3, 0.2, 0.1]),
    )
    best = kl.reverse_kl_optimum(reward, ref, beta)

    def objective(p):
        return p @ reward - beta * kl.divergence(p, ref)

    assert objective(best) == pytest.approx(beta * np.log(ref @ np.exp(reward / beta)), abs=1e-12)
    assert objective(best) - objective(pi) == pytest.approx(beta * kl.divergence(pi, best), abs=1e-12)


def test_the_answers():
    ends = [failed(offset=5, baseline="none", seed=seed) for seed in SEEDS]
    assert (min(ends), max(ends)) == (2, 11) and "2 to 11 of 20 runs" in LESSON.text
    late = []
    for seed in SEEDS:
        assert result(shown=0.9, seed=seed).right[-1].mean() == pytest.approx(0.996, abs=0.0007)
        assert 0.945 <= result(shown=0.01, seed=seed).right[-1].mean() < 0.995
        late.append(np.flatnonzero(result(shown=0.01, seed=seed).right.mean(axis=1) > 0.9)[0])
    assert (min(late), max(late)) == (105, 172) and "between update 105 and 172" in LESSON.text
    assert "0.996 or so" in LESSON.text and "0.95 to 0.99 at the end" in LESSON.text
    paid = [result(partial=1.0, seed=seed) for seed in SEEDS]
    assert min(r.J[-1].mean() for r in paid) > 0.99
    right = [r.right[-1].mean() for r in paid]
    assert np.round([min(right), max(right)], 2).tolist() == [0.55, 0.88] and "0.55 to 0.88" in LESSON.text
