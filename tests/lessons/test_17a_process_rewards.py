"""The lesson on step labels and step rewards: what its numbers are computed by, and what it says without a number."""

from collections import namedtuple
from functools import cache, partial

import numpy as np
import pytest
from scipy.optimize import brentq

from sim.estimators import step_credit, step_labels
from sim.estimators.step_credit import prefix_tokens, sampled_values
from sim.estimators.step_labels import AGREE, ANY, MORE, PEOPLE, SHARE, any_rates, best_K, more_than_rate
from sim.experiments import step_rewards, step_scorer
from sim.experiments.step_rewards import MIN, NEED, OUTCOME, PROGRESS, RATED, SUM, UPDATES, H
from sim.worlds import step_chain
from sim.worlds.optimizer import SGD, AdamW
from tests.lessons import spreads
from widgets.process_rewards import figures, widget

OPTIMIZERS = dict(AdamW=lambda: AdamW(0.05, clip=1.0), SGD=lambda: SGD(0.3))
V = step_chain.chain_values()  # probability that a completion from a step is right
values = partial(spreads.values, "17a_process_rewards")


@cache
def scorer(seed, rule, K, part=0.25, rescue=step_chain.RESCUE, chains=step_scorer.CHAINS):
    return step_scorer.run(rule, K, part, rescue, chains, seed)


def best(*setting):
    """F1 at the scorer's own threshold, by the seed."""
    return lambda seed: scorer(seed, *setting).at(scorer(seed, *setting).best).F1


def at_half(*setting):
    return lambda seed: scorer(seed, *setting).at(step_scorer.HALF).F1


def apart(seed):
    """How far the scorers of shares of one ending and of sixteen are apart, mean over the same steps."""
    return float(np.abs(scorer(seed, SHARE, 1).prob - scorer(seed, SHARE, 16).prob).mean())


@cache
def trained(seed, form, optimizer, less=0.0, filler=0.95):
    """(share solved, steps, reward of the last twenty batches)"""
    training = step_rewards.train(form, np.random.default_rng(seed), OPTIMIZERS[optimizer](), filler, less)
    updates = list(training)
    return *step_rewards.outlook(updates[-1].logits), float(np.mean([u.reward for u in updates[-20:]]))


def end(which, *setting):
    return lambda seed: trained(seed, *setting)[which]


def early(form, optimizer):
    """The share solved after the first updates."""

    def solved(seed):
        training = step_rewards.train(form, np.random.default_rng(seed), OPTIMIZERS[optimizer](), updates=EARLY)
        return step_rewards.outlook(list(training)[-1].logits)[0]

    return solved


EARLY = 40
SOLVED, STEPS, REWARD = range(3)
COUNTS, FEW = (1, 2, 4, 8, 16), 5
RULED = [(rule, K) for rule in (ANY, SHARE, MORE, AGREE) for K in COUNTS] + [(PEOPLE, 1)]
STRONG = [(ANY, 4, 0.25, 0.2), (MORE, 16, 0.5, 0.2), (SHARE, 16, 0.25, 0.2)]
TAKEN = (0.8, 0.9, 0.95, 1.0, 1.2)
RUNS = [(form, o) for form in (OUTCOME, SUM, MIN, PROGRESS) for o in OPTIMIZERS]
RUNS += [(SUM, o, less) for less in TAKEN for o in OPTIMIZERS]
RUNS += [(form, o, 0.0, 0.0) for form in (SUM, MIN) for o in OPTIMIZERS]
MEASURED = {
    **{f"F1, {rule}, {K}": best(rule, K) for rule, K in RULED},
    **{f"F1 at a half, {rule}, {K}": at_half(rule, K) for rule, K in RULED},
    **{f"F1, more than half, {K}": best(MORE, K, 0.5) for K in COUNTS},
    **{f"F1, {SHARE}, {K}, few chains": best(SHARE, K, 0.25, step_chain.RESCUE, FEW) for K in (1, 16)},
    "scores of one and sixteen apart": apart,
    **{f"F1, {rule}, {K}, rescue 0.2": best(rule, K, part, rescue) for rule, K, part, rescue in STRONG},
    "threshold, share": lambda seed: scorer(seed, SHARE, 16).best,
    **{f"solved, {'; '.join(map(str, run))}": end(SOLVED, *run) for run in RUNS},
    **{f"steps, {'; '.join(map(str, run))}": end(STEPS, *run) for run in RUNS},
    **{f"reward, {form}; AdamW": end(REWARD, form, "AdamW") for form in (SUM, PROGRESS)},
    **{f"solved after {EARLY}, {form}; {o}": early(form, o) for form in (OUTCOME, PROGRESS) for o in OPTIMIZERS},
}

