"""The lesson on reward and reference: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.algorithms import dr_grpo
from sim.estimators import hacking
from sim.experiments import kl_anchor, running_batch
from sim.experiments.standard_runs import add_run
from sim.worlds import modsum, tasks, tinylm
from sim.worlds.scorer import score
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.reward_and_reference import widget
from widgets.reward_and_reference.widget import ALIAS, Knobs

kept = partial(spreads.values, "03_reward_and_reference")

REF, PAY = hacking.reference(0.15), hacking.proxy(1.5)
best_price = hacking.best_price(REF, 1.5)
rare_hack = hacking.optimum(hacking.reference(0.001), PAY, 0.3)
collapsed = hacking.optimum(REF, PAY, 0.001)
start = tasks.exact_pass(tasks.checkpoint("add")).mean()
lowest = kept("price 0.3, least of the first dozen updates")
log_ratio = (running_batch.drawn_logp(running_batch.later(100)) - running_batch.drawn_logp(modsum.Policy())).sum(
    axis=1
)  # of each row of the running batch, a hundred updates later


def odds(mass):
    """Of the hack against the right answer, under the reference."""
    ref = hacking.reference(mass)
    return ref[4] / ref[0]


def k3_logged(n):
    """The KL of the collapsed policy as k3 shows it, from n completions."""
    return hacking.sampled_kl(collapsed, REF, n, 100, np.random.default_rng(0)).mean(axis=1)[2]


def verdict(text):
    return score({"expected_answer": "12"}, text)


def points(**knobs):
    return lambda seed: catalogue.last(widget, **knobs, seed=seed).points


def ends(**knobs):
    return lambda seed: points(**knobs)(seed)[-1].gold


def far(**knobs):
    return lambda seed: points(**knobs)(seed)[-1].kl


@cache
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
    "its own reference, price 20": ends(reference=ALIAS, beta=20.0),
    "its own reference, nats": far(reference=ALIAS),
    "its own reference, nats by the log": lambda seed: points(reference=ALIAS)(seed)[-1].kl_logged,
    "hack 0.9, no price": ends(beta=0.0, hack=0.9),
    "hack 0.9, no price, after four updates": lambda seed: points(beta=0.0, hack=0.9)(seed)[1].gold,
    "hack 0.9, price 0.2": ends(beta=0.2, hack=0.9),
    "hack 0.5, no price": ends(beta=0.0, hack=0.5),
    "hack 0.5, no price, nats": far(beta=0.0, hack=0.5),
    "hack 0.5, no price, thoughts": lambda seed: thoughts(seed).mean(),
}


@cache
def far_and_right():
    """(batch, thoughts of each completion) of a run that goes more than 5 nats, with a hack paid 0.5."""
    seed = next(seed for seed, nats in zip(spreads.SEEDS, kept("hack 0.5, no price, nats")) if nats > 5)
    return last_batch(seed), thoughts(seed)


def earned_with_four_thoughts():
    batch, thought = far_and_right()
    return batch.reward[(thought == 4) & (batch.accuracy == 1)].mean()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Final: 12", "ok"),
        ("Final: 12 ", "ok"),
        ("Final:12", "bad_spacing"),
        ("Final: 012", "non_canonical_int"),
        ("Final: −12", "forbidden_char"),
        ("Final: 11 Final: 12", "extra_text"),
    ],
)
def test_a_verifier_names_its_reason(text, reason):
    assert verdict(text)["details"]["reason"] == reason


def test_right_rows_of_the_running_batch_become_likelier_and_wrong_ones_rarer():
    assert ((log_ratio > 0) == (running_batch.RIGHT > 0)).all()


def test_the_trained_model_falls_below_its_start_between_the_prices_05_and_03():
    assert (kept("price 0.5") > start).all() and (kept("price 0.3") < start).all()


def test_at_a_thousandth_every_completion_is_the_hack():
    assert kept("price 0.001, pay") == pytest.approx([1.5] * 20, abs=0.01)
    assert kept("price 0.001, nats by the log") == pytest.approx([1.9] * 20, abs=0.1)
    assert kept("its own reference, nats") == pytest.approx([1.9] * 20, abs=0.1)


def test_with_a_verifier_every_nat_is_learning_forgone():
    free, dear, dearest = (kept(f"verifier, price {beta}") for beta in (0.0, 0.3, 1.0))
    assert (free > dear).all() and (dear > dearest).all()


def test_where_every_completion_is_the_hack_a_correct_answer_earns_more_after_the_penalty_of_03():
    assert 1.5 - 0.3 * hacking.nats_to_reach(0.15) < 1


def test_training_meets_the_hack_first():
    assert 0.03 < kept("hack 0.9, no price, after four updates").mean() < 0.06  # "one in twenty or so"


def test_where_the_model_goes_farthest_it_thinks_and_in_the_three_nearest_it_does_not():
    far, thinks = kept("hack 0.5, no price, nats"), kept("hack 0.5, no price, thoughts")
    assert (thinks[far > 5] > 3).all() and (thinks[far < 2.5] < 0.5).all()


def test_nearly_every_completion_that_goes_far_thinks_for_three_to_five_tokens():
    _, thought = far_and_right()
    assert np.mean((thought >= 3) & (thought <= 5)) > 0.9
    assert 4 + len(["Final: ", "1", "2", "<eos>"]) == tasks.Add.T


def test_k3_is_as_wrong_at_the_collapsed_policy_however_many_completions_are_logged():
    assert k3_logged(16) == pytest.approx(k3_logged(4096), abs=1e-6)


def test_the_true_reward_never_turns_if_the_hack_pays_less_than_the_right_answer():
    _, _, gold = next(widget.run(Knobs(hack=0.9))).sweep
    assert (np.diff(gold) >= 0).all() and hacking.best_price(REF, 0.9) == 0
