"""The lesson on red teams: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import detection
from sim.verifiers import contamination, redteam
from sim.verifiers.redteam import CLASS_OF
from tests.lessons import spreads

EXPENSIVE = "chased", "lost_of_a_hundred"
values = partial(spreads.values, "18b_red_team")
ROUNDS, UPDATES = 12, 15
CLOSES = {"class": CLASS_OF, "instance": redteam.EACH_ITS_OWN, "nothing": None}
REFUSES = {"class": 0.015, "instance": 0.003, "nothing": 0.0}


@cache
def run(seed, patch="class", audit=64, overlap=0.2, heldout=False, refuses=None, eta=0.35):
    """(Wall, Rounds)"""
    price = REFUSES[patch] if refuses is None else refuses
    rng = np.random.default_rng(seed)
    return redteam.run(rng, ROUNDS, UPDATES, eta, audit, overlap, CLOSES[patch], price, heldout)


def last(measure, **knobs):
    return lambda seed: float(measure(run(seed, **knobs)[1][-1])[-1])


def second(**knobs):
    """What the held-out verifier says at the end."""

    def of(seed):
        built, rounds = run(seed, **knobs)
        return float(redteam.heldout(rounds[-1], built.shared)[-1])

    return of


def hacked_after(number, **knobs):
    """Share of the completions that use a hole after so many rounds."""
    return lambda seed: float(redteam.hacked(run(seed, **knobs)[1][number - 1])[-1])


def over_the_run(**knobs):
    """Solved, mean over the updates."""
    return lambda seed: float(redteam.along(run(seed, **knobs)[1], redteam.solved).mean())


def most(**knobs):
    return lambda seed: float(redteam.along(run(seed, **knobs)[1], redteam.hacked).max())


FEW = dict(patch="instance", audit=16, overlap=0.0)
OVERLAPS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
MEASURED = {
    **{
        f"{patch}, {overlap:g}: solved": last(redteam.solved, patch=patch, overlap=overlap)
        for patch in ("class", "instance")
        for overlap in OVERLAPS
    },
    **{f"{patch}, 0.2: held-out": second(patch=patch) for patch in CLOSES},
    **{f"{patch}, 0.2: training": last(redteam.proxy, patch=patch) for patch in CLOSES},
    **{f"instance, 16 read, none shared: hacked after {n}": hacked_after(n, **FEW) for n in (1, 2, 3, 4, 5, 6, 7, 8)},
    **{
        f"class, 16 read, none shared: hacked after {n}": hacked_after(n, patch="class", audit=16, overlap=0.0)
        for n in (1, 2, 3, 4)
    },
    **{f"class: hacked after {n}": hacked_after(n) for n in (1, 2, 3)},
    "nothing: solved": last(redteam.solved, patch="nothing"),
    **{
        f"held-out in the reward, {o:g}: solved": last(redteam.solved, heldout=True, overlap=o)
        for o in (0.0, 0.05, 0.2)
    },
    "class: mean solved": over_the_run(),
    "instance, 16 read, none shared: mean solved": over_the_run(**FEW),
    "class, 4 read: mean solved": over_the_run(audit=4),
    "class, a fifth refused: mean solved": over_the_run(refuses=0.2),
    "class, nothing refused: mean solved": over_the_run(refuses=0.0),
    "class, 0.1: most hacked": most(eta=0.1),
    "class, 0.1: solved at 0.1": last(redteam.solved, eta=0.1),
}

START = 0.3375  # solved before training
_, gained = contamination.gained()


def lost(words):
    """(20,), whether less is solved in the end than before training."""
    return values(f"{words}: solved") < START


def few_read(patch, n):
    """(20,), hacked after n rounds if 16 are read and no hole is shared."""
    return values(f"{patch}, 16 read, none shared: hacked after {n}")


def trains(n, patch="class"):
    """What the training verifier says after n rounds."""
    return redteam.proxy(run(0, patch)[1][n - 1])[-1]


def held_out(n, patch="class"):
    built, rounds = run(0, patch)
    return redteam.heldout(rounds[n - 1], built.shared)[-1]


def left_open():
    """Of each hole that is open at the end though instances were patched, whether it is shared."""
    built, rounds = run(0, "instance")
    return built.shared[rounds[-1].open & ~rounds[-1].closed]


def audited():
    """The first round with classes patched."""
    return run(0)[1][0]


@cache
def chased(n):
    """(300,), the same as `few_read` of instances."""
    return np.array([hacked_after(n, **FEW)(seed) for seed in range(300)])


def lost_of_a_hundred():
    return sum(last(redteam.solved)(seed) < START for seed in range(100))


def finished(model):
    return contamination.finished(model)[1][0]


def test_what_is_hacked_after_the_first_round_is_the_same_in_all_runs():
    assert values("class: hacked after 1").std() < 1e-5


def test_after_eight_rounds_all_that_is_used_is_closed():
    assert few_read("instance", 8).max() < 0.02


def test_both_verifiers_report_one():
    for which in ("held-out", "training"):
        assert values(f"instance, 0.2: {which}").min() > 0.995
    assert values("instance, 0: solved").min() == pytest.approx(0.6, abs=0.005)
    for n in range(4, ROUNDS + 1):
        assert held_out(n, "instance") > 0.97 and trains(n, "instance") > 0.97


def test_a_held_out_verifier_in_the_reward_does_no_harm_only_if_it_shares_no_hole():
    assert values("held-out in the reward, 0: solved").min() > 0.595


def test_with_nothing_patched_nothing_is_solved():
    assert values("nothing: solved").max() < 0.005


def test_patches_that_refuse_a_fifth_of_the_right_work_make_learning_slower_in_every_seed():
    assert (values("class, a fifth refused: mean solved") < values("class: mean solved")).all()


def test_a_bonus_that_is_larger_than_what_the_form_costs():
    assert detection.bonus_wins(0.3, 0.5, 0.3) and not detection.bonus_wins(0.19, 0.5, 0.3)
