"""Each change is found where it was put, and nowhere in a run without it."""

import numpy as np
import pytest

from tests.rlpt.doctor import made

LENGTH, CUT = "completions/mean_length", "completions/clipped_ratio"
GAP = "sampling/sampling_logp_difference/mean"


def events(**given):
    return {event.kind: event for event in made.report(**given).events}


def after(value, usual=1.0, place=20, rows=40):
    return np.r_[np.full(place, usual), np.full(rows - place, value)]


@pytest.mark.parametrize(
    "name, beyond, short, kind",
    [
        (LENGTH, 20.1, 19.9, "completions longer"),  # of 10 at the beginning
        (LENGTH, 4.9, 5.1, "completions shorter"),
        ("entropy", 15.1, 14.9, "entropy rises"),
        ("entropy", 4.9, 5.1, "entropy falls"),
    ],
)
def test_a_change_against_the_beginning(name, beyond, short, kind):
    found = events(**{name: after(beyond, 10)})
    assert found[kind].step == 21 and found[kind].lasting
    assert kind not in events(**{name: after(short, 10)})


def test_a_change_that_does_not_last_is_none():
    values = np.full(40, 10.0)
    values[20:22] = 99
    assert "completions longer" not in events(**{LENGTH: values})


@pytest.mark.parametrize(
    "name, value, usual, kind",
    [
        ("frac_reward_zero_std", 0.6, 0.3, "most groups alike"),
        (CUT, 0.2, 0.1, "cut off"),
        ("grad_norm", 0.0, 1.0, "gradient 0"),
    ],
)
def test_a_share_or_a_gradient(name, value, usual, kind):
    assert events(**{name: after(value, usual)})[kind].step == 21
    assert kind not in events(**{name: np.full(40, usual)})


def test_an_entropy_that_is_gone_after_two_updates():
    entropy = np.r_[1, 0.6, 0.3, np.full(37, 0.3)]
    assert events(entropy=entropy)["entropy jumps"].step == 2
    entropy[2:] = np.linspace(0.9, 0.2, 38)
    assert "entropy jumps" not in events(entropy=entropy)


def test_a_kl_that_was_gained_in_two_updates_and_stays():
    length = {LENGTH: np.full(40, 100.0)}
    assert "KL jumps" in events(kl=np.r_[0, 0.02, np.full(38, 0.04)], **length)
    assert "KL jumps" not in events(kl=np.linspace(0, 0.04, 40), **length)
    noisy = np.r_[0, 0.02, 0.04, 0.0, 0.03, np.full(35, 0.02)]  # at first
    assert "KL jumps" not in events(kl=noisy, **length)
    assert "KL jumps" not in events(kl=np.full(40, 0.04), **length)  # there before the first update


def test_a_large_kl_is_measured_by_the_entropy_of_a_token():
    entropy = np.full(40, 0.5)
    assert events(kl=after(1.6, 0.1), entropy=entropy)["KL is large"].step == 21
    assert "KL is large" not in events(kl=after(1.4, 0.1), entropy=entropy)
    assert "KL is large" not in events(kl=after(2.9, 0.1))  # no entropy: of 1 nat


def test_a_kl_that_returns():
    values = np.r_[np.linspace(0, 2, 10), np.linspace(2, 0.1, 10), np.full(20, 0.02)]
    assert events(kl=values)["KL returns"].step == 10
    assert "KL returns" not in events(kl=np.linspace(0, 2, 40))


def test_a_spike_of_the_gradient_does_not_last():
    norm = np.full(40, 1.0)
    norm[30] = 11
    assert events(grad_norm=norm)["gradient spike"].step == 31
    assert not events(grad_norm=norm)["gradient spike"].lasting
    norm[30] = 9
    assert "gradient spike" not in events(grad_norm=norm)


def test_the_gap_before_any_update_and_later():
    assert events(**{GAP: np.full(40, 0.041)})["gap"].step == 1
    assert "gap" not in events(**{GAP: np.full(40, 0.039)})
    grown = np.r_[0.03, np.full(4, 9.0), np.full(35, 0.11)]  # rows 2 to 5 do not count
    assert events(**{GAP: grown})["gap grows"].step == 6
    grown[0] = 0.037  # of which 0.11 is less than three times
    assert "gap grows" not in events(**{GAP: grown})


def test_a_held_out_score_falls():
    score = np.r_[np.full(20, 0.6), np.full(20, 0.1)] + np.random.default_rng(0).normal(0, 0.02, 40)
    own = np.random.default_rng(1).random(40)
    found = events(reward=own, **{"rewards/a/mean": own, "rewards/b/mean": score})
    assert found["held-out score falls"].step == 21 and found["held-out score falls"].column == "rewards/b/mean"
    few = np.full(40, np.nan)
    few[[0, 13, 26, 39]] = 0.5, 0.5, 0.39, 0.39
    assert "held-out score falls" in events(**{"eval_rewards/b/mean": few})
    few[[26, 39]] = 0.41
    assert "held-out score falls" not in events(**{"eval_rewards/b/mean": few})


def test_events_stand_in_their_order_in_time():
    found = made.report(entropy=after(0.1, place=10), **{LENGTH: after(30, 10, place=5)}).events
    assert [event.kind for event in found][:2] == ["completions longer", "entropy falls"]
