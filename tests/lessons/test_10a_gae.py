"""The lesson on GAE: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import advantages, chain_credit, step_credit
from sim.experiments import long_answer
from tests.lessons import spreads
from widgets.gae import figures, widget

EXPENSIVE = "ended", "arrived"
kept = partial(spreads.values, "10a_gae")
CHAIN = (8, 0.5, 5)


def last(length, lam, optimizer, seed, target=None, opinion=long_answer.NOTHING, rate=0.3):
    *_, frame = long_answer.run(length, lam, lam if target is None else target, opinion, rate, optimizer, seed)
    return frame


def right(length, lam, optimizer, seed, **critic):
    return 100 * long_answer.right(last(length, lam, optimizer, seed, **critic).policy)


def best(length, lam, optimizer, seed, **critic):
    return 100 * last(length, lam, optimizer, seed, **critic).policy[long_answer.BEST]


CONFUSED = dict(opinion=long_answer.CONFUSED, rate=0.05)
MEASURED = {
    f"{words}, {optimizer}": partial(of, length, lam, optimizer, **critic)
    for optimizer in ("SGD", "AdamW")
    for words, of, length, lam, critic in (
        ("1,000 tokens, λ 1", right, 1000, 1.0, {}),
        ("1,000 tokens, λ 0.95", right, 1000, 0.95, {}),
        ("1,000 tokens, λ 0.998", right, 1000, 0.998, {}),
        ("1,000 tokens, λ 0.95, whole return", right, 1000, 0.95, dict(target=1.0)),
        ("400 tokens, λ 0.95", right, 400, 0.95, {}),
        ("100 tokens, λ 0.95", right, 100, 0.95, {}),
        ("100 tokens, λ 0", right, 100, 0.0, {}),
        ("100 tokens, λ 0, whole return", right, 100, 0.0, dict(target=1.0)),
        ("confused, λ 0.95", right, 100, 0.95, CONFUSED),
        ("confused, λ 0.95, best way", best, 100, 0.95, CONFUSED),
        ("confused, λ 1", right, 100, 1.0, CONFUSED),
        ("confused, λ 0.95, whole return", right, 100, 0.95, CONFUSED | dict(target=1.0)),
        ("confused, λ 0.95, whole return, rate 0.02", right, 100, 0.95, CONFUSED | dict(target=1.0, rate=0.02)),
    )
}


def by_hand(lam):
    """Advantages of the four tokens of the table."""
    reward, value = np.array([[0.0, 0, 0, 1]]), np.array([[0.2, 0.4, 0.5, 0.7]])
    return long_answer.credit(reward, value, lam, 1.0)[0][0]


surprises, all_four = by_hand(0.0), by_hand(1.0)


@cache
def ended(**knobs):
    *_, result = widget.run(widget.Knobs(**knobs))
    return result


def first_push(**knobs):
    """The mean advantage of the first token, update by update."""
    return np.array([frame.size[0] for frame in ended(**knobs).frames])


def arrives_after(**knobs):
    """Updates until the news is at the first token."""
    return np.argmax(first_push(**knobs) >= 0.02) + 1


def error(lam):
    """Of 512 answers, with a critic that knows nothing."""
    return sum(chain_credit.squared_error(*CHAIN, lam, 512, 1.0))


def noise(lam):
    return chain_credit.bias_and_variance(*CHAIN, lam)[2]


def best_lam(N):
    return figures.GRID[figures.errors(N, 0.5).sum(axis=0).argmin()]


def stepping_over(lam):
    """The first token's advantage before a hole in the mask, as verl has it."""
    reward, value = np.array([[0.0, 0, 0, 1]]), np.array([[0.2, 0.4, 0.5, 0.7]])
    return advantages.gae(reward, value, np.array([[1.0, 0, 0, 1]]), 1, lam)[0][0, 0]


def through_the_hole(lam):
    """The same as OpenRLHF's experience_maker.py has it: values are 0 under the mask, and each step counts."""
    return sum(lam**k * delta for k, delta in enumerate([0 - 0.2, 0.0, 0.7, 1 - 0.7]))


def clipped_value_loss(value, before, target, reach=0.5):
    """As `compute_value_loss` of verl 0.9.1 and `ValueLoss` of OpenRLHF 0.11.2 have it, of one token."""
    clipped = min(max(value, before - reach), before + reach)
    return 0.5 * max((value - target) ** 2, (clipped - target) ** 2)


def value_slope(value):
    """By finite differences, from 0 with a return of 1."""
    high, low = (clipped_value_loss(value + step, 0.0, 1.0) for step in (1e-5, -1e-5))
    return (high - low) / 2e-5


def test_the_value_clip_is_flat_where_a_value_is_on_its_way_to_its_return():
    assert value_slope(0.6) == pytest.approx(0, abs=1e-9)


def test_in_400_tokens_some_of_the_news_is_used_in_every_seed():
    assert (kept("400 tokens, λ 0.95, SGD") > 50).all()
    assert abs(kept("1,000 tokens, λ 0.95, SGD") - 45).max() < 0.05


def test_a_critic_that_has_its_error_everywhere_biases_nothing():
    for lam in (0.0, 0.5, 1.0):
        assert chain_credit.bias_and_variance(*CHAIN, lam, 0.0, 0.3)[1] == pytest.approx(0, abs=1e-12)


def test_the_more_answers_the_higher_the_best_lam():
    assert best_lam(64) == best_lam(16) == 1


def test_for_ever_longer_answers_vapos_rule_carries_the_same():
    assert long_answer.reach(0.998, 10_000) == pytest.approx(2e-9, rel=0.05)  # exp(-1 / alpha)


def test_at_lam_1_a_hole_in_the_mask_changes_nothing():
    assert stepping_over(1.0) == pytest.approx(through_the_hole(1.0))


def test_who_follows_a_confused_critic_ends_without_the_best_way():
    for optimizer in ("SGD", "AdamW"):
        assert (kept(f"confused, λ 0.95, best way, {optimizer}") < 10).all()


def test_a_critic_that_expects_too_much_pushes_against_ending():
    """0.3 too much everywhere, 0.8 in place of 0.5: the ending token, and one after which ten more follow."""
    for lam, going_on in ((0.0, 0.0), (0.95, -0.3 * 0.95**10), (1.0, -0.3)):
        reward, value = np.zeros((1, 11)), np.full((1, 11), 0.8)
        reward[0, -1] = 0.5
        A = long_answer.credit(reward, value, lam, 1.0)[0][0]
        assert A[-1] == pytest.approx(-0.3) and A[0] == pytest.approx(going_on)


def test_the_critic_of_the_page_moves_too_little_for_that_clip():
    """Its returns lie between 0 and 1, and so do its values."""
    values = np.array([frame.values for frame in ended(lam=1.0, length=20).frames])
    moved = np.abs(np.diff(values, axis=0, prepend=0)).max()
    assert moved <= widget.Knobs().rate == 0.3 and values.min() >= 0 and values.max() <= 1
