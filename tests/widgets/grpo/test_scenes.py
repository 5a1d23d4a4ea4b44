"""The pictures of lesson 11 show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.estimators import group_baselines
from tests.widgets import catalogue
from tests.widgets.catalogue import marks
from tools.pages import results
from widgets.frame.drawing import trays
from widgets.grpo import figures, widget
from widgets.grpo.widget import Knobs

HOPELESS = "almost never right"


def drawn(panel):
    """Tones and checks of the completions, (rows, 16) each."""
    (cells,) = marks(panel, "trays")
    return [np.array(each) for each in zip(*(zip(*row) for row in cells["groups"]))]


def frames(panel):
    """(groups, live ones) that are framed."""
    seen = [mark for mark in marks(panel, "frame") if mark["seen"]]
    return len(seen), sum(mark["live"] for mark in seen)


@pytest.mark.parametrize("setting", figures.SETTINGS)
def test_the_trays_are_the_batches_of_the_run(setting):
    for update in figures.UPDATES:
        panel, batch = figures.in_groups(setting, update)[0], figures.batch_of(setting, update)
        tones, right = drawn(panel)
        np.testing.assert_array_equal(right, batch.right)
        groups = batch.right.reshape(-1, figures.SIZE_OF[setting])
        alike = groups.all(axis=1) | ~groups.any(axis=1)
        np.testing.assert_array_equal((tones.reshape(groups.shape) == 0).all(axis=1), alike)
        assert frames(panel) == (len(groups), (~alike).sum())


def test_both_settings_begin_with_the_same_answers_and_push_the_right_one_unlike():
    plain, other = (figures.batch_of(setting, 1) for setting in figures.SETTINGS)
    np.testing.assert_array_equal(plain.right, other.right)
    assert plain.right.sum() == 1
    assert (plain.advantage.max(), other.advantage.max()) == pytest.approx((3.75, 1.5), abs=1e-4)


def test_a_ring_stands_only_where_every_answer_is_wrong():
    for setting in figures.SETTINGS:
        for update in figures.UPDATES:
            panel = figures.in_groups(setting, update)[0]
            (ring,) = marks(panel, "ring")
            assert ring["seen"] == (not drawn(panel)[1].any())
    last = {setting: marks(figures.in_groups(setting, 60)[0], "ring")[0]["seen"] for setting in figures.SETTINGS}
    assert last == dict(zip(figures.SETTINGS, (False, True)))


def test_the_run_that_is_shown_is_a_typical_one_of_the_instrument():
    """Its first batch where ▶ rests, at the end, has as many right answers as its pass rate says within one row."""
    for setting, knobs in zip(figures.SETTINGS, (widget.OPENING.plain, widget.OPENING.other)):
        batch, runs = figures.batch_of(setting, 60), catalogue.last(widget, **vars(knobs)).pass_rate
        assert batch.pass_rate == pytest.approx(runs[1, -1])
        assert abs(batch.right.sum() - 64 * batch.pass_rate) <= 2
        assert sum(abs(rate - batch.pass_rate) < 0.02 for rate in runs[:, -1]) >= 2


def test_the_sentence_says_what_is_drawn():
    for panels, sentence, _ in results.positions("grpo", "opening"):
        right = int(drawn(panels[0])[1].sum())
        words = {0: "all 64 answers are wrong", 1: "one answer is right"}
        assert words.get(right, f"{right} of 64 answers are right") in sentence


def test_the_arrows_of_a_group_are_its_advantages():
    for right in range(figures.SIZE + 1):
        arrows = {mark["key"]: mark["length"] / figures.UNIT for mark in marks(figures.group(right)[0], "arrow")}
        R = np.array([1.0] * right + [0.0] * (figures.SIZE - right))
        A, s = R - R.mean(), R.std(ddof=1)
        assert arrows["up3"] == pytest.approx(A[0] if right else 0)
        assert arrows["down4"] == pytest.approx(A[-1] if right < figures.SIZE else 0)
        assert arrows["up6"] == pytest.approx(A[0] / s if 0 < right < figures.SIZE else 0, abs=1e-4)
        assert arrows["down7"] == pytest.approx(A[-1] / s if 0 < right < figures.SIZE else 0, abs=1e-4)
        tones, checks = drawn(figures.group(right)[0])
        assert checks.sum() == right and (tones == 0).all() == (right in (0, figures.SIZE))


def test_the_same_answers_stand_in_groups_of_every_size_and_as_many_are_live_as_expected_within_one():
    for n in figures.OF_64:
        for words, K in zip(figures.SHOWN.values(), figures.SHOWN):
            panel = figures.resized(words, n)[0]
            assert (drawn(panel)[1] == figures.answers(n)).all() and drawn(panel)[1].sum() == n
            many, live = frames(panel)
            p = n / 64
            assert many == 64 // K and abs(live - many * (1 - p**K - (1 - p) ** K)) <= 1
            assert figures.compared(words, n).startswith(f"{live} of {many} groups live")


def test_the_arrow_of_the_step_is_as_long_as_the_exact_one_and_the_ring_where_it_alone_grows():
    ringed = set()
    for n in figures.OF_64:
        for words, K in zip(figures.SHOWN.values(), figures.SHOWN):
            panel = figures.resized(words, n)[0]
            (step,) = [mark for mark in marks(panel, "arrow") if mark["key"] == "sm"]
            exact = group_baselines.share_of_gradient(n / 64, K, group_baselines.z_score)
            assert step["length"] == pytest.approx(figures.STEP * exact)
            if any(ring["seen"] for ring in marks(panel, "ring")):
                ringed.add((n, K))
                in_group, in_pair = (
                    group_baselines.signal_to_noise_per_completion(n / 64, size, group_baselines.less_mean)
                    for size in (K, 2)
                )
                assert in_group < 1.1 * in_pair
    assert (1, 16) in ringed and not any(n == 32 or K == 2 for n, K in ringed)


@pytest.mark.parametrize("name", widget.PRESETS)
def test_the_leading_panel_is_the_last_batch_of_the_run_in_the_middle(name):
    k = widget.PRESETS[name]
    result = catalogue.last(widget, **vars(k))
    panel = widget.figure(k, result)[0]
    ends = result.pass_rate[:, -1]
    assert ends[widget.middle(result.pass_rate)] == np.median(ends)
    right = drawn(panel)[1]
    assert right.shape == (4, 16) and frames(panel)[0] == 64 // min(k.K, 16)
    for shown, every in zip(right, result.batch[0]):
        assert abs(shown.sum() - 16 * every.mean()) <= 1
        assert trays.mixed(shown) >= (trays.mixed(every) and k.K > 16)
    (ring,) = marks(panel, "ring")
    assert ring["seen"] == (not result.batch[0].any())


def test_where_nothing_is_right_the_break_is_ringed_in_the_trays():
    k = Knobs(K=4, prompts=HOPELESS)
    result = catalogue.last(widget, **vars(k))
    at = widget.seen_at(k, result, widget.broken(k, result).cause)
    assert at.panel == widget.GROUPS and marks(widget.figure(k, result)[0], "ring")[0]["words"] == at.words
