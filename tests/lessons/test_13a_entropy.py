"""The lesson on entropy and exploration: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import entropy, kl
from sim.experiments import lost_prompts, rare_prize
from sim.worlds.optimizer import SGD
from tests.lessons import spreads
from widgets.entropy import figures

EXPENSIVE = "ended", "frame"
kept = partial(spreads.values, "13a_entropy")
start_entropy = entropy.entropy(rare_prize.prize(200).start)
equal_ways = np.exp(start_entropy)
rate_of_adamw = rare_prize.LEARNING_RATES["AdamW"]
OFF = 5.0  # the widest bound of the page


@cache
def ended(seed, odds, alpha, beta, eps_low, eps_high, optimizer):
    """The last frame of 24 runs."""
    world, rng = rare_prize.prize(odds), np.random.default_rng(seed)
    *_, last = rare_prize.run(world, alpha, beta, eps_low, eps_high, rare_prize.optimizer(optimizer), rng)
    return last


def found(alpha, optimizer="SGD", odds=200, beta=0.0, eps_low=0.2, eps_high=0.2):
    """How many of 24 runs find the prize, by the seed."""
    return lambda seed: int(rare_prize.found(ended(seed, odds, alpha, beta, eps_low, eps_high, optimizer)).sum())


def right(alpha, optimizer="SGD", odds=200, beta=0.0, eps_low=0.2, eps_high=0.2):
    """How many of 100 draws are right, by the seed."""
    return lambda seed: 100 * ended(seed, odds, alpha, beta, eps_low, eps_high, optimizer).right.mean()


def brought_back(alpha):
    """How many of 24 runs find the prize if the bonus comes late: where it has become one draw in 6,200, as in the
    middle run after twenty updates without one.
    """

    def of(seed):
        late = rare_prize.World(figures.middle(20), rare_prize.prize(200).right)
        *_, last = rare_prize.run(late, alpha, 0.0, 0.2, 0.2, rare_prize.optimizer("SGD"), np.random.default_rng(seed))
        return int(rare_prize.found(last).sum())

    return of


def longer(odds, alpha):
    """How many of 24 runs find the prize in twice as many updates."""

    def of(seed):
        step, rng = rare_prize.optimizer("SGD"), np.random.default_rng(seed)
        world, updates = rare_prize.prize(odds), 2 * rare_prize.UPDATES
        *_, last = rare_prize.run(world, alpha, 0.0, 0.2, 0.2, step, rng, updates=updates)
        return int(rare_prize.found(last).sum())

    return of


def by_rate(rate):
    """How many of 24 runs find the prize without a bonus under AdamW at another rate."""

    def of(seed):
        step, rng = rare_prize.optimizer("AdamW", rate), np.random.default_rng(seed)
        *_, last = rare_prize.run(rare_prize.prize(200), 0.0, 0.0, 0.2, 0.2, step, rng)
        return int(rare_prize.found(last).sum())

    return of


def ways_left(eps_low, optimizer, rate, eps_high=0.2):
    """Of twenty, when coins are paid."""

    def of(seed):
        step, rng = rare_prize.optimizer(optimizer, rate), np.random.default_rng(seed)
        *_, last = rare_prize.run(rare_prize.coins(), 0.0, 0.0, eps_low, eps_high, step, rng, updates=150)
        return rare_prize.ways_left(last)

    return of


@cache
def chances(seed, eps, beta, alpha, optimizer):
    return lost_prompts.trained(eps, beta, alpha, seed, SGD(1.0) if optimizer == "SGD" else None)


def lost(eps, beta=0.0, alpha=0.0, optimizer="AdamW"):
    """Sums that are answered rightly less than one time in a hundred."""
    return lambda seed: int(lost_prompts.lost(chances(seed, eps, beta, alpha, optimizer)).sum())


def of_ten(measure, eps, alpha=0.0):
    """The mean of ten further runs, `measure` of their chances: of lost sums the runs differ by as much as their mean,
    and twenty seeds are 200 runs.
    """
    return lambda seed: float(
        np.mean([measure(chances(run, eps, 0.0, alpha, "AdamW")) for run in range(10 * seed, 10 * seed + 10)])
    )


def gone(chances):
    return lost_prompts.lost(chances).sum()


def many_gone(chances):
    return gone(chances) >= 10


def of_one_digit(chances):
    """The most lost sums whose answers end in the same digit."""
    lost = np.flatnonzero(lost_prompts.lost(chances))
    return max(np.bincount((lost // 10 + lost % 10) % 10, minlength=10))


def solved(eps, draws, beta=0.0, alpha=0.0):
    """Of 100 sums, with so many draws."""
    return lambda seed: 100 * lost_prompts.pass_at(chances(seed, eps, beta, alpha, "AdamW"), draws)


SETTINGS = {
    "no bonus": dict(alpha=0.0),
    "bonus 0.05": dict(alpha=0.05),
    "bonus 0.1": dict(alpha=0.1),
    "bonus 0.2": dict(alpha=0.2),
    "bonus 0.5": dict(alpha=0.5),
    "one in 50, no bonus": dict(alpha=0.0, odds=50),
    "one in 50, no bonus, no clip": dict(alpha=0.0, odds=50, eps_low=1.0, eps_high=OFF),
    "one in 50, price 0.1": dict(alpha=0.0, odds=50, beta=0.1),
    "one in 500, bonus 0.1": dict(alpha=0.1, odds=500),
    "one in 500, bonus 0.2": dict(alpha=0.2, odds=500),
    "bonus 0.1, price 0.5": dict(alpha=0.1, beta=0.5),
    "no bonus, clip above 0.28": dict(alpha=0.0, eps_high=0.28),
}
CLIP, WIDE = 0.2, lost_prompts.WIDE
MEASURED = {
    **{
        f"{what.__name__}, {words}, {optimizer}": what(optimizer=optimizer, **settings)
        for words, settings in SETTINGS.items()
        for optimizer in ("SGD", "AdamW")
        for what in (found, right)
    },
    **{f"coins, below {low:g}, SGD": ways_left(low, "SGD", 4.0) for low in (0.1, 0.2, 1.0)},
    **{f"coins, below {low:g}, AdamW 0.1": ways_left(low, "AdamW", 0.1) for low in (0.1, 0.2, 1.0)},
    **{f"coins, below {low:g}, AdamW 0.02": ways_left(low, "AdamW", 0.02) for low in (0.1, 1.0)},
    "coins, no clip, SGD": ways_left(1.0, "SGD", 4.0, OFF),
    "found, no bonus, 120 updates, SGD": longer(200, 0.0),
    "found, one in 500, bonus 0.1, 120 updates, SGD": longer(500, 0.1),
    **{f"found, late bonus {alpha:g}, SGD": brought_back(alpha) for alpha in (0.1, 0.2)},
    **{f"found, no bonus, AdamW {rate:g}": by_rate(rate) for rate in (0.01, 0.1)},
    "lost, clip": lost(CLIP),
    "lost, no clip, of ten": of_ten(gone, WIDE),
    "lost, bonus, of ten": of_ten(gone, WIDE, alpha=0.1),
    "ten lost, no clip, of ten": of_ten(many_gone, WIDE),
    "ten lost, bonus, of ten": of_ten(many_gone, WIDE, alpha=0.1),
    "lost of one digit, no clip, of ten": of_ten(of_one_digit, WIDE),
    "lost, price": lost(WIDE, beta=0.1),
    "lost, bonus and price": lost(WIDE, beta=0.1, alpha=0.1),
    "lost, no clip, SGD": lost(WIDE, optimizer="SGD"),
    "pass@1, clip": solved(CLIP, 1),
    "pass@1, no clip": solved(WIDE, 1),
    "pass@64, clip": solved(CLIP, 64),
    "pass@64, no clip": solved(WIDE, 64),
    "pass@1, price": solved(WIDE, 1, beta=0.1),
}


def last_frame(setting):
    """Of one of the two runs of the opening."""
    return figures.frame(setting, 60)


def one_draw_in(update):
    """How rare the prize is in the middle run, to hundreds."""
    return round(1 / figures.middle(update)[rare_prize.PRIZE], -2)


def push_on_the_prize(update):
    return entropy.bonus(figures.middle(update))[rare_prize.PRIZE]


def at_a_price():
    """The last frame of runs at a price of 0.5, the prize one in 50."""
    return ended(0, 50, 0.0, 0.5, 0.2, 0.2, "SGD")


def best_at_a_price():
    """The prize under the best policy at that price."""
    world = rare_prize.prize(50)
    return kl.reverse_kl_optimum(world.right, world.start, 0.5)[rare_prize.PRIZE]


def falls_by(natural):
    """Entropy of the fold's four ways, for each unit of the rate."""
    logits = np.exp([0.3, -0.2, 1.0, 0.0])
    pi, R = logits / logits.sum(), np.array([1, -0.5, 0.2, 0.0])
    return -entropy.rate(pi, R - pi @ R, natural=natural)


