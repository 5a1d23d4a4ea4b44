"""The numbers of the lesson on reward and reference, recomputed."""

import re

import numpy as np
import pytest

from sim.algorithms import dr_grpo
from sim.estimators import hacking
from sim.experiments import kl_anchor, running_batch
from sim.experiments.standard_runs import add_run
from sim.worlds import modsum, tasks, tinylm
from sim.worlds.scorer import score
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets.reward_and_reference import widget
from widgets.reward_and_reference.widget import ALIAS, Knobs

LESSON = Lesson("03")
REF = hacking.reference(0.15)


def test_the_table_of_five_answers():
    for words, share, gold, paid in zip(
        ("`Final: 12`", "`Final: 13`", "`Final: 11`", "`12`", "`hmm hmm hmm …`, never ends"),
        hacking.SHARES,
        hacking.GOLD,
        hacking.proxy(1.5),
    ):
        assert f"| {words} | {share:.2f} | {gold:g} | {paid:g} |" in LESSON.text


def test_the_table_of_verdicts():
    rows = re.findall(r"^ *\| `(Final[^`]*)`([^|]*)\| ([01]) \| `(\w+)` \|$", LESSON.text, re.M)
    assert len(rows) == 6
    for text, _, reward, reason in rows:
        verdict = score({"expected_answer": "12"}, text)
        assert (verdict["reward"], verdict["details"]["reason"]) == (float(reward), reason)


def test_the_price_of_leaving():
    LESSON.says("1.90", hacking.nats_to_reach(0.15))
    LESSON.says("13.8", hacking.nats_to_reach(1e-6))
    LESSON.says("1.38", 0.1 * hacking.nats_to_reach(1e-6))


def test_the_curve_and_its_turning_points():
    best = hacking.best_price(REF, 1.5)
    LESSON.says("0.753", best)
    LESSON.says("0.407", hacking.optimum(REF, hacking.proxy(1.5), best)[0])
    LESSON.says("0.333", hacking.crossover(REF, 1.5))
    LESSON.says("0.30", REF[0])


def test_the_running_batch_some_updates_later():
    sums = (running_batch.drawn_logp(running_batch.later(100)) - running_batch.drawn_logp(modsum.Policy())).sum(axis=1)
    LESSON.says("0.19", -0.1 * sums[1])
    assert ((sums > 0) == (running_batch.RIGHT > 0)).all()


SEEDS = range(6)


def ends_within(low, high, seeds=SEEDS, **knobs):
    """These seeds end in the range that the text gives, but for what another processor's rounding makes of it."""
    ends = [catalogue.last(widget, **knobs, seed=seed).points[-1] for seed in seeds]
    assert low in LESSON.text and high in LESSON.text
    assert all(float(low) - 0.02 <= point.gold <= float(high) + 0.02 for point in ends), ends
    return ends


@LESSON.when_changed
def test_the_trained_models():
    LESSON.says("0.329", next(widget.run(Knobs())).points[0].gold)
    ends_within("0.39", "0.47")
    ends_within("0.40", "0.44", beta=0.5)
    ends_within("0.00", "0.22", beta=0.3)
    ends_within("0.31", "0.36", beta=20.0)
    for seed in SEEDS:
        assert min(p.gold for p in catalogue.last(widget, beta=0.3, seed=seed).points[:4]) < 0.01
    for point in ends_within("0.00", "0.00", beta=0.001):
        assert point.gold < 5e-4 and point.proxy == pytest.approx(1.5, abs=0.01)
        assert point.kl_logged == pytest.approx(1.9, abs=0.1) and "about 1.9 nats away" in LESSON.text


@LESSON.when_changed
def test_with_a_verifier_every_nat_is_learning_forgone():
    free, dear, dearest = (
        ends_within(low, high, source="verifier", beta=beta)
        for low, high, beta in (("0.89", "0.93", 0.0), ("0.85", "0.89", 0.3), ("0.53", "0.59", 1.0))
    )
    assert all(a.gold > b.gold > c.gold for a, b, c in zip(free, dear, dearest))


@LESSON.when_changed
def test_the_model_that_falls_for_a_hack_it_should_not_want_and_the_one_that_goes_far_and_is_right():
    assert all(point.gold < 5e-4 for point in ends_within("0.00", "0.00", beta=0.0, hack=0.9))
    for seed in SEEDS:
        assert catalogue.last(widget, beta=0.0, hack=0.9, seed=seed).points[1].gold < 0.06
    ends_within("0.67", "0.76", beta=0.2, hack=0.9)
    far = [point.kl for point in ends_within("0.88", "0.92", beta=0.0, hack=0.5)]
    assert min(far) < 2 and sum(kl > 6 for kl in far) == 3


@LESSON.when_changed
def test_how_long_the_far_and_right_model_thinks():
    """anchored.train without a price, up to the batch of its last point."""
    c = 0.5 / kl_anchor.THOUGHTS
    for seed, thinks in ((0, True), (1, False)):
        controller = add_run(
            dr_grpo,
            seed=seed,
            task=tasks.GradedAdd(c),
            hyper=dict(beta=0.0, inner_epochs=1),
            exact_every=widget.UPDATES + 1,
        )
        batch = [event.summary["batch"] for event in controller.iterate(widget.UPDATES + 1) if event.role == "env"][-1]
        thoughts = ((batch.tokens == tinylm.HMM) * batch.response_mask).sum(axis=1)
        assert np.mean((thoughts >= 3) & (thoughts <= 5)) > 0.9 if thinks else np.mean(thoughts == 0) > 0.9
        if thinks:
            LESSON.says("1.25", batch.reward[(thoughts == 4) & (batch.accuracy == 1)].mean())
    assert 4 + len(["Final: ", "1", "2", "<eos>"]) == tasks.Add.T


@LESSON.when_changed
def test_the_alias_and_the_collapsed_log():
    for seed in SEEDS:
        point = catalogue.last(widget, reference=ALIAS, seed=seed).points[-1]
        assert point.kl == pytest.approx(1.9, abs=0.1) and "ends at about 1.9 nats" in LESSON.text
        assert abs(point.kl_logged) < 1e-9 and point.gold < 5e-4
    collapsed = hacking.optimum(REF, hacking.proxy(1.5), 0.001)
    means = hacking.sampled_kl(collapsed, REF, 4096, 100, np.random.default_rng(0)).mean(axis=1)
    LESSON.says("0.85", hacking.distance(collapsed, REF) - means[2])
    few = hacking.sampled_kl(collapsed, REF, 16, 100, np.random.default_rng(0)).mean(axis=1)
    assert few[2] == pytest.approx(means[2], abs=1e-6)


def test_the_answers():
    _, _, gold = next(widget.run(Knobs(hack=0.9))).sweep
    assert (np.diff(gold) >= 0).all() and hacking.best_price(REF, 0.9) == 0
