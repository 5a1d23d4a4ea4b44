"""Two other ways to make several reward models into one, and settings to be found in which caution pays."""

import numpy as np

from sim.estimators import reward_ensemble
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.reward_models.widget import OUT, SQUARES, UNCERTAINTY, Knobs, done

FOUR = np.array([[1.0, 0.3], [0.4, 0.1], [1.6, 0.9], [0.8, -0.5]])  # four members, two completions
CALLS = tuple((FOUR, how, lam) for how in ("mean", "lowest", "uncertainty") for lam in (0.5, 1.0))


def by_column(rewards, how, lowest, charge):
    combined = []
    for column in np.transpose(rewards):
        mean = sum(column) / len(column)
        deviation = np.sqrt(sum((R - mean) ** 2 for R in column) / len(column))
        combined.append(dict(mean=mean, lowest=sorted(column)[lowest], uncertainty=mean - charge(deviation))[how])
    return np.array(combined)


CHANGE = Change(
    (reward_ensemble.aggregate,),
    "several rewards combined into one",
    (
        Exercise(
            "Let “uncertainty” subtract lam times the standard deviation across the members instead of the variance.",
            CALLS,
            lambda rewards, how, lam: by_column(rewards, how, 0, lambda deviation: lam * deviation),
            (
                "Only the last line changes. The subtracted number is then in nats, as the rewards are.",
                "Use std(axis=0) in place of var(axis=0).",
            ),
            ("lam * rewards.var(axis=0)", "lam * rewards.std(axis=0)"),
        ),
        Exercise(
            "Be a little less cautious: let “lowest” be the second lowest of the members.",
            CALLS,
            lambda rewards, how, lam: by_column(rewards, how, 1, lambda deviation: lam * deviation**2),
            (
                "np.sort(rewards, axis=0) puts the members of each completion in order, the lowest in row 0.",
                "Row 1 of the sorted members is the second lowest.",
            ),
            ("        return rewards.min(axis=0)", "        return np.sort(rewards, axis=0)[1]"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "With 30 pairs, squares seen, a KL of 16 nats and length left in, let none of the 16 runs end below the start.",
        lambda k, r: bool(
            done(r) and (k.pairs, k.features, k.kl) == (30, SQUARES, 16.0) and k.how != OUT and r.below == 0
        ),
        Knobs(how=UNCERTAINTY, pairs=30, features=SQUARES, kl=16.0, bias=0.25),
    ),
    Challenge(
        "With a labelers' bonus of 1, 200 pairs, 8 nats and length left in, reach a mean win rate of 0.85.",
        lambda k, r: bool(done(r) and (k.bias, k.pairs, k.kl) == (1.0, 200, 8.0) and k.how != OUT and r.mean >= 0.85),
        Knobs(how=UNCERTAINTY, features=SQUARES, bias=1.0, E=10),
    ),
)