def near(values, number):
    """In the mean, to what another processor may change."""
    return abs(values.mean() - number) < 0.7


def test_the_two_runs_of_the_opening():
    with_bonus, without = map(last_frame, figures.SETTINGS)
    assert with_bonus.right.mean() > 0.9 and without.right.mean() == pytest.approx(0.5, abs=0.01)
    assert without.entropy.mean() == pytest.approx(0.03, abs=0.005)


def test_how_often_a_batch_has_the_prize_at_first_and_after_twenty_updates():
    at_first = 1 - (1 - 1 / 200) ** rare_prize.DRAWS
    assert at_first == pytest.approx(0.27, abs=0.005)
    assert rare_prize.DRAWS / one_draw_in(20) == pytest.approx(0.01, abs=0.002)


def test_clip_higher_costs_adamw_nothing_in_any_seed():
    assert (kept("found, no bonus, clip above 0.28, AdamW") >= kept("found, no bonus, AdamW")).all()


def test_of_one_in_50_adamw_finds_all_and_sgd_more_at_a_small_price():
    assert (kept("found, one in 50, no bonus, AdamW") == 24).all()
    assert (kept("found, one in 50, no bonus, no clip, AdamW") == 24).all()
    assert (kept("found, one in 50, price 0.1, SGD") > kept("found, one in 50, no bonus, SGD")).all()


def test_which_ways_go_out_is_not_luck_alone():
    assert kept("coins, below 1, AdamW 0.02").min() > 3
    assert (kept("coins, no clip, SGD") > kept("coins, below 1, SGD")).all()


def test_a_bonus_does_not_keep_the_sums():
    worse = kept("lost, bonus, of ten") - kept("lost, no clip, of ten")
    assert worse.mean() > 3 * worse.std(ddof=1) / np.sqrt(len(worse))
