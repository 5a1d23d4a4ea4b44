"""How step scores become one to be changed, and problems to be solved with few steps or by noisy scores."""

import numpy as np

from sim.estimators import chain_score
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.search.widget import Knobs

STEPS = np.array([[2.0, -1.0], [0.5, 0.0]])
CALLS = ((STEPS, "product"), (np.array([[[1.0, -2.0, 0.3], [0.2, 0.1, 4.0]]]), "product"), (STEPS, "min"))
LINE = "        return -np.log1p(np.exp(-log_odds)).sum(axis=-1)"
SOUND = 0.77  # chance of a sound step


def verdicts(log_odds, how):
    """How often a scorer says yes that says nothing else."""
    if how == "min":
        return log_odds.min(axis=-1)
    chains = log_odds.reshape(-1, log_odds.shape[-1]).tolist()
    return np.reshape([len([s for s in steps if s >= 0]) for steps in chains], log_odds.shape[:-1])


def given_all(log_odds, how):
    """Bayes' rule over the places of the first flaw: how likely the scores are, and the prior of the place."""
    if how == "min":
        return log_odds.min(axis=-1)
    n = log_odds.shape[-1]
    place = [SOUND**j * (1 - SOUND) * np.exp(2 * log_odds[..., :j].sum(axis=-1)) for j in range(n)]
    end = SOUND**n * np.exp(2 * log_odds.sum(axis=-1))
    return end / (end + sum(place))


CHANGE = Change(
    (chain_score.chain_score,),
    "the score of a chain",
    (
        Exercise(
            "Let “product” count the steps that score 0 or more, as if the scorer could only say yes or no. Leave "
            "the other ways unchanged.",
            CALLS,
            verdicts,
            (
                "Each score becomes a verdict before the sum, so no logarithm is needed.",
                "`log_odds >= 0` gives the verdicts, and a sum along the last axis counts them.",
            ),
            (LINE, "        return (log_odds >= 0).sum(axis=-1)"),
        ),
        Exercise(
            "Let “product” be the probability that the chain is sound given all its scores. `soundness` in the same "
            "file computes it, with 2 s as the log-ratio of a score s and 0.77 as the probability of a sound step.",
            CALLS,
            given_all,
            (
                "A flawed prefix stays flawed, so a good score late in the chain also speaks for the steps before it.",
                "Call `soundness` with the log-ratios first and the probability second. It returns the score.",
            ),
            (LINE, "        return soundness(2 * log_odds, 0.77)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "With 20 steps to write, both noises at 1 and no flaws fixed, make the search solve 78 %.",
        lambda k, r: bool(
            k.budget == 20 and k.orm_noise == 1 and k.prm_noise == 1 and k.recover == 0 and r.searched >= 78
        ),
        Knobs(budget=20, searcher="tree"),
    ),
    Challenge(
        "With a step-score noise of 2, no flaws fixed and seed 0, make the search solve 78 %.",
        lambda k, r: bool(k.prm_noise == 2 and k.recover == 0 and k.seed == 0 and r.searched >= 78),
        Knobs(budget=320, prm_noise=2.0, how="mean"),
    ),
    Challenge(
        "With 5 blind spots per 100 chains and no flaws fixed, solve 63 % with the best of 256 by answer score.",
        lambda k, r: bool(k.blind_spots == 5 and k.recover == 0 and r.by_answers[-1] >= 63),
        Knobs(blind_spots=5.0, orm_noise=2.0),
    ),
)
