"""The numbers of the lesson on reward and reference, recomputed."""

import re

import numpy as np
import pytest

from sim.algorithms import dr_grpo
from sim.estimators import hacking, kl
from sim.experiments import anchored
from sim.experiments.runs import add_run
from sim.worlds import tasks, tinylm
from sim.worlds.scorer import score
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import reward_and_reference as widget
from widgets.reward_and_reference import ALIAS, Knobs

LESSON = Lesson("03")
REF = hacking.reference(0.15)


def end(**knobs):
    return catalogue.last(widget, **knobs).points[-1]


def test_the_table_of_five_answers():
    for words, share, gold, paid in zip(
        ("`Final: 12`", "`Final: 13`", "`Final: 11`", "`12`", "`hmm hmm hmm …`, never ends"),
        hacking.SHARES,
        hacking.GOLD,
        hacking.proxy(1.5),
    ):
        assert f"| {words} | {share:.2f} | {gold:g} | {paid:g} |" in LESSON.text


def test_the_table_of_verdicts():
    rows = re.findall(r"^\| `(Final[^`]*)`([^|]*)\| ([01]) \| `(\w+)` \|$", LESSON.text, re.M)
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
    LESSON.says("0.300", REF[0])


def test_the_three_estimators():
    policy, ref = np.array([0.6, 0.3, 0.1]), np.array([0.3, 0.3, 0.4])
    moments, scores = kl.k_moments(policy, ref, policy), kl.softmax_score(policy)
    # sums over the three tokens by hand: KL .2772588722, E k2 .2402265070, std k1 .6352798845, std k3 .4537792488
    np.testing.assert_allclose(moments.mean, [0.2772588722, 0.2402265070, 0.2772588722], atol=1e-9)
    np.testing.assert_allclose(np.sqrt(moments.variance[[0, 2]]), [0.6352798845, 0.4537792488], atol=1e-9)
    assert kl.divergence(ref, policy) == pytest.approx(0.3465735903, abs=1e-9)
    LESSON.says("0.277", moments.mean[0])
    LESSON.says("0.240", moments.mean[1])
    LESSON.says("0.454", np.sqrt(moments.variance[2]))
    LESSON.says("0.635", np.sqrt(moments.variance[0]))
    gradient = {k: kl.penalty_gradient(policy, ref, policy, scores, k, "loss") for k in kl.VALUE}
    np.testing.assert_allclose(gradient["k1"], 0, atol=1e-12)
    np.testing.assert_allclose(
        gradient["k2"], [0.249532985, -0.0831776617, -0.1663553233], atol=1e-9
    )  # central differences of KL(p‖q)
    np.testing.assert_allclose(gradient["k2"], kl.reverse_kl_gradient(policy, ref, scores), atol=1e-12)
    np.testing.assert_allclose(gradient["k3"], policy - ref, atol=1e-12)
    assert "(0.250, −0.083, −0.166)" in LESSON.text and "(0.3, 0, −0.3)" in LESSON.text


def test_the_gaussians_of_the_erratum():
    moments = kl.gaussian_moments(0.5)
    assert moments.mean[0] == pytest.approx(0.125, abs=1e-12)
    LESSON.says("0.1328", moments.mean[1])
    LESSON.says("0.125", moments.mean[0])


def test_the_trained_models():
    LESSON.says("0.453", end().gold)
    LESSON.says("0.417", end(beta=0.5).gold)
    LESSON.says("0.211", end(beta=0.3).gold)
    LESSON.says("0.000", end(beta=0.001).gold)
    LESSON.says("1.89", end(beta=0.001).kl_logged)
    LESSON.says("0.920", end(beta=0.0, source="verifier").gold)
    LESSON.says("0.875", end(beta=0.3, source="verifier").gold)
    LESSON.says("0.329", next(widget.run(Knobs())).points[0].gold)


def test_the_model_that_falls_for_a_hack_it_should_not_want_and_the_one_that_goes_far_and_is_right():
    LESSON.says("0.000", end(beta=0.0, hack=0.9).gold)
    LESSON.says("0.749", end(beta=0.2, hack=0.9).gold)
    LESSON.says("0.907", end(beta=0.0, hack=0.5).gold)
    LESSON.says("6.6", end(beta=0.0, hack=0.5).kl)


def test_how_long_the_far_and_right_model_thinks():
    """anchored.train without a price, up to the batch of its last point."""
    c = 0.5 / anchored.THOUGHTS
    controller = add_run(
        dr_grpo, task=tasks.GradedAdd(c), hyper=dict(beta=0.0, inner_epochs=1), exact_every=widget.UPDATES + 1
    )
    batch = [event.summary["batch"] for event in controller.iterate(widget.UPDATES + 1) if event.role == "env"][-1]
    assert batch.reward.mean() == end(beta=0.0, hack=0.5).proxy
    thoughts = ((batch.tokens == tinylm.HMM) * batch.response_mask).sum(axis=1)
    LESSON.says("116", (thoughts == 4).sum())
    assert len(thoughts) == 128 and "116 of 128 completions" in LESSON.text
    LESSON.says("1.25", batch.reward[(thoughts == 4) & (batch.accuracy == 1)].mean())
    assert 4 + len(["Final: ", "1", "2", "<eos>"]) == tasks.Add.T


def test_the_alias_and_the_collapsed_log():
    LESSON.says("1.89", end(reference=ALIAS).kl)
    assert abs(end(reference=ALIAS).kl_logged) < 1e-9
    errors = next(widget.run(Knobs(beta=0.001))).errors
    LESSON.says("0.85", -errors[2].mean())


def test_the_answers():
    _, _, gold = next(widget.run(Knobs(hack=0.9))).sweep
    assert (np.diff(gold) >= 0).all() and hacking.best_price(REF, 0.9) == 0
