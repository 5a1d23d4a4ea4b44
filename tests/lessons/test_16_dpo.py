"""The numbers of the lesson on DPO, recomputed."""

import re
from functools import cache
from urllib.parse import parse_qsl

import numpy as np
import pytest

from sim.estimators import bradley_terry
from sim.experiments import direct_preference
from tests.lessons.prose import Lesson, agrees
from tests.sim.estimators.test_preference_losses import losses
from widgets.dpo import widget as dpo
from widgets.dpo.widget import SURE, Knobs
from widgets.frame import values

LESSON = Lesson("16")


@cache
def result(**knobs):
    (r,) = dpo.run(Knobs(**knobs))
    return r


def course(**knobs):
    return result(**knobs).course


def test_every_link_turns_knobs_that_are_there():
    for query in re.findall(r'\(#dpo\)\{ data-knobs="([^"]+)" \}', LESSON.text):
        values.knobs_from(Knobs, dict(parse_qsl(query)))


def test_the_opening_loses_three_of_four():
    sure, sampled = course(labels=SURE), course()
    assert sure.wins[-1] == pytest.approx(0.25, abs=0.05) and sure.loss[-1] < sampled.loss[-1]
    assert sampled.chosen[-1] < 0 and "three comparisons of four" in LESSON.text


def test_both_ways_end_at_the_same_place():
    r = result()
    LESSON.says("4.0", r.course.kl[-1])
    LESSON.says("4.0", r.there.kl)
    LESSON.says("0.794", r.course.wins[-1])
    LESSON.says("0.794", r.there.wins)


def test_winners_and_losers():
    run = direct_preference.train(dpo.world(), *dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0), "sigmoid", 0.4, every=1)
    assert run.chosen.argmax() == 8 and "for eight steps" in LESSON.text
    assert run.chosen[16] > 0 > run.chosen[20] and "At step 20" in LESSON.text
    LESSON.says("2.40", -run.chosen[-1])
    LESSON.says("5.07", -run.rejected[-1])
    assert round(np.exp(-run.chosen[-1])) == 11 and "eleven times rarer" in LESSON.text
    assert (np.diff(run.wins[:100]) > 0).all()  # "meanwhile the policy gets better"
    LESSON.says("23", 100 * run.off[-1])


def test_a_low_price():
    low, usual = course(beta=0.1), course()
    LESSON.says("0.745", low.wins.max())
    LESSON.says("36", low.step[low.wins.argmax()])
    LESSON.says("0.007", low.wins[-1])
    LESSON.says("0.478", low.loss[-1])
    LESSON.says("0.478", usual.loss[-1])


def test_sure_and_bent_labels_and_no_reference():
    LESSON.says("0.77", course(labels=SURE, loss="IPO", beta=0.1).wins[-1])
    assert 0.74 < course(labels=SURE, beta=1.0).wins[-1] < 0.77  # "nearly"
    bent = course(bias=1.0)
    LESSON.says("214", bent.tokens[-1])
    assert bent.tokens[-1] / bent.tokens[0] == pytest.approx(5, abs=0.1)
    free = course(loss="SimPO", beta=0.1)
    assert free.edge[-1] > 0.99
    LESSON.says("0.971", free.loss[0])
    LESSON.says("0.835", free.loss[-1])


def test_the_likelihood_term_of_trls_default_holds_simpo():
    # CPOConfig of TRL 1.16.0 has cpo_alpha=1.0; 0.0 is the run above
    labeled = dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0)
    held = direct_preference.train(dpo.world(), *labeled, "simpo", 0.1, every=400, gamma=0.5, cpo_alpha=1.0)
    LESSON.says("0.22", held.kl[-1])
    LESSON.says("0.62", held.wins[-1])
    assert held.edge[-1] < 1e-6


def test_with_plain_descent_simpo_hardly_moves():
    batch = direct_preference.Batch(dpo.world(), *dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0))
    options = dict(gamma=0.5, label_smoothing=0.0, length_normalize=False)
    theta = np.zeros(2)
    for _ in range(400):
        _, gradient = batch.pairs("simpo", theta, *batch.normalizer(theta), 0.1, options)
        theta = theta - direct_preference.LEARNING_RATE * gradient
    assert np.abs(theta).max() < 0.2


