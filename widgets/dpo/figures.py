"""The small figures of lesson 16: the reward in a policy, one point for every price, the pairs' own probability, and a
pair that one side always wins.
"""

from functools import cache

import numpy as np

from sim.estimators import bradley_terry, kl, preference_losses
from sim.experiments import direct_preference
from sim.worlds import preferences
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import signed

# ── four completions whose rewards are known ──
REF, REWARD = np.array([0.5, 0.3, 0.15, 0.05]), np.arange(4.0)
FOUR = tuple(f"reward {reward:.0f}" for reward in REWARD)
PRICES = (0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0)


def inside(beta):
    """(the best policy at this price, the reward that can be read off it)."""
    best = kl.reverse_kl_optimum(REWARD, REF, beta)
    return best, preference_losses.implicit_reward(np.log(best), np.log(REF), beta)


def four(beta):
    best, reward = inside(beta)
    return [
        panel(
            "The best policy at this coefficient",
            "probability; dots: the reference",
            bars(FOUR, best, "best policy", 1, text=[f"{p:.2f}" for p in best]),
            dots(FOUR, REF, "reference", 8),
            y_range=(0, 1.1),
        ),
        panel(
            "Its log-ratio times the coefficient",
            "β log π*/π_ref",
            bars(FOUR, reward, "reward inside", 2, text=[signed(each) for each in reward]),
            y_range=(-3.2, 3.2),
        ),
    ]


def steps_of_one(beta):
    reward = inside(beta)[1]
    return (
        f"Each bar is {np.diff(reward).mean():.2f} above the bar before it, just as the rewards are. All bars are "
        f"shifted by {signed(reward[0])}."
    )


# ── the same pairs, once by a reward model and once by DPO ──
PAIRS, BETA, STEPS = 200, 0.4, 400
ENDS = (0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0)
CONVERGED = 1200  # steps, enough for the smallest price


@cache
def world():
    return preferences.GridWorld()


@cache
def pairs():
    return preferences.sample_prefs(world(), PAIRS, np.random.default_rng(0))


@cache
def trained(beta, steps, every):
    return direct_preference.train(world(), *pairs(), "sigmoid", beta, steps, every)


@cache
def model():
    return bradley_terry.fit(world().phi, *pairs())


def ends(beta):
    theta = trained(beta, CONVERGED, CONVERGED).theta[-1]
    axes = dict(x_range=(0, 3.6), y_range=(0, 5))
    arrow = [0, model()[1]], [0, model()[0]]
    others = [trained(other, CONVERGED, CONVERGED).theta[-1] for other in ENDS]
    return [
        panel(
            "Weights of the policy",
            "up: weight of quality; [s8] other values of β",
            dots([t[1] for t in others], [t[0] for t in others], "other values of β", 8),
            dots([theta[1]], [theta[0]], "DPO", 1),
            label(float(theta[1]) + 0.12, float(theta[0]) - 0.35, "DPO", 1),
            x="weight of length",
            **axes,
        ),
        panel(
            "Weights times the coefficient",
            "up: weight of quality; line: reward model",
            line(*arrow, "reward model", 2),
            dots([beta * theta[1]], [beta * theta[0]], "DPO", 1, "here"),
            label(float(model()[1]) + 0.12, float(model()[0]) + 0.1, "reward model, and DPO", 2),
            x="weight of length",
            **axes,
        ),
    ]


def where(beta):
    end = trained(beta, CONVERGED, CONVERGED)
    quality, length = beta * end.theta[-1]
    return (
        f"At β = {beta:g} DPO ends {end.kl[-1]:.1f} nats from the reference. Multiplied by β, its weights of "
        f"quality and length are {quality:.2f} and {length:.2f}."
    )


# ── where the probability of the pairs goes ──
LOOKS = (0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 60, 72, 84, 100, 120, 160, 200, 280, 400)


