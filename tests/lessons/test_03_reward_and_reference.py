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
from tests.lessons import spreads
from tests.lessons.prose import Lesson, agrees
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


def points(**knobs):
    return lambda seed: catalogue.last(widget, **knobs, seed=seed).points


def ends(**knobs):
    return lambda seed: points(**knobs)(seed)[-1].gold


def far(**knobs):
    return lambda seed: points(**knobs)(seed)[-1].kl


def last_batch(seed):
    """anchored.train without a price, up to the batch of its last point."""
    controller = add_run(
        dr_grpo,
        seed=seed,
        task=tasks.GradedAdd(0.5 / kl_anchor.THOUGHTS),
        hyper=dict(beta=0.0, inner_epochs=1),
        exact_every=widget.UPDATES + 1,
    )
    return [event.summary["batch"] for event in controller.iterate(widget.UPDATES + 1) if event.role == "env"][-1]


def thoughts(seed):
    """`hmm` in each completion of that batch."""
    batch = last_batch(seed)
    return ((batch.tokens == tinylm.HMM) * batch.response_mask).sum(axis=1)


MEASURED = {
    **{f"price {beta}": ends(beta=beta) for beta in (1.0, 0.5, 0.3, 0.001, 20.0)},
    **{f"verifier, price {beta}": ends(source="verifier", beta=beta) for beta in (0.0, 0.3, 1.0)},
    "price 0.3, least of the first dozen updates": lambda seed: min(p.gold for p in points(beta=0.3)(seed)[:4]),
    "price 0.001, pay": lambda seed: points(beta=0.001)(seed)[-1].proxy,
    "price 0.001, nats by the log": lambda seed: points(beta=0.001)(seed)[-1].kl_logged,
    "its own reference": ends(reference=ALIAS),
    "its own reference, nats": far(reference=ALIAS),
    "its own reference, nats by the log": lambda seed: points(reference=ALIAS)(seed)[-1].kl_logged,
    "hack 0.9, no price": ends(beta=0.0, hack=0.9),
    "hack 0.9, no price, after four updates": lambda seed: points(beta=0.0, hack=0.9)(seed)[1].gold,
    "hack 0.9, price 0.2": ends(beta=0.2, hack=0.9),
    "hack 0.5, no price": ends(beta=0.0, hack=0.5),
    "hack 0.5, no price, nats": far(beta=0.0, hack=0.5),
    "hack 0.5, no price, thoughts": lambda seed: thoughts(seed).mean(),
}


kept = LESSON.kept


def test_the_trained_models():
    LESSON.says("0.329", next(widget.run(Knobs())).points[0].gold)
    for beta in (1.0, 0.5, 0.3):
        (said,) = re.findall(rf"^\| \[β = {beta:g}\]\(.*\| (.* ± .*) \|$", LESSON.text, re.M)
        agrees(said, kept(f"price {beta}"))
    LESSON.between("between 0.00 and 0.29", kept("price 0.3"))
    LESSON.spread("0.34 ± 0.02", kept("price 20.0"))
    LESSON.counts("{} of the twenty fall below 0.01", kept("price 0.3, least of the first dozen updates") < 0.01)
    assert (kept("price 0.3") < 0.329).all() and "none gets back to its start" in LESSON.text
    assert (kept("price 0.5") > 0.329).all() and "falls below its start somewhere between 0.5 and 0.3" in LESSON.text
    assert kept("price 0.001").max() < 5e-4
    assert kept("price 0.001, pay") == pytest.approx([1.5] * 20, abs=0.01)
    assert kept("price 0.001, nats by the log") == pytest.approx([1.9] * 20, abs=0.1)
    assert "about 1.9 nats away" in LESSON.text


def test_with_a_verifier_every_nat_is_learning_forgone():
    free, dear, dearest = (kept(f"verifier, price {beta}") for beta in (0.0, 0.3, 1.0))
    LESSON.spread("0.91 ± 0.01", free)
    LESSON.spread("0.87 ± 0.01", dear)
    LESSON.spread("0.58 ± 0.01", dearest)
    assert (free > dear).all() and (dear > dearest).all()


def test_the_model_that_falls_for_a_hack_it_should_not_want_and_the_one_that_goes_far_and_is_right():
    assert kept("hack 0.9, no price").max() < 5e-4 and "in all twenty seeds" in LESSON.text
    assert 0.03 < kept("hack 0.9, no price, after four updates").mean() < 0.06 and "one in twenty or so" in LESSON.text
    LESSON.spread("0.71 ± 0.05", kept("hack 0.9, price 0.2"))
    LESSON.spread("0.90 ± 0.02", kept("hack 0.5, no price"))
    far = kept("hack 0.5, no price, nats")
    LESSON.between("1.2 nats in the nearest, 7.2 in the farthest", far)
    thinks = kept("hack 0.5, no price, thoughts")
    assert (thinks[far > 5] > 3).all() and (thinks[far < 2.5] < 0.5).all()


def test_what_a_far_and_right_completion_earns():
    seed = next(seed for seed, nats in zip(spreads.SEEDS, kept("hack 0.5, no price, nats")) if nats > 5)
    batch, thought = last_batch(seed), thoughts(seed)
    assert np.mean((thought >= 3) & (thought <= 5)) > 0.9
    LESSON.says("1.25", batch.reward[(thought == 4) & (batch.accuracy == 1)].mean())
    assert 4 + len(["Final: ", "1", "2", "<eos>"]) == tasks.Add.T


def test_the_alias_and_the_collapsed_log():
    assert kept("its own reference, nats") == pytest.approx([1.9] * 20, abs=0.1)
    assert "ends at about 1.9 nats" in LESSON.text and "with nothing right in any of twenty seeds" in LESSON.text
    assert abs(kept("its own reference, nats by the log")).max() < 1e-9 and kept("its own reference").max() < 5e-4
    collapsed = hacking.optimum(REF, hacking.proxy(1.5), 0.001)
    means = hacking.sampled_kl(collapsed, REF, 4096, 100, np.random.default_rng(0)).mean(axis=1)
    LESSON.says("0.85", hacking.distance(collapsed, REF) - means[2])
    few = hacking.sampled_kl(collapsed, REF, 16, 100, np.random.default_rng(0)).mean(axis=1)
    assert few[2] == pytest.approx(means[2], abs=1e-6)


def test_the_answers():
    _, _, gold = next(widget.run(Knobs(hack=0.9))).sweep
    assert (np.diff(gold) >= 0).all() and hacking.best_price(REF, 0.9) == 0
