import numpy as np
import pytest

from sim.estimators import step_labels
from sim.estimators.step_labels import AGREE, ANY, MORE, PEOPLE, SHARE
from sim.worlds import step_chain

V1, V0 = 0.62913688, 0.18543156  # after three of eight steps, sound 0.9 and rescued 0.05


def test_any_of_four_finds_most_sound_steps_and_passes_most_flawed_ones():
    assert step_labels.any_rates(np.array([V1, V0]), 4) == pytest.approx([0.9811, 0.5597], abs=1e-4)


def test_more_than_a_quarter_of_sixteen_parts_them():
    # binomial: 1 less the chances of 0 to 4 right endings
    assert step_labels.more_than_rate(V1, 16, 0.25) == pytest.approx(0.9977, abs=1e-4)
    assert step_labels.more_than_rate(V0, 16, 0.25) == pytest.approx(0.1601, abs=1e-4)


def test_more_than_none_of_them_is_any():
    assert step_labels.more_than_rate(V1, 5, 0.0) == pytest.approx(step_labels.any_rates(V1, 5), abs=1e-12)
    assert step_labels.more_than_rate(V1, 10, 0.3) == step_labels.more_than_rate(V1, 10, 0.35)


def test_the_best_number_of_endings():
    assert step_labels.best_K(V1, V0) == pytest.approx(2.0032, abs=1e-3)

    def youden(K):
        return step_labels.any_rates(V1, K) - step_labels.any_rates(V0, K)

    assert youden(2.0032) > max(youden(1.9), youden(2.1))
    assert step_labels.best_K(0.5, 0.0) == np.inf


@pytest.fixture(scope="module")
def drawn():
    soundness, _ = step_chain.chains(4_000, 8, 0.9, 0.05, np.random.default_rng(0))
    return soundness, step_chain.chain_values(8, 0.9, 0.05)


def made(drawn, rule, K, part=0.25):
    soundness, V = drawn
    return step_labels.labels(soundness, V, rule, K, part, np.random.default_rng(1))


def test_any_of_many_calls_most_flawed_steps_good(drawn):
    soundness = drawn[0]
    few, many = (made(drawn, ANY, K)[0] for K in (2, 16))
    assert few[~soundness].mean() < 0.25 and many[~soundness].mean() > 0.6
    third = ~soundness[:, 2]
    assert many[third, 2].mean() == pytest.approx(step_labels.any_rates(V0, 16), abs=0.02)


def test_a_share_says_in_the_mean_how_often_endings_are_right(drawn):
    soundness, V = drawn
    share, kept = made(drawn, SHARE, 16)
    assert share.mean() == pytest.approx(step_chain.values_of(soundness, V).mean(), abs=0.01) and kept.all()


def test_more_than_a_part_is_strictly_more(drawn):
    right = made(drawn, SHARE, 4)[0] * 4
    assert (made(drawn, MORE, 4, 0.25)[0] == (right > 1)).all()


def test_a_person_errs_one_time_in_twenty_whatever_the_endings(drawn):
    said, _ = made(drawn, PEOPLE, 1)
    assert (said != drawn[0]).mean() == pytest.approx(0.05, abs=0.006)


def test_where_both_have_to_agree_the_label_is_that_of_both(drawn):
    said, kept = made(drawn, AGREE, 8)
    assert (said == made(drawn, ANY, 8)[0])[kept].all() and 0.7 < kept.mean() < 0.9
