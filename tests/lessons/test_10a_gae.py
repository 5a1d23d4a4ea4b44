"""The numbers of the lesson on GAE, recomputed."""

from functools import partial

import numpy as np
import pytest

from sim.estimators import advantages, chain_credit, step_credit
from sim.experiments import long_answer
from tests.lessons.prose import Lesson
from widgets.gae import figures, widget

LESSON = Lesson("10a")
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


# --- tests
def kept(words, optimizer="SGD"):
    return LESSON.kept(f"{words}, {optimizer}")


def test_the_four_tokens_by_hand():
    value, reward = np.array([[0.2, 0.4, 0.5, 0.7]]), np.array([[0.0, 0, 0, 1]])
    by_lam = {lam: long_answer.credit(reward, value, lam, 1.0)[0][0] for lam in (0.0, 0.5, 1.0)}
    assert by_lam[0.0] == pytest.approx([0.2, 0.1, 0.2, 0.3])  # the surprises of the table
    assert "| **surprise**, $\\delta$ | 0.2 | 0.1 | 0.2 | 0.3 |" in LESSON.text
    assert by_lam[1.0][0] == pytest.approx(0.8) and by_lam[0.5][0] == pytest.approx(0.3375)
    LESSON.says("0.34", by_lam[0.5][0])


def test_what_reaches_the_first_token():
    assert "$5.6\\cdot10^{-23}$" in LESSON.text and f"{0.95**999:.1e}" == "5.6e-23"
    LESSON.says("0.38", long_answer.reach(0.95, 20))
    LESSON.says("0.0062", long_answer.reach(0.95, 100))
    assert long_answer.reach(0.95, 15) < 0.5 < long_answer.reach(0.95, 14) and "halved within 15 tokens" in LESSON.text


def test_a_thousand_tokens_over_twenty_seeds():
    LESSON.says("45.0", kept("1,000 tokens, λ 0.95").mean())
    assert abs(kept("1,000 tokens, λ 0.95") - 45).max() < 0.05
    LESSON.says("78.3", kept("1,000 tokens, λ 1").mean())
    LESSON.says("69.6", kept("1,000 tokens, λ 0.95", "AdamW").mean())
    LESSON.says("78.2", kept("1,000 tokens, λ 0.95, whole return").mean())
    last_frame = widget_end(length=1000).last
    assert 0.5e-6 < last_frame.size[0] < 2e-6 and "is a millionth in the last update" in LESSON.text
    assert figures.arrived("the other", 60) == 466 and "the first 466 tokens" in LESSON.text


def widget_end(**knobs):
    *_, result = widget.run(widget.Knobs(**knobs))
    return result


@LESSON.when_changed
def test_in_400_tokens_the_news_arrives_late():
    first = np.array([frame.size[0] for frame in widget_end(length=400).frames])
    assert 43 <= int(np.argmax(first >= 0.02)) + 1 <= 48 and "after some forty-five updates" in LESSON.text
    assert (kept("400 tokens, λ 0.95") > 50).all() and abs(kept("400 tokens, λ 0.95").mean() - 52) < 0.5


def test_a_critic_that_has_its_error_everywhere_biases_nothing():
    for lam in (0.0, 0.5, 1.0):
        assert chain_credit.bias_and_variance(*CHAIN, lam, 0.0, 0.3)[1] == pytest.approx(0, abs=1e-12)


def test_the_exact_chain():
    error = lambda lam, N, shrink: sum(chain_credit.squared_error(*CHAIN, lam, N, shrink))
    LESSON.says("0.0079", error(0.95, 512, 1.0))
    LESSON.says("0.00047", error(1.0, 512, 1.0))
    for number, lam in (("0.0520", 0.0), ("0.0436", 0.8), ("0.0578", 1.0)):
        LESSON.says(number, chain_credit.bias_and_variance(*CHAIN, lam)[2])
    least = [figures.GRID[figures.errors(N, 0.5).sum(axis=0).argmin()] for N in (1, 4, 16, 64)]
    assert least == pytest.approx([0.8, 0.95, 1.0, 1.0])


def test_vapo_s_lambda_carries_no_reward():
    assert [long_answer.length_adaptive(n) for n in (100, 1000, 10_000)] == pytest.approx([0.8, 0.98, 0.998])
    LESSON.says("0.0000000017", long_answer.reach(0.98, 1000))
    assert long_answer.reach(0.998, 10_000) == pytest.approx(2e-9, rel=0.05)  # exp(-1 / alpha) for ever longer answers


def test_a_hole_in_the_mask_as_verl_has_it():
    reward, value = np.array([[0.0, 0, 0, 1]]), np.array([[0.2, 0.4, 0.5, 0.7]])
    LESSON.says("0.785", advantages.gae(reward, value, np.array([[1.0, 0, 0, 1]]), 1, 0.95)[0][0, 0])


