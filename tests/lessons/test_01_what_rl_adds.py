"""The lesson on what RL adds: what its numbers are computed by, and what it says without a number."""

from functools import partial

import numpy as np
import pytest

from sim.estimators import kl
from sim.experiments import after_sft, five_answers
from sim.worlds import bandit, policies, tinylm
from tests.lessons import spreads
from tests.widgets.what_rl_adds.test_widget import result
from widgets.what_rl_adds import figures, widget
from widgets.what_rl_adds.widget import EXACT, SFT, Knobs

SHOWN, REWARD, EVEN = five_answers.SHOWN, five_answers.REWARD, np.ones(5) / 5
TARGET, WIDE, NARROW = np.array([0.495, 0.01, 0.495]), np.ones(3) / 3, np.array([0.9, 0.09, 0.01])
LAZY = dict(offset=10, baseline="none")
SEEDS = range(100)  # all that the knob offers
kept = partial(spreads.values, "01_what_rl_adds")

paid = REWARD[five_answers.FOUR]
compared = paid - bandit.leave_one_out(paid)
first_push = np.eye(5)[0] - SHOWN
best = bandit.best_baseline(SHOWN, REWARD)

# the first update of the first run, if all draws are paid 10 or 11
arms, _, _, pushes, shares = figures.update_of(figures.OFFSET)
counts, moved = np.bincount(arms, minlength=5), pushes[-1]
least = np.log(SHOWN @ np.exp(moved))  # a logit that rises by less loses probability


def failed(**knobs):
    return int((result(**knobs).right[-1] < 0.5).sum())


def parameters(policy):
    return sum(array.size for array in policy.params.values())


def test_the_four_draws_are_those_of_the_figure():
    assert [five_answers.ANSWERS[arm] for arm in five_answers.FOUR] == ["Final: 12", "12", "12", "Final: 13"]
    np.testing.assert_allclose(widget.demonstrations(Knobs()), SHOWN)


def test_a_push_by_hand():
    """1 less the probability on its own logit, minus the probability on another."""
    moved = np.log(bandit.softmax(np.log(SHOWN) + 1e-6 * np.eye(5))[:, 0] / SHOWN[0]) / 1e-6  # by each logit
    np.testing.assert_allclose(moved, np.eye(5)[0] - SHOWN, atol=1e-5)


def test_which_of_the_five_rise_and_which_fall():
    """The answer to the pause."""
    plain, other = (five_answers.by_draw(SHOWN, five_answers.FOUR, A)[1][-1] - SHOWN for A in (paid, compared))
    for change in (plain, other):
        assert change[0] > 0 and (change[1:] < 0).all()
    assert other[0] > plain[0]
    assert other[1] < plain[1] < other[2] and other[3] < plain[3]  # drawn and failed; not drawn
    assert other[4] == pytest.approx(other[2])


def test_two_completions_that_agree_push_alike_until_they_part():
    """So their pushes cancel where the weights are +1 and −1, and what is left is the last digit's."""
    logp = figures.chain_logp()
    np.testing.assert_allclose(logp[0, :2], logp[1, :2], atol=1e-12)
    assert logp[0, 2] > logp[1, 2] and np.exp(logp[:, 3]).min() > 0.999  # the end is certain, it has no push to give
    assert np.exp(logp.sum(axis=1)) == pytest.approx([0.234, 0.046], abs=0.0005)


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


@pytest.mark.when_changed()
def test_what_the_runs_showed():
    for knobs in ({}, dict(method=EXACT)):
        for seed in SEEDS:
            assert 0.995 <= result(**knobs, seed=seed).right[-1].mean() < 0.9965
    assert result(method=SFT).right[-1].mean() == pytest.approx(0.3, abs=1e-9)


def test_the_first_update_of_the_first_run():
    first = result(**LAZY)
    np.testing.assert_array_equal(counts, first.drawn)  # the figure's eight are those
    np.testing.assert_allclose(moved, first.pushed)
    np.testing.assert_allclose(shares[-1], first.policies[1, 0], atol=1e-12)
    # by hand, each logit: what its draws were paid, an eighth of it, minus its probability times the mean pay
    pay = np.array([3 * 11, 0, 0, 4 * 10, 10]) / 8
    np.testing.assert_allclose(pay - SHOWN * pay.sum(), moved, atol=1e-12)
    assert moved[4] < 0  # `hmm` falls though paid
    np.testing.assert_array_equal(shares[-1] > SHOWN, moved > least)
    assert (shares[-1] > SHOWN).tolist() == [False, False, False, True, False]


@pytest.mark.slow
def test_nearly_every_lazy_run_ends_all_but_certain_and_some_were_of_something_else_before():
    ends = np.concatenate([result(**LAZY, seed=seed).policies[-1] for seed in SEEDS])
    assert np.quantile(ends.max(axis=1), 0.02) > 0.95  # all but certain of something
    for seed in SEEDS:
        pi = result(**LAZY, seed=seed).policies
        surest = np.where(pi.max(axis=-1) > 0.95, pi.argmax(axis=-1), -1)  # (steps + 1, runs)
        assert any(len(set(run[run >= 0])) > 1 for run in surest.T)


def test_more_demonstrations_leave_the_language_model_where_it_is():
    assert abs(kept("more demonstrations").mean() - after_sft.start()) < 0.02


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


@pytest.mark.when_changed()
def test_the_answers():
    for seed in SEEDS:
        assert result(shown=0.9, seed=seed).right[-1].mean() == pytest.approx(0.996, abs=0.0007)
        assert 0.945 <= result(shown=0.01, seed=seed).right[-1].mean() < 0.995
    for seed in SEEDS[:20]:
        paid = result(partial=1.0, shown=0.1, seed=seed)
        assert paid.J[-1].mean() > 0.99 and paid.right[-1].mean() < 0.02


def test_four_right_draws_have_nothing_to_tell_each_other():
    arms = np.zeros(4, int)
    assert bandit.push(SHOWN, arms, REWARD[arms])[0] > 0
    np.testing.assert_allclose(bandit.push(SHOWN, arms, REWARD[arms] - bandit.leave_one_out(REWARD[arms])), 0)