def displaced(step):
    run = trained(BETA, STEPS, 4)
    at = int(np.searchsorted(run.step, step))
    return [
        panel(
            "What the pairs have gained",
            "mean log-probability minus its start, nats",
            line([0, STEPS], [0, 0], "start", 8, "reference"),
            line(run.step, run.chosen, "winners", 1),
            line(run.step, run.rejected, "losers", 2),
            dots([step], [run.chosen[at]], "winners", 1),
            dots([step], [run.rejected[at]], "losers", 2),
            label(210, -1.9, "winners", 1),
            label(210, -4.4, "losers", 2),
            x="step",
            x_range=(0, STEPS + 8),
            y_range=(-6, 1),
        ),
        panel(
            "Win rate against the reference",
            "share of comparisons, exact",
            line(run.step, run.wins, "policy", 1),
            dots([step], [run.wins[at]], "here", 1),
            x="step",
            x_range=(0, STEPS + 8),
            y_range=(0, 1.04),
        ),
    ]


def so_far(step):
    run = trained(BETA, STEPS, 4)
    at = int(np.searchsorted(run.step, step))
    return (
        f"At step {step} the winners' log-probability has changed by {signed(run.chosen[at])} nats and the losers' by "
        f"{signed(run.rejected[at])}. The policy wins {run.wins[at]:.2f} of its comparisons."
    )


# ── one pair, judged again and again ──
CHANCES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 0.99, 1.0)
TAU = 0.1
MARGIN = np.linspace(-8, 16, 97)


def mean_loss(loss, price, P):
    """Of both ways round that the pair is judged."""
    return P * loss(MARGIN, price)[0] + (1 - P) * loss(-MARGIN, price)[0]


def valleys(P):
    with_ends = (
        ("DPO, β = 0.4", preference_losses.dpo, BETA, preference_losses.dpo_optimum_pair(P, BETA), 1, (-0.15, 3.4)),
        ("IPO, β = 0.1", preference_losses.ipo, TAU, preference_losses.ipo_optimum_pair(P, TAU), 2, (-9, 180)),
    )
    return [
        panel(
            title,
            "mean loss of one pair; dot: where it settles",
            line(MARGIN, mean_loss(loss, price, P), title, series),
            *(
                [dots([rest], [np.interp(rest, MARGIN, mean_loss(loss, price, P))], "rests", series)]
                if np.isfinite(rest)
                else []
            ),
            x="margin h, nats",
            x_range=(-8, 16),
            y_range=span,
        )
        for title, loss, price, rest, series, span in with_ends
    ]


def rests(P):
    dpo, ipo = preference_losses.dpo_optimum_pair(P, BETA), preference_losses.ipo_optimum_pair(P, TAU)
    first = f"DPO settles at a margin of {dpo:.1f} nats" if np.isfinite(dpo) else "DPO never settles"
    return f"One side wins {100 * P:.0f} % of the time. {first}, and IPO settles at {ipo:.1f}."


FIGURES = {
    "inside": Figure(
        four,
        preference_losses.implicit_reward,
        Handle("KL coefficient", PRICES, start=2, words=tuple(f"{beta:g}" for beta in PRICES), symbol="β"),
        steps_of_one,
    ),
    "same": Figure(
        ends,
        direct_preference.train,
        Handle("KL coefficient", ENDS, start=2, words=tuple(f"{beta:g}" for beta in ENDS), symbol="β"),
        where,
    ),
    "displaced": Figure(
        displaced,
        direct_preference.train,
        Handle("Step", LOOKS, start=len(LOOKS) - 1, words=tuple(f"{step} of {STEPS}" for step in LOOKS)),
        so_far,
    ),
    "sure": Figure(
        valleys,
        preference_losses.dpo_optimum_pair,
        Handle(
            "How often one side wins", CHANCES, start=len(CHANCES) - 1, words=tuple(f"{100 * P:.0f} %" for P in CHANCES)
        ),
        rests,
    ),
}
