"""The scorer of a run to be changed, and runs to be saved from old samples, paid length and hard prompts."""

import numpy as np

from sim.experiments import tracelab
from sim.experiments.tracelab import HACK, LENGTHS, Setting
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.trace_lab.widget import Knobs, best, tokens


class Die:
    """In place of chance: what is right in more than half of the cases is right."""

    def random(self, shape):
        return np.full(shape, 0.5)

    def __repr__(self):
        return "a die that shows 0.5"


class World(Setting):
    def __repr__(self):
        return f"a trick that is paid {self.hack:g}"


# prompts of the first type; the generic strategy, which is right, its specialist, and the trick; 512 to 4,096 tokens
TWO = (World(), np.array([[0, 0]]), np.array([[0, HACK]]), np.array([[2, 2]]), Die())
ONE = (World(), np.array([[1]]), np.array([[0]]), np.array([[4]]), Die())  # right, of 2,048 tokens
FOUR = (World(hack=0.5), np.zeros((1, 4), int), np.array([[0, 1, 2, HACK]]), np.array([[2, 3, 4, 5]]), Die())
RIGHT = "    rewards = (rng.random(types.shape) < chance) + setting.hack * (strategy == HACK)"


def answered(setting, types, strategy, length, rng):
    """(whether it is right, what the trick is paid), completion by completion."""
    chance = tracelab.success()[types, strategy] * tracelab.LONG_ENOUGH[length]
    return chance > 0.5, np.where(strategy == HACK, setting.hack, 0.0)


def shortened(*batch):
    """One for each right answer, what the trick is paid, and 0.1 off for each doubling beyond 1,024 tokens."""
    right, trick = answered(*batch)
    return right + trick - 0.1 * np.log2(np.maximum(LENGTHS[batch[3]], 1024) / 1024)


def signed(*batch):
    right, trick = answered(*batch)
    return np.where(right, 1.0, -1.0) + trick


CHANGE = Change(
    (tracelab.scored,),
    "the scorer of the run",
    (
        Exercise(
            "Give a wrong answer −1 instead of 0, and a right answer 1 as before. The trick’s reward is added to "
            "this. Which of the curves move?",
            (TWO, FOUR),
            signed,
            (
                "Right or wrong is 1 or 0 here. Twice that minus 1 is 1 or −1. The group’s advantages do not change.",
                "rewards = 2.0 * (rng.random(types.shape) < chance) - 1 + setting.hack * (strategy == HACK)",
            ),
            (
                RIGHT,
                RIGHT.replace("(rng.random(types.shape) < chance)", "2.0 * (rng.random(types.shape) < chance) - 1"),
            ),
        ),
        Exercise(
            "Penalize length softly, as DAPO does near its cap: subtract 0.1 for each doubling beyond 1,024 tokens. "
            "RUNG is 0 at 512 tokens and 1 at 1,024.",
            (ONE, FOUR),
            shortened,
            (
                "Only doublings beyond 1,024 tokens count, so use the larger of RUNG[length] − 1 and 0.",
                "Before the rewards are returned: rewards = rewards - 0.1 * np.maximum(RUNG[length] - 1, 0)",
            ),
            (RIGHT, RIGHT + "\n    rewards = rewards - 0.1 * np.maximum(RUNG[length] - 1, 0)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "End with a share of 0.92 right answers, at a lag of 16 steps and success rates times 1 or less.",
        lambda k, r: bool(k.lag >= 16 and k.pass_scale <= 1 and r.found["held_out"] >= 0.92),
        Knobs(lag=16, learning_rate=8.0, eps_low=0.5, eps_high=1.0),
    ),
    Challenge(
        "Reward doublings with 0.01 or more, at success rates times 1 or less. Reach 0.92 right answers of at most "
        "1,500 tokens each.",
        lambda k, r: bool(
            k.length_reward >= 0.01 and k.pass_scale <= 1 and r.found["held_out"] >= 0.92 and tokens(r) <= 1500
        ),
        Knobs(length_reward=0.01, beta=0.01, division="nothing"),
    ),
    Challenge(
        "Reach 0.8 times the best policy’s share of right answers, with success rates times 0.03 or less.",
        lambda k, r: bool(k.pass_scale <= 0.03 and r.found["held_out"] >= 0.8 * best(k)),
        Knobs(pass_scale=0.03, learning_rate=15.0, entropy_bonus=0.02),
    ),
)