ROWS = {  # of the table, as they stand there
    "λ = 1, 1,000 tokens": "1,000 tokens, λ 1",
    "λ = 0.998, 1,000 tokens": "1,000 tokens, λ 0.998",
    "λ = 0.95, 1,000 tokens": "1,000 tokens, λ 0.95",
    "λ = 0.95, 1,000 tokens, whole return": "1,000 tokens, λ 0.95, whole return",
    "λ = 0.95, 400 tokens": "400 tokens, λ 0.95",
    "λ = 0.95, 100 tokens": "100 tokens, λ 0.95",
    "λ = 0, 100 tokens": "100 tokens, λ 0",
    "λ = 0, 100 tokens, whole return": "100 tokens, λ 0, whole return",
    "confused, λ = 0.95": "confused, λ 0.95",
    "confused, λ = 1": "confused, λ 1",
    "confused, λ = 0.95, whole return": "confused, λ 0.95, whole return",
    "the same, critic's rate 0.02": "confused, λ 0.95, whole return, rate 0.02",
}


def test_the_table_of_twenty_seeds():
    for row, words in ROWS.items():
        cells = []
        for optimizer in ("SGD", "AdamW"):
            values = kept(words, optimizer)
            cells.append(f"{values.mean():.1f} ± {values.std(ddof=1):.1f}")
        assert f"| {row} | {' | '.join(cells)} |" in LESSON.text, (row, cells)


def test_the_wrong_opinion_over_twenty_seeds():
    LESSON.says("2.5", kept("confused, λ 0.95, best way").mean())
    LESSON.says("50.2", kept("confused, λ 0.95").mean())
    LESSON.says("78.3", kept("confused, λ 1").mean())
    LESSON.says("75.0", kept("confused, λ 0.95, whole return").mean())
    assert kept("confused, λ 0.95, whole return, rate 0.02").max() < 53
    assert (kept("confused, λ 0.95, best way") < 10).all()
    assert (kept("confused, λ 0.95, best way", "AdamW") < 10).all()


def test_a_hole_in_the_mask_as_openrlhf_has_it():
    """Its experience_maker.py sets values to 0 under the mask and goes over the hole step by step."""
    delta, gathered = np.array([0 - 0.2, 0.0, 0.7, 1 - 0.7]), {}
    for lam in (0.95, 1.0):
        gathered[lam] = sum(lam**k * d for k, d in enumerate(delta))
    LESSON.says("0.689", gathered[0.95])
    LESSON.says("0.8", gathered[1.0])


def test_a_critic_that_expects_too_much_pushes_against_ending():
    """0.3 too much everywhere, 0.8 in place of 0.5: the ending token, and one after which ten more follow."""
    for lam, going_on in ((0.0, 0.0), (0.95, -0.3 * 0.95**10), (1.0, -0.3)):
        reward, value = np.zeros((1, 11)), np.full((1, 11), 0.8)
        reward[0, -1] = 0.5
        A = long_answer.credit(reward, value, lam, 1.0)[0][0]
        assert A[-1] == pytest.approx(-0.3) and A[0] == pytest.approx(going_on)


def clipped_value_loss(value, before, target, reach=0.5):
    """As `compute_value_loss` of verl 0.9.1 and `ValueLoss` of OpenRLHF 0.11.2 have it, of one token."""
    clipped = min(max(value, before - reach), before + reach)
    return 0.5 * max((value - target) ** 2, (clipped - target) ** 2)


def test_the_clip_of_the_value_loss_stops_a_value_on_its_way_to_its_return_and_nowhere_else():
    """By finite differences, from 0 with a return of 1."""
    for number, value in (("−0.6", 0.4), ("0", 0.6), ("−1.6", -0.6)):
        high, low = (clipped_value_loss(value + step, 0.0, 1.0) for step in (1e-5, -1e-5))
        LESSON.says(number, (high - low) / 2e-5)
    batches = lambda target: int(np.ceil(target / 0.5))
    assert batches(1) == 2 and "at most two batches" in LESSON.text
    LESSON.says("20", batches(10))


def test_the_critic_of_the_page_moves_too_little_for_that_clip():
    """Its returns lie between 0 and 1, and so do its values."""
    values = np.array([frame.values for frame in widget_end(lam=1.0, length=20).frames])
    moved = np.abs(np.diff(values, axis=0, prepend=0)).max()
    assert moved <= widget.Knobs().rate == 0.3 and values.min() >= 0 and values.max() <= 1


def test_values_by_nine_completions_of_each_prefix():
    LESSON.says("0.17", np.sqrt(0.5 * 0.5 / 9))  # binomial
    LESSON.says("72", 8 * 9)
    LESSON.says("40.5", step_credit.prefix_tokens(8, 9))
