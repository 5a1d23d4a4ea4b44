"""What each knob of the widget on GAE must do."""

from dataclasses import replace

import numpy as np
import pytest

from sim.estimators import chain_credit
from tests.widgets import catalogue
from widgets.gae import widget
from widgets.gae.widget import BELIEVED, FADES, TWO, WHOLE, Knobs

WAY_OFF = 0.02  # what the noise of 64 answers moves a share of 0.25 or a rate of 0.45 by, at most


def result(**knobs):
    k = replace(Knobs(), **knobs)
    return k, catalogue.results.last("gae", k)


def right(**knobs):
    return result(**knobs)[1].right[-1]


def verdict(**knobs):
    k, r = result(**knobs)
    break_ = widget.broken(k, r)
    return break_.cause if break_ else "worse" if widget.worse(k, r) else "holds"


def test_a_hundred_tokens_are_in_reach_of_095_and_a_thousand_are_not():
    assert right() > 0.75 and right(length=1000) == pytest.approx(0.45, abs=WAY_OFF)


@pytest.mark.parametrize("length", [20, 1000])
def test_at_lambda_1_the_length_is_no_matter(length):
    assert verdict(lam=1.0, length=length) == "holds"
    assert right(lam=1.0, length=length) == pytest.approx(right(lam=1.0), abs=0.01)


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_at_lambda_0_nothing_arrives_in_a_hundred_tokens_under_either_optimizer(optimizer):
    assert verdict(lam=0.0, optimizer=optimizer) == FADES


def test_adamw_divides_a_push_by_its_size_so_a_tiny_one_counts():
    assert verdict(length=1000, optimizer="AdamW") == "holds" and right(length=1000, optimizer="AdamW") > 0.68


def test_a_critic_that_learns_from_the_whole_return_brings_the_news_at_once():
    assert verdict(length=1000, target=WHOLE) == "holds" and verdict(lam=0.0, target=WHOLE) == "holds"


def test_a_wrong_opinion_takes_the_best_way_away_and_lambda_1_does_not_ask_for_it():
    confused = dict(opinion=TWO, rate=0.05)
    assert right(**confused) == pytest.approx(0.5, abs=WAY_OFF)
    assert verdict(**confused, lam=1.0) == "holds"


@pytest.mark.parametrize("rate, ends", [(0.0, BELIEVED), (0.02, BELIEVED), (0.05, "holds"), (0.3, "holds")])
def test_the_whole_return_corrects_the_opinion_in_time_only_where_the_critic_is_quick(rate, ends):
    assert verdict(opinion=TWO, rate=rate, target=WHOLE) == ends


def test_four_hundred_tokens_are_slow_at_095():
    assert verdict(length=400) == "worse" and right(length=400) < 0.55


def test_the_first_token_gets_lambda_to_the_tokens_between():
    k, r = result(length=40)
    assert r.frames[0].size[0] / r.frames[0].size[-1] == pytest.approx(0.95**39)
    values = {readout.label: readout.value for readout in widget.readouts(k, r)}
    assert values["Reward that reaches token 1 at once"] == pytest.approx(0.95**39)


def test_the_exact_chain_has_its_least_error_further_right_with_a_larger_batch():
    least = [widget.GRID[np.argmin(sum(widget.chain(N, 0.5)))] for N in (1, 4, 16, 512)]
    assert least == pytest.approx([0.8, 0.95, 1.0, 1.0])
    _, r = result(knows="perfect")
    np.testing.assert_allclose(r.squared_bias, 0, atol=1e-20)
    assert r.noise[20] == pytest.approx(chain_credit.bias_and_variance(8, 0.5, 5, 1.0)[2] / 16)


def test_the_seed_draws_other_answers():
    assert right(seed=1) != right() and right(seed=1) == pytest.approx(right(), abs=0.02)


def test_what_reaches_the_first_token_is_said_in_words():
    shares = [widget.share(Knobs(lam=lam, length=length)) for lam, length in ((0.0, 20), (0.95, 1000), (0.98, 100))]
    assert shares == ["nothing", "less than a thousandth", "0.14"]


def test_a_trainer_has_one_lambda_for_both():
    assert widget.methods(*result())["PPO"]["lam"] == 0.95
    assert widget.methods(*result(length=1000, target=WHOLE)) == {}
