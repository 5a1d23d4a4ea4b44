import random
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

from sim.estimators import length_bias
from tests.widgets import catalogue
from widgets.dr_grpo import widget as dr_grpo
from widgets.dr_grpo.widget import Knobs

last = partial(catalogue.last, dr_grpo)
panel = partial(catalogue.panel, dr_grpo)


def test_one_over_the_length_breaks_the_run_before_the_twentieth_update():
    lengths = last(divisor="1/|o|").lengths
    assert lengths.wrong[:, 20].mean() > 3 * lengths.right[:, 20].mean()  # 2.9 and 23.3 on another implementation


@pytest.mark.parametrize("std", [True, False])
def test_deleting_the_deviation_alone_does_not_mend_the_lengths(std):
    assert dr_grpo.apart(last(divisor="1/|o|", std=std)) > 30
    assert dr_grpo.apart(last(divisor="constant", std=std)) < 1.1


def test_an_answer_that_learns_leaves_the_effect():
    learned = last(divisor="1/|o|", answer_learns=True)
    assert learned.lengths.pass_rate[:, -1].mean() > 0.9 and dr_grpo.apart(learned) > 10


def test_the_bias_of_the_token_mean_is_one_of_small_batches():
    apart = [dr_grpo.apart(last(groups=groups)) for groups in (1, 4, 16, 64)]
    assert apart == sorted(apart, reverse=True) and apart[0] > dr_grpo.APART and apart[-1] < 1.1


@pytest.mark.parametrize("K, bent", [(2, False), (3, False), (4, True), (64, True)])
def test_with_two_or_three_completions_the_weight_of_a_prompt_is_flat(K, bent):
    weight = panel("Weight of a prompt", K=K)["data"][0]["y"]
    assert (np.ptp(weight) > 0.05) == bent


def test_without_the_deviation_every_prompt_weighs_the_same():
    assert np.ptp(panel("Weight of a prompt", std=False)["data"][0]["y"]) == 0
    truth = panel("Mean push on a prompt", std=False)["data"]
    np.testing.assert_allclose(truth[0]["y"], 7 / 8 * np.array(truth[1]["y"]), rtol=1e-12)


def test_the_expected_push_is_zero_with_a_constant_and_does_not_know_the_start_rate_of_wrong_or_right():
    drift = {
        divisor: dr_grpo.readouts(Knobs(divisor=divisor), last(divisor=divisor))[1].value
        for divisor in ("1/|o|", "token mean", "constant")
    }
    assert drift["constant"] == 0 < drift["token mean"] < drift["1/|o|"]
    assert length_bias.expected_drift(0.3, 0.1, 8, True, "1/|o|") == pytest.approx(
        length_bias.expected_drift(0.7, 0.1, 8, True, "1/|o|")
    )


WITH_BOTH, WITH_NEITHER = dict(divisor="1/|o|"), dict(divisor="constant", std=False)


@pytest.mark.when_changed()
def test_under_sgd_noise_of_a_thousandth_spends_grpos_entropy_and_leaves_dr_grpo_alone():
    both, neither = (dr_grpo.entropy_left(last(noise=1e-3, **kind)) for kind in (WITH_BOTH, WITH_NEITHER))
    assert both < 0.8 and neither > 0.99


@pytest.mark.when_changed()
def test_under_adamw_noise_spends_the_entropy_of_both_and_is_not_blamed_on_the_divisor():
    for kind in (WITH_BOTH, WITH_NEITHER):
        assert dr_grpo.entropy_left(last(noise=1e-3, optimizer="AdamW", **kind)) < 0.75
    assert dr_grpo.broken(Knobs(noise=1e-3), last(noise=1e-3)) is None


def test_over_both_optimizers_and_all_starts_a_constant_never_breaks_and_one_over_the_length_nearly_always():
    chance, breaks = random.Random(14), {divisor: [] for divisor in dr_grpo.FILES}
    for _ in range(24):
        knobs = {name: chance.choice(values) for name, values in GRID.items()}
        breaks[knobs["divisor"]].append(catalogue.broken(dr_grpo, **knobs) is not None)
    assert not any(breaks["constant"]) and np.mean(breaks["1/|o|"]) > 0.7


GRID = dict(
    divisor=("1/|o|", "token mean", "constant"),
    std=(True, False),
    optimizer=("SGD", "AdamW"),
    learning_rate=(0.5, 1.0, 3.0),
    K=(2, 8),
    groups=(1, 4, 16),
    p=(0.05, 0.3, 0.95),
    h=(0.05, 0.1, 0.5),
    answer_learns=(True, False),
)


def test_the_notes_name_the_optimizer_and_the_rate_that_each_run_was_given():
    knobs = dict(divisor="constant", optimizer="AdamW", learning_rate=3.0)
    notes = [p["note"] for p in dr_grpo.figure(Knobs(**knobs), last(**knobs))]
    assert sum("AdamW at 0.03" in note for note in notes) == 2 == sum("AdamW at 0.06" in note for note in notes)
    assert "SGD at 16" in panel("Length of wrong over correct answers", divisor="constant")["note"]


def test_the_start_of_the_model_moves_with_its_knobs():
    assert last(h=0.5).lengths.right[0, 0] == pytest.approx(2, abs=1e-6)
    assert last(p=0.6).lengths.pass_rate[0, 0] == pytest.approx(0.6)


@pytest.mark.parametrize("noise", [0.0, 1e-2])
def test_the_run_on_noise_keeps_pace_with_the_lengths(noise):
    with patch.object(dr_grpo, "NOISE_SEEDS", 1):
        updates_on_noise = [[len(frames) for frames in r.noise] for r in dr_grpo.run(Knobs(noise=noise))]
    assert updates_on_noise == [[n] * bool(noise) for n in (1, *range(15, 151, 15))]


def test_the_guess_is_answered_by_the_run_on_noise():
    guess = dr_grpo.GUESS
    r = last(**vars(guess.knobs))
    assert guess.answers[guess.right] == "below 85 %" and dr_grpo.entropy_left(r) < 0.85
    assert dr_grpo.broken(guess.knobs, r) is None


def test_the_weight_of_a_prompt_is_flat_in_pairs_and_without_the_deviation():
    assert dr_grpo.prompt_weight(Knobs(K=2)) == pytest.approx(1) == dr_grpo.prompt_weight(Knobs(std=False, K=64))


def test_the_verdict_says_nothing_grows_where_both_lengths_are_equal():
    for knobs, word in ((dict(divisor="constant"), "nothing grows"), (dict(learning_rate=3.0), "little grows")):
        assert word in dr_grpo.holds(Knobs(**knobs), last(**knobs))
