"""The numbers of the lesson on what reinforcement learning adds, recomputed."""

import re

import numpy as np
import pytest

from sim.estimators import kl
from sim.experiments import after_sft, five_answers
from sim.worlds import bandit, policies, tinylm
from tests.lessons.prose import Lesson
from tests.widgets.what_rl_adds.test_widget import result
from widgets.what_rl_adds import figures, widget
from widgets.what_rl_adds.widget import EXACT, SFT, Knobs

LESSON = Lesson("01")
SHOWN, REWARD = np.array([0.30, 0.15, 0.15, 0.25, 0.15]), np.array([1.0, 0, 0, 0, 0])
LAZY = dict(offset=10, baseline="none")


def eight():
    arms, _, _, pushes, policies = figures.update_of(figures.OFFSET)
    return arms, (pushes, policies)


def failed(**knobs):
    return int((result(**knobs).right[-1] < 0.5).sum())


def test_the_optimum_of_imitation():
    LESSON.says("1.561", bandit.cross_entropy(SHOWN, SHOWN))
    LESSON.says("1.609", bandit.cross_entropy(np.ones(5) / 5, np.ones(5) / 5))
    np.testing.assert_allclose(widget.demonstrations(Knobs()), SHOWN)


def test_the_four_draws_and_their_weights():
    rewards = REWARD[five_answers.FOUR]
    compared = rewards - bandit.leave_one_out(rewards)
    np.testing.assert_allclose(compared, [1, -1 / 3, -1 / 3, -1 / 3])
    assert (
        "The checker pays 1, 0, 0, 0." in LESSON.text
        and "1 for the right completion, −1/3 for each wrong" in LESSON.text
    )
    assert [five_answers.ANSWERS[arm] for arm in five_answers.FOUR] == ["Final: 12", "12", "12", "Final: 13"]


def test_a_push_by_hand():
    """1 less the probability on its own logit, minus the probability on another."""
    (own, *_, bare, _) = np.eye(5)[0] - SHOWN
    LESSON.says("0.70", own)
    LESSON.says("−0.25", bare)
    moved = np.log(bandit.softmax(np.log(SHOWN) + 1e-6 * np.eye(5))[:, 0] / SHOWN[0]) / 1e-6  # by each logit
    np.testing.assert_allclose(moved, np.eye(5)[0] - SHOWN, atol=1e-5)
    assert "right 30 times in 100" in LESSON.text and five_answers.imitated()[-1][0] == pytest.approx(0.3)


def test_which_of_the_five_rise_and_which_fall():
    """The answer to the pause."""
    rewards = REWARD[five_answers.FOUR]
    change = [
        five_answers.by_draw(SHOWN, five_answers.FOUR, weight)[1][-1] - SHOWN
        for weight in (rewards, rewards - bandit.leave_one_out(rewards))
    ]
    for plain_or_not in change:
        assert plain_or_not[0] > 0 and (plain_or_not[1:] < 0).all()
    plain, compared = change
    assert compared[0] > plain[0]
    assert compared[1] < plain[1] < compared[2] and compared[3] < plain[3]  # drawn and failed; not drawn
    assert compared[4] == pytest.approx(compared[2])


def test_every_row_of_the_table_is_what_the_code_shows():
    rows = re.findall(r"^\| `(.+?)`.*? \| (0\.\d\d) \| ([01]) \|$", LESSON.text, re.M)
    assert [name for name, _, _ in rows] == list(five_answers.ANSWERS)
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float), np.array([SHOWN, REWARD]).T)
    np.testing.assert_allclose(SHOWN, five_answers.SHOWN)


def test_the_closed_form_at_the_start():
    said = ", ".join(f"{g:g}" for g in bandit.policy_gradient(SHOWN, REWARD).round(9)).replace("-", "−")
    assert f"({said}) at the start" in LESSON.text


def test_two_completions_that_agree_push_alike_until_they_part():
    """So their pushes cancel where the weights are +1 and −1, and what is left is the last digit's."""
    logp = figures.chain_logp()
    np.testing.assert_allclose(logp[0, :2], logp[1, :2], atol=1e-12)
    assert logp[0, 2] > logp[1, 2] and np.exp(logp[:, 3]).min() > 0.999  # the end is certain, it has no push to give
    assert np.exp(logp.sum(axis=1)) == pytest.approx([0.234, 0.046], abs=0.0005)
    LESSON.says("8,708", sum(array.size for array in tinylm.Policy().params.values()))
    LESSON.says("11,040", sum(array.size for array in policies.checkpoint().params.values()))
    LESSON.says("0.31", after_sft.start("transformer"))


def test_the_variance_of_one_draw():
    LESSON.says("0.1302", bandit.gradient_variance(SHOWN, REWARD))
    LESSON.says("0.0888", bandit.gradient_variance(SHOWN, REWARD, 0.3))
    best = bandit.best_baseline(SHOWN, REWARD)
    LESSON.says("0.238", best)
    LESSON.says("0.0858", bandit.gradient_variance(SHOWN, REWARD, best))
    LESSON.says("81.9", bandit.gradient_variance(SHOWN, REWARD + 10))


SEEDS = range(100)  # all that the knob offers


