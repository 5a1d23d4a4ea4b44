from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

from sim.estimators import length_bias
from tests.widgets import catalogue
from widgets import dr_grpo
from widgets.dr_grpo import Knobs

last = partial(catalogue.last, dr_grpo)
panel = partial(catalogue.panel, dr_grpo)


def test_the_token_mean_does_not_trip_the_break_and_one_over_the_length_does():
    assert dr_grpo.broken(Knobs(), last()) is None
    found = dr_grpo.broken(Knobs(divisor="1/|o|"), last(divisor="1/|o|"))
    assert "true gradient is 0" in found.why and found.mend == "Divide the tokens by: constant."


def test_one_over_the_length_trips_it_before_the_twentieth_update():
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
    assert dr_grpo.broken(Knobs(groups=1), last(groups=1)).mend == "Prompts a batch: 16."


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


def test_noise_of_a_thousandth_spends_grpos_entropy_and_leaves_dr_grpo_alone():
    with_it, without = last(divisor="1/|o|", noise=1e-3), last(divisor="constant", std=False, noise=1e-3)
    assert dr_grpo.entropy_left(with_it) < 0.75 and dr_grpo.entropy_left(without) > 0.99
    found = dr_grpo.broken(Knobs(divisor="1/|o|", noise=1e-3), with_it)
    assert (
        "noise of 0.001" in found.why and found.mend == "Divide by the deviation: off. Divide the tokens by: constant."
    )
    assert dr_grpo.broken(Knobs(divisor="constant", std=False, noise=1e-3), without) is None


def test_the_start_of_the_model_moves_with_its_knobs():
    assert last(h=0.5).lengths.right[0, 0] == pytest.approx(2, abs=1e-6) and last(p=0.6).lengths.pass_rate[
        0, 0
    ] == pytest.approx(0.6)
    assert (last(seed=1).lengths.right[:, -1] != last().lengths.right[:, -1]).all()


@pytest.mark.parametrize("noise", [0.0, 1e-2])
def test_the_run_on_noise_keeps_pace_with_the_lengths(noise):
    with patch.object(dr_grpo, "NOISE_SEEDS", 1):
        seen = list(dr_grpo.run(k := Knobs(noise=noise)))
    pictures = [1, *range(15, 151, 15)]
    assert [dr_grpo.progress(k, r)[1] for r in seen] == pictures
    assert [[len(frames) for frames in r.noise] for r in seen] == [[n] * bool(noise) for n in pictures]
