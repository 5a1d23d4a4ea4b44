"""Four ways to choose prompts, as the page shows them."""

from dataclasses import replace

import numpy as np
import pytest

from sim.experiments.curation import NEVER
from widgets.curation import widget as curation
from widgets.curation.widget import AGAIN, LIST, PREDICTED, PRESETS, RANDOM, Knobs


def result(k):
    (r,) = curation.run(k)
    return r


def breaks(k):
    return curation.broken(k, result(k))


def panels(k):
    return {p["title"]: p for p in curation.figure(k, result(k))}


def readings(k):
    return {r.label: r.value for r in curation.readouts(k, result(k))}


def test_random_prompts_are_zero_ahead_of_themselves():
    assert curation.ahead(Knobs(), result(Knobs())) == 0
    assert readings(Knobs())["Rollouts spent on tries"] == 0


def test_the_gray_run_does_not_look_at_the_list():
    one, other = (
        result(Knobs(way=LIST, tries=tries, keep=keep)) for tries, keep in ((2, NEVER), (32, "not solved always"))
    )
    np.testing.assert_array_equal(one.plain.solved, other.plain.solved)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_preset_has_the_same_verdict_at_every_seed(preset, seed):
    k = PRESETS[preset]
    reseeded = breaks(replace(k, seed=seed))
    assert (reseeded and reseeded.cause) == (breaks(k) and breaks(k).cause)


def test_an_outdated_prompt_list_is_mended_by_renewing_it():
    assert breaks(Knobs(way=LIST)).fix["renew"] == "20000"


def test_discarded_groups_that_do_not_break_the_run_make_it_worse():
    k = Knobs(way=AGAIN)
    assert breaks(k) is None and "with prompts at random" in curation.worse(k, result(k))


def test_a_pool_that_is_too_hard_is_said_to_pay_for_nothing():
    k = Knobs(mean=8.0)
    dead = 100 - readings(k)["Groups with both verdicts"]
    assert curation.worse(k, result(k)).startswith(f"{dead:.0f} % of the groups had one verdict")


def test_a_budget_that_is_all_asking_says_no_more_than_there_was():
    k = Knobs(way=LIST, tries=32, budget=60_000, mean=0.0)
    assert readings(k)["Rollouts spent on tries"] == 60_000 and breaks(k).cause == curation.ASKED
    assert len(breaks(k).why) <= 150 and readings(k)["Optimizer steps"] == 0


def test_the_curve_by_optimizer_step_has_as_many_points_as_there_were_steps():
    k = Knobs(way=LIST, budget=60_000)
    _, own = panels(k)["Pool solved, by optimizer step"]["data"]
    assert own["x"][-1] == readings(k)["Optimizer steps"] == (60_000 - 32_000 + 511) // 512


def test_the_pass_rate_bars_contain_all_prompts():
    for bar in panels(Knobs(way=PREDICTED))["Prompts of the pool, by pass rate"]["data"]:
        assert sum(bar["y"]) == pytest.approx(100)


def test_the_threshold_stands_ten_points_below_the_end_of_random_prompts():
    k = Knobs(way=LIST)
    (line,) = [s for s in panels(k)["Pool solved"]["layout"]["shapes"] if s["name"] == "threshold"]
    assert line["y0"] == pytest.approx(readings(k)["Pool solved at random"] - 10)


def test_the_guess_is_answered_by_the_run():
    k = curation.GUESS.knobs
    assert f"{readings(k)['Pool solved at random']:.0f} %" in curation.GUESS.question and breaks(k) is None
    for seed in range(8):
        end = readings(replace(k, seed=seed))["Pool solved at the end"]
        assert min((14, 20, 27), key=lambda answer: abs(answer - end)) == 27


def test_the_opening_is_the_list_against_random_prompts():
    plain, other = curation.OPENING.plain, curation.OPENING.other
    assert (plain.way, other.way) == (RANDOM, LIST) and breaks(other).cause == curation.STALE