def after(**knobs):
    """The pass rate of the language model at the end."""
    return lambda seed: [rate for _, rate, _ in widget.language_model(Knobs(seed=seed, **knobs))][-1]


MEASURED = {
    "failed of twenty": lambda seed: failed(**LAZY, seed=seed),
    "failed of twenty, 5 added": lambda seed: failed(offset=5, baseline="none", seed=seed),
    "with a baseline": after(),
    "10 added, no baseline": after(**LAZY),
    "more demonstrations": after(method=SFT),
    "no baseline": after(baseline="none"),
    "transformer, with a baseline": after(policy="transformer"),
    "transformer, 10 added, no baseline": after(**LAZY, policy="transformer"),
}
kept = LESSON.kept


@LESSON.when_changed
def test_what_the_runs_showed():
    for knobs in ({}, dict(method=EXACT)):
        for seed in SEEDS:
            assert 0.995 <= result(**knobs, seed=seed).right[-1].mean() < 0.9965
    assert "ends near 0.996, as the sampled runs do" in LESSON.text
    LESSON.spread("12.8 ± 2.3", kept("failed of twenty"))
    assert result(method=SFT).right[-1].mean() == pytest.approx(0.3, abs=1e-9)


def test_the_first_update_of_the_first_run():
    first, (arms, (pushes, policies)) = result(**LAZY), eight()
    assert first.drawn.tolist() == [3, 0, 0, 4, 1]
    np.testing.assert_array_equal(np.bincount(arms, minlength=5), first.drawn)  # the figure's eight are those
    np.testing.assert_allclose(pushes[-1], first.pushed)
    np.testing.assert_allclose(policies[-1], first.policies[1, 0], atol=1e-12)
    # `hmm` falls though paid; the right one's logit rises and its share falls, because `12` rises more. By hand, each
    # logit: what its draws were paid, an eighth of it, minus its probability times the mean pay
    paid = np.array([3 * 11, 0, 0, 4 * 10, 10]) / 8
    moved = paid - SHOWN * paid.sum()
    np.testing.assert_allclose(moved, pushes[-1], atol=1e-12)
    assert moved[4] < 0 and "drawn once in eight, so its logit falls" in LESSON.text
    LESSON.says("1.01", moved[0])
    LESSON.says("2.41", moved[3])
    LESSON.says("21.9", 100 * policies[-1][0])
    least = np.log(SHOWN @ np.exp(moved))
    LESSON.says("1.33", least)
    np.testing.assert_array_equal(policies[-1] > SHOWN, moved > least)
    assert (policies[-1] > SHOWN).tolist() == [False, False, False, True, False]
    assert first.drawn[4] == 1 and SHOWN[4] == 0.15 > 1 / 8
    ends = np.concatenate([result(**LAZY, seed=seed).policies[-1] for seed in SEEDS])
    assert np.quantile(ends.max(axis=1), 0.02) > 0.95  # all but certain of something
    for seed in SEEDS:
        policies = result(**LAZY, seed=seed).policies
        surest = np.where(policies.max(axis=-1) > 0.95, policies.argmax(axis=-1), -1)  # (steps + 1, runs)
        assert any(len(set(run[run >= 0])) > 1 for run in surest.T)  # and of another one before, in some run


def test_the_language_model():
    assert after_sft.start() == pytest.approx(0.33, abs=0.005) and "a third of a hundred sums" in LESSON.text
    LESSON.spread("0.85 ± 0.02", kept("with a baseline"))
    assert "the checker takes it to about 85" in LESSON.text
    LESSON.spread("0.89 ± 0.01", kept("no baseline"))
    LESSON.spread("0.08 ± 0.07", kept("10 added, no baseline"))
    assert abs(kept("more demonstrations").mean() - after_sft.start()) < 0.02
    assert "More demonstrations leave it there" in LESSON.text
    LESSON.spread("0.85 ± 0.02", kept("transformer, with a baseline"))
    LESSON.spread("0.14 ± 0.08", kept("transformer, 10 added, no baseline"))


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


@LESSON.when_changed
def test_the_answers():
    LESSON.spread("7.3 ± 1.8", kept("failed of twenty, 5 added"))
    for seed in SEEDS:
        assert result(shown=0.9, seed=seed).right[-1].mean() == pytest.approx(0.996, abs=0.0007)
        assert 0.945 <= result(shown=0.01, seed=seed).right[-1].mean() < 0.995
    assert not result(shown=0).right.any() and "all twenty runs stay at 0" in LESSON.text
    assert "0.996 or so" in LESSON.text and "One demonstration in a hundred" in LESSON.text
    for seed in SEEDS[:20]:
        paid = result(partial=1.0, shown=0.1, seed=seed)
        assert paid.J[-1].mean() > 0.99 and paid.right[-1].mean() < 0.02
    assert "The mean pay ends near 1, and the right completion is gone" in LESSON.text


def test_four_right_draws_have_nothing_to_tell_each_other():
    arms = np.zeros(4, int)
    assert bandit.push(SHOWN, arms, REWARD[arms])[0] > 0
    np.testing.assert_allclose(bandit.push(SHOWN, arms, REWARD[arms] - bandit.leave_one_out(REWARD[arms])), 0)