HALF = "more than half"
RULES = ANY, MORE, HALF, SHARE, AGREE
Run = namedtuple("Run", "solved steps soon")


def sound(rescue=step_chain.RESCUE):
    """Probability that a completion from the third step is right if that step is sound."""
    return step_chain.chain_values(rescue=rescue)[3, 1]


def flawed(rescue=step_chain.RESCUE):
    return step_chain.chain_values(rescue=rescue)[3, 0]


def F1(rule, K):
    """(20,), of first errors at the scorer's own threshold."""
    return values(f"F1, {rule}, {K}")


def read_at_half(rule, K):
    return values(f"F1 at a half, {rule}, {K}")


def deviations():
    """The least and the greatest of the table of first errors."""
    rows = [F1(rule, K) for rule in RULES for K in COUNTS]
    rows += [read_at_half(rule, K) for rule in (ANY, SHARE) for K in COUNTS]
    return min(row.std(ddof=1) for row in rows), max(row.std(ddof=1) for row in rows)


def at_the_end(optimizer, form, *rest):
    """% solved, steps of a chain, and % solved after the first updates, each (20,)."""
    run, soon = "; ".join(map(str, (form, optimizer, *rest))), f"solved after {EARLY}, {form}; {optimizer}"
    early = 100 * values(soon) if soon in MEASURED else None
    return Run(100 * values(f"solved, {run}"), values(f"steps, {run}"), early)


adamw, sgd = partial(at_the_end, "AdamW"), partial(at_the_end, "SGD")


def least_of_three():
    """% solved in the worst seed of the three forms that hold."""
    return int(min(run(form).solved.min() for form in (OUTCOME, MIN, PROGRESS) for run in (adamw, sgd)))


def added(L):
    """Variance of flat credit, of a step's own, and their quotient, where scores add up."""
    flat, step = step_credit.additive(L, 0.5, 0.5)
    return flat, step, flat / step


def all_good(p, L=8):
    """The same where all steps must be good."""
    flat, step = step_credit.all_or_nothing(L, p)
    return flat, step, flat / step


def gae(p, lam):
    return step_credit.gae_variance(8, p, lam)


def level():
    """Where the two are equal."""
    return brentq(lambda p: all_good(p)[2] - 1, 0.6, 0.95)


def early_kept(K):
    """Share of the flawed ones among the first four steps that is kept if a person and any of K must say the same.

    Exact: how many chains are flawed at each step, and how often both say the same of one.
    """
    flawed = [0.1]
    for _ in range(3):
        flawed.append(flawed[-1] * (1 - step_chain.RESCUE) + (1 - flawed[-1]) * (1 - step_chain.SOUND))
    good = any_rates(V[1:5, 0], K)
    both = step_labels.PERSON * good + (1 - step_labels.PERSON) * (1 - good)
    return np.average(both, weights=flawed)


def test_no_rule_ends_higher_with_sixteen_completions_than_with_one():
    for rule in RULES:
        gained = F1(rule, 16) - F1(rule, 1)
        assert gained.mean() < 2 * gained.std(ddof=1) / len(gained) ** 0.5, rule
    assert abs(F1(SHARE, 16).mean() - F1(SHARE, 1).mean()) < 0.002