def test_twelve_pairs():
    for said, loss, beta in (("3.3", "DPO", 4.0), ("2.8", "IPO", 0.1)):
        LESSON.says(said, course(n=12, labels=SURE, beta=beta, loss=loss, steps=250).kl[-1])
    LESSON.says("5.0", course(n=12, labels=SURE, beta=4.0).kl[-1])
    LESSON.says("2.8", course(n=12, labels=SURE, beta=0.1, loss="IPO").kl[-1])
    other = [course(n=12, labels=SURE, seed=2, steps=steps).kl[-1] for steps in (250, 400)]
    assert other[1] < 1.05 * other[0]
    # by a line: all twelve differences lie on one side of some direction, or not
    for seed, parted in ((0, True), (2, False)):
        win, lose = dpo.pairs(SURE, 0.0, 12, 0.0, seed)
        difference = dpo.world().phi[win] - dpo.world().phi[lose]
        turn = np.linspace(0, 2 * np.pi, 3601)
        assert ((difference @ np.array([np.cos(turn), np.sin(turn)])).min(axis=0) > 0).any() == parted


def test_the_two_forms_of_ipo():
    LESSON.says("18.1", losses("ipo", 0.1)[0].mean())
    LESSON.says("22.0", losses("ipo", 0.1, length_normalize=True)[0].mean())


def test_the_fit_without_a_ridge():
    win, lose = dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0)
    run = direct_preference.train(dpo.world(), win, lose, "sigmoid", 0.4, 1600, 1600)
    assert 0.4 * run.theta[-1] == pytest.approx(bradley_terry.fit(dpo.world().phi, win, lose, lam=0.0), abs=1e-5)


ROWS = [
    ("DPO", "DPO", 0.4, 0.5),
    ("IPO", "IPO", 0.1, 0.5),
    ("hinge", "hinge", 0.4, 0.5),
    ("KTO", "KTO", 0.4, 0.5),
    ("BCO", "BCO", 0.4, 0.5),
    ("APO-zero", "APO-zero", 0.4, 0.5),
    ("DPO by token", "DPO by token", 5.0, 0.5),
    ("SimPO, margin 5", "SimPO", 10.0, 5.0),
    ("ORPO", "ORPO", 0.1, 0.5),
]


@cache
def trained(loss, beta, gamma, seed):
    return dpo.course(Knobs(loss=loss, beta=beta, gamma=gamma, seed=seed), 400)


def of(name, loss, beta, gamma=0.5):
    return lambda seed: getattr(trained(loss, beta, gamma, seed), name)[-1]


PRICES = [beta for beta in dpo.BETAS if beta >= 0.3]

MEASURED = {
    **{
        f"{named}, {words}": of(name, loss, beta, gamma)
        for named, loss, beta, gamma in ROWS
        for words, name in (("wins", "wins"), ("nats", "kl"), ("winners gained", "chosen"), ("tokens", "tokens"))
    },
    **{f"{loss} at {beta:g}, wins": of("wins", loss, beta) for loss in ("DPO", "DPO by token") for beta in PRICES},
}


kept = LESSON.kept


@pytest.mark.parametrize("named, beta", [(named, beta) for named, _, beta, _ in ROWS])
def test_the_table_of_losses(named, beta):
    (cells,) = re.findall(rf"^ *\| {re.escape(named)} \| {beta:g} \| (.*) \|$", LESSON.text, re.M)
    for said, words in zip(cells.split(" | "), ("wins", "nats", "winners gained", "tokens"), strict=True):
        agrees(said.removeprefix("+"), kept(f"{named}, {words}"))


def test_what_dividing_by_tokens_changes():
    of = lambda words: (kept(f"DPO by token, {words}"), kept(f"DPO, {words}"))
    (wins, plain), (short, long), (far, near) = map(of, ("wins", "tokens", "nats"))
    LESSON.counts("wins more in {} of twenty seeds", wins > plain)
    LESSON.counts("and writes shorter in {}", short < long)
    assert 3 < far.mean() / near.mean() < 4 and "over three times the KL" in LESSON.text


def test_the_best_price_of_each():
    for said, loss in (("0.74", "DPO"), ("0.82", "DPO by token")):
        LESSON.says(said, max(kept(f"{loss} at {beta:g}, wins").mean() for beta in PRICES))
