"""Ten losses on the same pairs, as the page shows them."""

import numpy as np
import pytest

from sim.estimators.preference_losses import NAMES
from widgets.dpo import widget as dpo
from widgets.dpo.widget import PRESETS, SURE, Knobs


def result(k):
    (r,) = dpo.run(k)
    return r


def breaks(k):
    return dpo.broken(k, result(k))


def end(k):
    return float(result(k).course.wins[-1])


@pytest.mark.when_changed()
def test_every_offered_loss_trains_and_differs_from_the_others():
    # at a price of 5 none of them leaves the map
    ends = [end(Knobs(loss=loss, beta=5.0)) for loss in dpo.LOSSES if loss != "robust"]
    assert len({round(wins, 4) for wins in ends}) == len(ends)


def test_robust_dpo_equals_dpo_without_label_flips_and_differs_with_flips():
    assert end(Knobs(loss="robust")) == pytest.approx(end(Knobs()), abs=1e-9)
    assert end(Knobs(loss="robust", flip=0.2)) != pytest.approx(end(Knobs(flip=0.2)), abs=0.01)


def test_the_reward_model_of_the_page_is_that_of_lesson_15():
    # 200 pairs of seed 0 with a ridge of .1: scipy's BFGS has (0.91769388, 0.65780316)
    assert result(Knobs()).model == pytest.approx([0.91769388, 0.65780316], abs=1e-6)


def test_dpo_ends_at_the_reward_model_s_optimum_for_every_kl_price_that_it_reaches():
    for seed in range(6):
        r = result(Knobs(seed=seed))
        assert r.course.wins[-1] == pytest.approx(r.there.wins, abs=0.003)
        assert r.course.kl[-1] == pytest.approx(r.there.kl, rel=0.02)


def test_a_dearer_nat_changes_the_distance_and_not_the_loss():
    near, far = result(Knobs(beta=1.0)).course, result(Knobs()).course
    assert near.loss[-1] == pytest.approx(far.loss[-1], abs=1e-4)
    assert near.kl[-1] == pytest.approx(far.kl[-1] * 0.4**2, rel=0.01)
    assert dpo.GUESS.answers[dpo.GUESS.right] == "at the same value"


def test_sure_labels_with_some_turned_round_are_not_called_unanimous():
    k = Knobs(labels=SURE, flip=0.05, beta=0.2)
    verdict = breaks(k)
    assert (
        verdict.cause == dpo.CERTAIN
        and "Every label" not in verdict.why
        and "Of 200 labels, 5 name the worse one" in verdict.why
    )
    assert (
        "Every label names the better one, and every pair asks for a larger margin"
        in breaks(PRESETS["Sure labels"]).why
    )


def test_what_no_single_change_mends_has_no_single_cause():
    k = Knobs(loss="SimPO", beta=0.1, labels=SURE, bias=1.5)
    assert breaks(k).cause == dpo.MIXED


def test_chance_can_be_named_as_the_cause_of_a_break():
    assert breaks(Knobs(n=10, seed=5)).cause == dpo.FEW
    assert breaks(Knobs(flip=0.3, n=50, seed=16)).cause == dpo.TURNED


def test_a_run_is_worse_if_five_hundredths_below_the_default_or_below_its_own_best():
    peak, behind = Knobs(beta=0.2), Knobs(loss="IPO")
    assert "0.75 at step 40" in dpo.worse(peak, result(peak))
    assert "DPO at β = 0.4 reaches 0.79" in dpo.worse(behind, result(behind))
    assert dpo.worse(Knobs(beta=0.1), result(Knobs(beta=0.1))) is None  # broken is said already


def test_the_losses_of_trl_are_called_by_their_names():
    assert {name for name, _ in dpo.LOSSES.values()} == {*NAMES, "kto"}


def test_the_preference_map_is_drawn_as_people_see_it():
    x, y, gold = dpo.ground()
    # gold is concave with its peak at quality 5 and length 1; its mean there is 1 · 5 − .1 · 25 + 1 − .5 less −.6
    at = np.unravel_index(gold.argmax(), gold.shape)
    assert abs(y[at[0]] - 5) < 0.75 and abs(x[at[1]] - 1) < 0.75
    assert gold.max() == pytest.approx(3.6, abs=0.1)
    panels = {panel["title"]: panel for panel in dpo.figure(Knobs(), result(Knobs()))}
    ground, path, _, goal, ring = panels["Where the policy writes"]["data"]
    assert (np.array(ground["z"]).min(), np.array(ground["z"]).max()) == (-6, gold.max())
    assert (path["x"][-1], path["y"][-1]) == pytest.approx((ring["x"][0], ring["y"][0]))
    assert (goal["x"][0], goal["y"][0]) == pytest.approx((ring["x"][0], ring["y"][0]), abs=0.03)


def test_only_dpo_is_compared_with_the_reward_model_at_its_price():
    def curves(k):
        return [mark["name"] for panel in dpo.figure(k, result(k)) for mark in panel["data"]]

    assert "reward model, same β" in curves(Knobs())
    assert "reward model, same β" not in curves(Knobs(loss="IPO"))
    values = {r.label: r.value for r in dpo.readouts(Knobs(loss="IPO"), result(Knobs(loss="IPO")))}
    assert values["Win rate of the reward model, same β"] == "–"


def test_a_note_says_when_a_run_has_left_the_map():
    for k, left in ((PRESETS["SimPO, cpo_alpha 0"], True), (Knobs(beta=0.4), False)):
        assert ("off the map" in dpo.figure(k, result(k))[0]["note"]) == left
