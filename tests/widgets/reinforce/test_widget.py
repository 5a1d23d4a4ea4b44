from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pytest

from sim.estimators.gradient_noise import LOGITS, REWARD, best_baseline, two_answer_noise
from tests.widgets import catalogue
from tests.widgets.catalogue import fixed
from widgets.reinforce import widget as reinforce
from widgets.reinforce.widget import HIGH, OFF, Knobs

last = partial(catalogue.last, reinforce)
one = partial(catalogue.last, reinforce, seeds=1)


def panel(title, **knobs):
    """A panel of the default run, drawn as under these knobs."""
    return catalogue.panel(reinforce, title, last(), **knobs)


def test_without_a_baseline_the_runs_learn_and_equal_the_reference_runs():
    own, bare = reinforce.ends(last())
    assert own == bare < 3 and last().wrong[0, :, 0] == pytest.approx(67.1, abs=0.1)


def test_a_distant_constant_ends_with_more_wrong_than_at_the_start():
    assert reinforce.ends(last(offset=10.0))[0] > last().wrong[0, 0, 0]


@pytest.mark.parametrize(
    "knobs, cause",
    [
        (dict(baseline="leave-one-out"), HIGH),
        (dict(baseline="batch mean"), HIGH),
        (dict(offset=10.0, baseline="group mean"), HIGH),
        (dict(offset=-1.0), HIGH),
        (dict(baseline="constant", constant=1.0), HIGH),
        (dict(baseline="constant", constant=10.0), OFF),
        (dict(offset=2.0), OFF),
        (dict(offset=2.0, baseline="constant", constant=-1.0), OFF),
    ],
)
def test_the_cause_depends_on_the_total_offset_and_its_fix_leads_to_the_plain_run(knobs, cause):
    k = Knobs(**knobs)
    assert reinforce.cause(k) == cause
    assert reinforce.plain(fixed("reinforce", k, reinforce.fix(k)))


@pytest.mark.when_changed()
def test_only_the_difference_between_baseline_constant_and_added_reward_counts():
    np.testing.assert_allclose(
        one(offset=2.0, baseline="constant", constant=2.5).wrong[0], one(baseline="constant", constant=0.5).wrong[0]
    )
    assert reinforce.plain(Knobs(offset=10.0, baseline="constant", constant=10.0))


@pytest.mark.when_changed()
def test_a_mean_makes_constants_harmless():
    np.testing.assert_allclose(
        one(offset=10.0, baseline="group mean").wrong, one(baseline="group mean").wrong, atol=1e-6
    )


@pytest.mark.when_changed()
def test_small_steps_are_worse_but_not_broken_by_the_baseline():
    slow = dict(learning_rate=0.005, baseline="group mean")
    assert reinforce.broken(Knobs(**slow), one(**slow)) is None
    assert "The default run ends below 3" in reinforce.worse(Knobs(**slow), one(**slow))


@pytest.mark.when_changed()
def test_the_plain_runs_have_all_knobs_but_the_baseline_and_what_is_added():
    np.testing.assert_array_equal(one(K=2, baseline="group mean").wrong[1], one(K=2).wrong[0])


def test_the_dots_stand_where_the_sums_are_on_the_curve_in_force():
    for knobs in (dict(), dict(baseline="group mean"), dict(baseline="constant", constant=2.0)):
        (dots,) = [m for m in panel("Noise of one sample, two answers", **knobs)["data"] if m["mode"] == "markers"]
        p = np.array(dots["x"])
        assert len(p) == 10 and (np.diff(p) >= 0).all() and p[0] > 0.8
        b = p if knobs.get("baseline") == "group mean" else knobs.get("constant", 0.0)
        np.testing.assert_allclose(dots["y"], np.maximum(two_answer_noise(p, b), 1e-6))


def test_with_two_answers_no_baseline_and_the_mean_change_places_at_two_thirds():
    none, mean = (np.array(m["y"]) for m in panel("Noise of one sample, two answers")["data"][:2])
    p = reinforce.P
    below, above = (p > 0.01) & (p < 0.66), (p > 0.67) & (p < 0.97)
    assert (mean[below] < none[below]).all() and (mean[above] > none[above]).all()


def test_the_noise_grows_with_the_distance_from_the_best_baseline():
    noise = np.array(panel("Noise by constant baseline")["data"][0]["y"])
    far = np.abs(reinforce.CONSTANTS - best_baseline(LOGITS, REWARD))
    assert (np.diff(noise[np.argsort(far)]) > -1e-12).all()
    signal = [reinforce.needed(Knobs(), offset) for offset in (0.0, 1.0, 5.0, 10.0)]
    assert signal == sorted(signal)
    assert len({round(reinforce.needed(Knobs(baseline="batch mean"), offset), 9) for offset in (-2.0, 0.0, 10.0)}) == 1


def test_a_baseline_changes_the_spread_of_the_estimates_and_not_their_mean():
    calm, wild = (panel("Progress along the gradient", offset=offset)["data"] for offset in (0.0, 10.0))
    assert calm[-1]["x"] == pytest.approx(wild[-1]["x"])
    assert np.ptp(wild[0]["x"]) > 5 * np.ptp(calm[0]["x"])


def test_the_guess_is_answered_by_a_run_that_holds():
    guess = reinforce.GUESS
    own, bare = reinforce.ends(last(**asdict(guess.knobs)))
    assert 3 < own < 4 and 2.4 < bare < 2.7 and guess.answers[guess.right] == "about 3.5"
    assert reinforce.broken(guess.knobs, last(**asdict(guess.knobs))) is None


@pytest.mark.when_changed()
def test_a_run_is_judged_at_its_end():
    knobs, result = Knobs(offset=10.0), one(offset=10.0)
    early = replace(result, wrong=result.wrong[:, :, :3])
    assert reinforce.broken(knobs, early) is None and reinforce.broken(knobs, result) is not None
