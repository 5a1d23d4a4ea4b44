"""The numbers of the lesson on red teams, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import detection
from sim.verifiers import contamination, redteam
from tests.lessons.prose import Lesson, agrees

ROUNDS, UPDATES = 12, 15
CLOSES = {"class": redteam.CLASS_OF, "instance": redteam.EACH_ITS_OWN, "nothing": None}
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

LESSON = Lesson("18b")
kept = LESSON.kept
START = 0.3375  # solved before training


def lost(words):
    """Of twenty, which end with less solved than before training."""
    return kept(f"{words}: solved") < START


def test_the_smallest_case():
    LESSON.says("0.34", redteam.SHARES @ redteam.SOLVES)
    LESSON.says("191", np.exp(15 * 0.35))
    LESSON.says("23", np.exp(15 * 0.35 * 0.6))
    assert "$e^{2.1}$, about eight, a round" in LESSON.text and pytest.approx(2.1) == 15 * 0.35 * 0.4
    LESSON.says("62", 100 * kept("class: hacked after 1").mean())
    assert kept("class: hacked after 1").std() < 1e-5


def test_what_an_audit_sees():
    LESSON.says("299", detection.audits_needed(0.01, 0.95))
    LESSON.says("0.38", detection.shared_hole(0.02, 24))
    LESSON.says("0.995", detection.shared_hole(0.2, 24))
    LESSON.says("0.0096", detection.whole_class_shared(0.2, 24, 6))
    LESSON.says("0.32", detection.whole_class_shared(0.5, 24, 6))


def test_instances_are_chased_and_classes_are_not():
    LESSON.spread("94 ± 2", 100 * kept("instance, 16 read, none shared: hacked after 3"))
    after = 100 * kept("instance, 16 read, none shared: hacked after 8")
    assert after.max() < 2 and "After eight rounds all that is used is closed" in LESSON.text
    LESSON.says("91", 100 * kept("instance, 16 read, none shared: hacked after 4").mean())
    LESSON.says("1", 100 * kept("class, 16 read, none shared: hacked after 4").mean())


def test_both_verifiers_report_one():
    for which in ("held-out", "training"):
        assert kept(f"instance, 0.2: {which}").min() > 0.995
    LESSON.counts("nothing is solved, in {} of twenty seeds", kept("instance, 0.2: solved") < 0.005)
    assert kept("instance, 0: solved").min() == pytest.approx(0.6, abs=0.005)
    built, rounds = run(0, "instance")
    left = rounds[-1].open & ~rounds[-1].closed
    assert left.sum() == 3 and built.shared[left].all() and "Three holes are open here" in LESSON.text
    first = rounds[0]
    LESSON.says("0.83", redteam.proxy(first)[-1])
    LESSON.says("0.48", redteam.heldout(first, built.shared)[-1])
    assert "from the fourth on both are above 0.97" in LESSON.text
    for this in rounds[3:]:
        assert redteam.heldout(this, built.shared)[-1] > 0.97 and redteam.proxy(this)[-1] > 0.97
    LESSON.counts("is enough to lose {} of twenty runs", lost("instance, 0.05"))
    assert not lost("class, 0.2").any() and "none of the twenty is lost" in LESSON.text
    assert lost("class, 0.8").sum() > 15


def test_a_held_out_verifier_that_is_in_the_reward():
    LESSON.counts("0.00 solved in {} of twenty seeds", kept("held-out in the reward, 0.2: solved") < 0.005)
    assert kept("held-out in the reward, 0: solved").min() > 0.595


def test_a_gap_and_a_price():
    built, rounds = run(0)
    LESSON.says("0.548", redteam.proxy(rounds[-1])[-1])
    LESSON.says("0.600", redteam.heldout(rounds[-1], built.shared)[-1])
    assert kept("nothing: solved").max() < 0.005
    built, rounds = run(0, "nothing")
    LESSON.says("0.43", redteam.heldout(rounds[-1], built.shared)[-1])
    LESSON.says("0.47", kept("class, a fifth refused: mean solved").mean())
    LESSON.says("0.55", kept("class: mean solved").mean())
    assert (kept("class, a fifth refused: mean solved") < kept("class: mean solved")).all()


def test_the_table_of_twenty_seeds():
    fold = LESSON.text.split('"Twenty seeds"')[1].split("???")[0]
    rows = [line.strip().strip("|").split("|") for line in fold.splitlines() if line.strip().startswith("|")][2:]
    assert len(rows) == 10
    for patch, overlap, solved, many in ([cell.strip() for cell in row] for row in rows):
        agrees(solved, kept(f"{patch}, {overlap}: solved"))
        assert int(many) == lost(f"{patch}, {overlap}").sum()


def test_the_numbers_below_the_table():
    LESSON.spread("0.55 ± 0.01", kept("class: mean solved"))
    LESSON.spread("0.40 ± 0.02", kept("instance, 16 read, none shared: mean solved"))
    LESSON.spread("0.33 ± 0.13", kept("class, 4 read: mean solved"))
    chased = [kept(f"instance, 16 read, none shared: hacked after {n}").mean() for n in range(1, 8)]
    assert ", ".join(f"{share:.2f}" for share in chased) in LESSON.text
    by_class = [kept(f"class, 16 read, none shared: hacked after {n}").mean() for n in range(1, 5)]
    assert ", ".join(f"{share:.2f}" for share in by_class) in LESSON.text
    LESSON.spread("0.26 ± 0.08", kept("class, 0.1: most hacked"))


@pytest.mark.slow
def test_the_chase_over_three_hundred_seeds():
    ends = np.array([[hacked_after(n, **FEW)(seed) for n in (7, 8)] for seed in range(300)])
    assert "0.02 on average after seven, at most 0.36, and at most 0.03 after eight" in LESSON.text
    assert [*ends.mean(axis=0)[:1], *ends.max(axis=0)] == pytest.approx([0.02, 0.36, 0.03], abs=0.005)


@pytest.mark.slow
def test_two_of_a_hundred_seeds_are_lost():
    assert sum(last(redteam.solved)(seed) < START for seed in range(100)) == 2
    assert "Of the seeds 0 to 99 two are lost at 0.2" in LESSON.text


def test_what_is_reported_of_a_benchmark():
    _, points = contamination.gained()
    for words, value in zip(("29.1", "24.1", "21.4"), points, strict=True):
        LESSON.says(words, value)
    LESSON.says("54.6", contamination.finished("Qwen2.5-Math-7B")[1][0])
    LESSON.says("3.8", contamination.finished("Llama-3.1-8B")[1][0])


def test_a_bonus_that_is_larger_than_what_the_form_costs():
    assert detection.bonus_wins(0.3, 0.5, 0.3) and not detection.bonus_wins(0.19, 0.5, 0.3)
    LESSON.says("0.60", 0.3 + 0.3)


def test_class_patches_close_what_no_audit_has_seen():
    _, (first, *_) = run(0)
    assert first.closed.all() and (~first.found).sum() == 12 and len(np.unique(redteam.CLASS_OF[first.found])) == 6
    assert "six patches close 24 holes here, twelve of which no audit had seen" in LESSON.text
