from dataclasses import replace
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from widgets.frame.reader import host
from widgets.what_rl_adds import widget
from widgets.what_rl_adds.widget import EXACT, SFT, Knobs

LAZY = dict(offset=10, baseline="none")


@cache
def result(**knobs):
    """The five completions alone: the language model is left out."""
    with patch.object(widget, "language_model", lambda k: iter([(0, 0.3, np.nan)])):
        (only,) = widget.run(Knobs(**knobs))
    return only


@cache
def language(**knobs):
    """The pass rates of the language model, at the first and the last picture."""
    seen = [pass_rate for _, pass_rate, _ in widget.language_model(Knobs(**knobs))]
    return seen[0], seen[-1]


def end(**knobs):
    return result(**knobs).J[-1].mean()


def is_broken(**knobs):
    return widget.broken(Knobs(**knobs), result(**knobs)) is not None


def test_every_run_of_the_default_begins_at_the_demonstrations_and_passes():
    assert result().J[0] == pytest.approx(0.3) and result().J[-1].min() > 0.98


@pytest.mark.parametrize("shown", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("learning_rate", [1.0, 3.0])
def test_imitation_ends_at_its_demonstrations_and_rl_does_not(shown, learning_rate):
    assert end(method=SFT, shown=shown, learning_rate=learning_rate) == pytest.approx(shown, abs=1e-4)
    assert end(shown=shown, learning_rate=learning_rate) > 0.99


def test_imitation_is_never_called_broken():
    assert not is_broken(method=SFT) and not is_broken(method=SFT, shown=0.0)


def test_the_exact_gradient_is_what_the_samples_scatter_about():
    assert end(method=EXACT) == pytest.approx(end(), abs=0.002)
    rough = np.abs(result().J - result(method=EXACT).J).max()
    fine = np.abs(result(samples=64).J - result(samples=64, method=EXACT).J).max()
    assert fine < rough / 2


@pytest.mark.parametrize("baseline", ["mean", "leave-one-out"])
def test_with_a_baseline_the_constant_has_no_effect(baseline):
    np.testing.assert_allclose(result(baseline=baseline, offset=10).J, result(baseline=baseline).J, atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_without_a_baseline_the_constant_breaks_every_seed_and_with_one_it_breaks_none(seed):
    assert widget.broken(Knobs(**LAZY, seed=seed), result(**LAZY, seed=seed)).cause == widget.CHANCE
    assert not is_broken(offset=10, seed=seed)


def test_the_larger_the_constant_the_more_runs_fail():
    failed = [
        np.mean([(result(baseline="none", offset=c, seed=seed).J[-1] < 0.5).mean() for seed in range(5)])
        for c in (0, 1, 3, 5, 10)
    ]
    assert failed == sorted(failed) and failed[:2] == [0, 0]
    assert failed[2] == pytest.approx(0.09, abs=0.09) and failed[4] == pytest.approx(
        0.62, abs=0.15
    )  # 0.09 and 0.62 of 200 runs; 3 standard errors of 100


def test_larger_steps_fail_more_often_still():
    mean = [np.mean([end(**LAZY, learning_rate=rate, seed=seed) for seed in range(5)]) for rate in (1.0, 3.0)]
    assert mean[1] < mean[0] < 0.5


def test_an_answer_never_sampled_is_never_learned_and_one_sampled_in_a_hundred_is():
    assert end(shown=0.0) == 0 and is_broken(shown=0.0, method=EXACT)
    assert end(shown=0.01) > 0.98 and not is_broken(shown=0.01)


def test_the_verdict_counts_right_answers_and_not_rewards():
    for seed in range(5):
        r = result(partial=1.0, seed=seed)
        assert r.J[-1].mean() > 0.99 and 0.6 < r.right[-1].mean() < 0.85  # paid, and right
        shown = {readout.label: readout.value for readout in widget.readouts(Knobs(partial=1.0), spoken(r))}
        assert shown["Final pass rate, mean over runs"] == r.right[-1].mean()
    assert result(partial=1.0, shown=0.1).J[-1].mean() > 0.9  # a preset that breaks


def spoken(r):
    return replace(r, language=[(0, 0.3)], sampled=[(0, np.nan)])


def test_partial_credit_pulls_a_rare_right_line_under():
    assert result(shown=0.01, partial=0.4).policies[-1, :, 3].mean() > 0.9
    assert result(partial=0.4).policies[-1, :, 0].mean() > 0.9


def test_more_completions_make_a_quieter_update_and_the_constant_a_louder_one():
    variance = [result(samples=N).variance for N in (2, 4, 8, 16, 32, 64)]
    assert variance == sorted(variance, reverse=True)
    assert result(**LAZY).variance == pytest.approx(81.8502 / 8)  # closed form of one sample, eight of them
    assert result(baseline="none").variance == pytest.approx(0.1302 / 8)
    assert result(baseline="mean").variance == pytest.approx((7 / 8) ** 2 * result().variance)


def test_the_first_update_shown_is_the_first_one_taken():
    for knobs in (dict(), LAZY, dict(method=SFT), dict(method=EXACT), dict(seed=3, learning_rate=0.3)):
        r, k = result(**knobs), Knobs(**knobs)
        shown = widget.figure(k, replace(r, language=[(0, 0.3)], sampled=[(0, np.nan)]))[2]["data"][1]["y"]
        np.testing.assert_allclose(shown, r.policies[1, 0], atol=1e-12)
        assert r.drawn.sum() == (0 if k.method in (SFT, EXACT) else k.samples)


@pytest.mark.when_changed()
def test_the_language_model_shows_the_same_contrast():
    start, trained = language()
    assert start == pytest.approx(0.3285, abs=1e-3) and trained > 0.8
    assert language(method=SFT)[1] == pytest.approx(
        0.33, abs=0.04
    )  # as good as its teachers, whose rate is .301, give or take smoothing
    assert language(**LAZY)[1] < start
    assert language(offset=10)[1] == pytest.approx(trained, abs=1e-6)


@pytest.mark.parametrize(
    "knobs, words",
    [
        (dict(partial=1.0), "its probability is"),
        (dict(learning_rate=0.03), "too few"),
        (dict(learning_rate=0.03, method=EXACT), "too few"),
        (dict(baseline="none", offset=3), "2 of 20 runs end with a pass rate below 0.5"),
    ],
)
def test_a_setting_that_is_damaged_but_not_broken_is_worse(knobs, words):
    assert not is_broken(**knobs) and words in widget.worse(Knobs(**knobs), spoken(result(**knobs)))


def test_a_language_model_that_sinks_is_worse_though_the_small_runs_hold():
    knobs = dict(baseline="none", offset=1)
    done = replace(result(**knobs), language=[(0, 0.33), (60, language(**knobs)[1])])
    assert "language model ends at" in widget.worse(Knobs(**knobs), done)
    assert widget.worse(Knobs(**knobs), spoken(done)) is None  # while it still trains


@pytest.mark.parametrize("knobs", [{}, dict(method=EXACT), dict(method=SFT), dict(offset=10), dict(shown=0.01)])
def test_a_setting_that_holds_is_neither_worse_nor_broken_and_says_where_it_ends(knobs):
    k, r = Knobs(**knobs), spoken(result(**knobs))
    assert widget.broken(k, r) is None and widget.worse(k, r) is None
    assert f"{r.right[-1].mean():.{2 if k.method == SFT else 3}f}" in widget.holds(k, r)


@pytest.mark.parametrize(
    "knobs, cause",
    [
        (dict(baseline="none", offset=1, shown=0.01, learning_rate=0.03), widget.RARE),  # with a baseline it fails too
        (dict(baseline="none", offset=10, shown=0.01, partial=1.0), widget.SEVERAL),  # each is enough by itself
        (dict(baseline="none", offset=10, partial=0.5), widget.CHANCE),
        (dict(shown=0.01, learning_rate=0.3), widget.RARE),
        (dict(baseline="mean", samples=2, learning_rate=0.03, seed=1), widget.SMALL),  # none of the others is there
    ],
)
def test_of_several_faults_the_one_is_named_that_mends_when_it_alone_is_undone(knobs, cause):
    assert widget.broken(Knobs(**knobs), result(**knobs)).cause == cause


def test_imitation_at_its_ceiling_is_no_damage():
    for shown in (0.0, 0.1, 0.9):
        k, r = Knobs(method=SFT, shown=shown), spoken(result(method=SFT, shown=shown))
        assert widget.worse(k, r) is None and "a ceiling" in widget.holds(k, r)
    slow = dict(method=SFT, learning_rate=0.03)
    assert "on its way" in widget.holds(Knobs(**slow), spoken(result(**slow)))


def test_the_guess_is_answered_by_a_run():
    guess = widget.GUESS
    ends = result(baseline="none").right[-1]
    assert guess.answers[guess.right] == "all 20" and (ends > 0.5).sum() == 20
    sentence = guess.told(guess.knobs, spoken(result(baseline="none")))
    assert sentence.startswith("20 of 20") and f"{ends.mean():.3f}" in sentence


def test_the_first_tab_holds_the_line_below_which_a_run_has_failed():
    first = next(host.stream("what_rl_adds"))
    assert first.index("has failed") < first.index('"One run"') < first.index('"Language model"')


@pytest.mark.when_changed()
def test_the_language_model_is_the_one_that_is_chosen_and_the_five_completions_do_not_change():
    window, transformer = Knobs(), Knobs(policy="transformer")
    assert language()[0] == pytest.approx(0.329, abs=1e-3) and language(policy="transformer")[0] == pytest.approx(
        0.305, abs=1e-3
    )
    assert np.array_equal(result(policy="transformer").policies, result().policies)
    (titled,) = [
        panel["title"]
        for panel in widget.figure(transformer, result(policy="transformer"))
        if panel["tab"] == "Language model"
    ]
    assert titled == "A transformer on sums of two digits" and widget.broken(window, result()) is None