def test_agreement_is_no_better_than_the_person_alone_from_two_completions_on():
    assert all((F1(AGREE, K) - F1(PEOPLE, 1)).mean() < 0 for K in COUNTS[1:])


def test_where_chains_are_few_shares_of_sixteen_completions_teach_more_than_those_of_one():
    one, sixteen = (values(f"F1, {SHARE}, {K}, few chains") for K in (1, 16))
    gained = sixteen - one
    assert gained.mean() > 2 * gained.std(ddof=1) / len(gained) ** 0.5


def test_with_0_9_off_each_step_adamw_pads_in_the_seed_that_the_instrument_opens_with():
    assert trained(0, SUM, "AdamW", 0.9)[SOLVED] < 0.01 and trained(0, SUM, "AdamW", 0.9)[STEPS] > H - 1


def test_the_sum_holds_in_no_seed():
    for run in (adamw, sgd):
        assert run(SUM).solved.max() < 0.5 and run(SUM, 1.2).solved.max() < 0.5
        assert run(SUM, 1.2).steps.max() < 0.05
        assert (run(SUM, 1.0).solved < 1).all()
    assert (sgd(MIN, 0.0, 0.0).solved < 0.5).all()
    assert (adamw(SUM, 0.95).solved > 99).all() and (sgd(SUM, 0.95).solved < 2).all()


def test_where_filler_is_scored_0_a_policy_that_does_not_count_does_best_without_a_stop():
    left = np.arange(1, H - NEED + 1)  # steps that are left, once the work is done
    paid = []
    for stop in np.linspace(0, 1, 101):
        before = np.cumprod(np.r_[1, np.full(H - NEED - 1, 1 - stop)])
        paid.append((before * (stop + (1 - stop) * RATED)).sum())
    assert np.argmax(paid) == 0 and paid[0] == pytest.approx(left[-1] * RATED)


def test_the_first_policy_is_paid_under_2_by_the_sum():
    steps = sum((2 / 3) ** t for t in range(1, H + 1))
    assert 1.7 < steps * (0.8 + 0.95) / 2 + step_rewards.outlook(np.zeros((NEED + 1, 3)))[0] < 1.9


def test_between_0_95_and_1_05_the_best_policy_works_four_times_and_stops():
    def best(less):
        """By the work done, what brings most with any number of steps left: the value of each, from the last step."""
        value, choice = np.zeros(NEED + 1), None
        for _ in range(H):
            work = RATED - less + value[np.minimum(np.arange(NEED + 1) + 1, NEED)]
            stop = (np.arange(NEED + 1) == NEED) * 1.0
            options = np.array([work, 0.95 - less + value, stop])
            value, choice = options.max(axis=0), options.argmax(axis=0)
        return choice.tolist()

    for less in (0.96, 1.0, 1.04):
        assert best(less) == [0, 0, 0, 0, 2]
    assert best(1.06)[0] == 2 and best(0.9)[NEED] == 1


def test_the_opening_begins_and_ends_as_the_front_matter_says():
    opening = {moment: figures.followed(figures.SETTINGS[1])[moment][0].reward for moment in (0, UPDATES)}
    assert 1 < opening[0] < 2 and opening[UPDATES] == pytest.approx(11.4, abs=0.05)
    assert figures.followed(figures.SETTINGS[0])[UPDATES][1] > 0.99


def test_values_by_nine_completions_of_each_prefix_are_worth_it_where_steps_are_seldom_good():
    assert sampled_values(8, 0.5, 9) < all_good(0.5)[0] / 3 and sampled_values(8, 0.9, 9) > all_good(0.9)[0]


def test_the_usual_numbers_of_the_verdicts():
    assert abs(adamw(PROGRESS).solved.mean() - 99.7) < 0.1
    assert abs(adamw(PROGRESS).steps.mean() - 4.4) < 0.1
    assert widget.GUESS.answers[widget.GUESS.right] == "0.3"
