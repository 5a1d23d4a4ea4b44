"""The pictures of lesson 11 show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.estimators import group_baselines
from tests.widgets import catalogue
from tests.widgets.catalogue import marks
from tools.pages import results
from widgets.frame.drawing import sum_groups
from widgets.grpo import figures, widget
from widgets.grpo.widget import Knobs

HARD = "almost never correct"


def drawn(panel):
    """Roles and pushes of the answers, (sums, 16) each."""
    rows = [mark["cells"] for mark in marks(panel, "answers")]
    return [np.array(each) for each in zip(*([[c[1] for c in row], [c[2] for c in row]] for row in rows))]


def correct(panel):
    return drawn(panel)[0] == "hit"


def frames(panel):
    """(groups, live ones) that are framed."""
    seen = [mark for mark in marks(panel, "frame") if mark["seen"]]
    return len(seen), sum(mark["live"] for mark in seen)


def rings(panel):
    return [mark for mark in marks(panel, "ring") if mark["seen"]]


@pytest.mark.parametrize("setting", figures.SETTINGS)
def test_the_squares_are_the_batches_of_the_run(setting):
    for update in figures.UPDATES:
        panel, batch = figures.in_groups(setting, update)[0], figures.batch_of(setting, update)
        roles, pushes = drawn(panel)
        np.testing.assert_array_equal(roles == "hit", batch.right)
        texts = [[cell[0] for cell in mark["cells"]] for mark in marks(panel, "answers")]
        np.testing.assert_array_equal(texts, batch.answers)
        groups = batch.right.reshape(-1, figures.SIZE_OF[setting])
        alike = groups.all(axis=1) | ~groups.any(axis=1)
        np.testing.assert_array_equal((roles.reshape(groups.shape) == "mute").all(axis=1), ~groups.any(axis=1))
        np.testing.assert_array_equal(pushes.reshape(groups.shape) != "", groups & ~alike[:, None])
        assert frames(panel) == (len(groups), (~alike).sum())


def test_all_runs_begin_with_the_same_answers_and_push_the_correct_one_by_the_size_of_its_group():
    first, *others = (figures.batch_of(setting, 1) for setting in figures.SETTINGS)
    assert all((first.answers == other.answers).all() for other in others) and first.right.sum() == 1
    assert [batch.advantage.max() for batch in (first, *others)] == pytest.approx([3.75, 1.5, 1.5], abs=1e-4)
    pushes = [drawn(figures.in_groups(setting, 1)[0])[1] for setting in figures.SETTINGS]
    assert [set(each.ravel()) for each in pushes] == [{"", "↑3.75"}, {"", "↑1.5"}, {"", "↑1.5"}]


def test_a_ring_stands_only_where_every_answer_is_wrong():
    for setting in figures.SETTINGS:
        for update in figures.UPDATES:
            panel = figures.in_groups(setting, update)[0]
            assert bool(rings(panel)) == (not correct(panel).any())
    last = {setting: bool(rings(figures.in_groups(setting, 60)[0])) for setting in figures.SETTINGS}
    assert last == dict(zip(figures.SETTINGS, (False, True, False)))


def test_a_mark_is_named_once():
    for setting in figures.SETTINGS:
        for update in figures.UPDATES:
            panel = figures.in_groups(setting, update)[0]
            notes = [mark["text"] for mark in marks(panel, "word") if mark["key"].endswith("w") and mark["text"]]
            assert len(notes) == len(set(notes))
            assert (sum_groups.PUSHED in notes) == (drawn(panel)[1] != "").any()


def test_the_run_that_is_shown_is_one_of_the_simulator_and_ends_near_its_mean():
    for setting, knobs in zip(figures.SETTINGS, (widget.OPENING.plain, widget.OPENING.other)):
        batch, runs = figures.batch_of(setting, 60), catalogue.last(widget, **vars(knobs)).pass_rate
        assert batch.pass_rate == pytest.approx(runs[figures.SEED, -1])
        assert abs(batch.right.sum() - 64 * batch.pass_rate) <= 2
        assert abs(batch.pass_rate - runs[:, -1].mean()) < 0.07


def test_the_sentence_says_what_is_drawn():
    for panels, sentence, _ in results.positions("grpo", "opening"):
        right, (many, live) = int(correct(panels[0]).sum()), frames(panels[0])
        assert f"{right} of 64 answers" in sentence or not live
        assert f"{live} of {many} groups" in sentence or (live == 0 and f"None of the {many} groups" in sentence)


def test_the_arrows_of_a_group_are_its_advantages():
    for right in range(figures.SIZE + 1):
        arrows = {mark["key"]: mark["length"] / figures.UNIT for mark in marks(figures.group(right)[0], "arrow")}
        R = np.array([1.0] * right + [0.0] * (figures.SIZE - right))
        A, s = R - R.mean(), R.std(ddof=1)
        assert arrows["up5"] == pytest.approx(A[0] if right else 0)
        assert arrows["down6"] == pytest.approx(A[-1] if right < figures.SIZE else 0)
        assert arrows["up9"] == pytest.approx(A[0] / s if 0 < right < figures.SIZE else 0, abs=1e-4)
        assert arrows["down10"] == pytest.approx(A[-1] / s if 0 < right < figures.SIZE else 0, abs=1e-4)
        roles, pushes = drawn(figures.group(right)[0])
        assert (roles == "hit").sum() == right and (pushes == "").all() == (right in (0, figures.SIZE))


def test_the_same_answers_stand_in_groups_of_every_size_and_as_many_are_live_as_expected_within_one():
    for n in figures.OF_64:
        for words, K in zip(figures.SHOWN.values(), figures.SHOWN):
            panel = figures.resized(words, n)[0]
            assert (correct(panel) == figures.outcome(n)).all() and correct(panel).sum() == n
            many, live = frames(panel)
            p = n / 64
            assert many == 64 // K and abs(live - many * (1 - p**K - (1 - p) ** K)) <= 1
            assert figures.compared(words, n).startswith(f"{live} of {many} groups")


def test_the_wrong_answers_of_a_figure_are_wrong():
    assert "12" not in {*figures.GUESSES, *figures.guesses().ravel()}


def test_the_arrow_of_the_step_is_as_long_as_the_exact_one():
    for n in figures.OF_64:
        for words, K in zip(figures.SHOWN.values(), figures.SHOWN):
            (step,) = [mark for mark in marks(figures.resized(words, n)[0], "arrow") if mark["key"] == "sm"]
            exact = group_baselines.share_of_gradient(n / 64, K, group_baselines.z_score)
            assert step["length"] == pytest.approx(figures.STEP * exact)


@pytest.mark.parametrize("name", widget.PRESETS)
def test_the_leading_panel_is_the_last_batch_of_the_run_in_the_middle(name):
    k = widget.PRESETS[name]
    result = catalogue.last(widget, **vars(k))
    panel = widget.figure(k, result)[0]
    ends = result.pass_rate[:, -1]
    assert ends[widget.middle(result.pass_rate)] == np.median(ends)
    right = correct(panel)
    assert right.shape == (4, 16) and frames(panel)[0] == 64 // min(k.K, 16)
    for shown, every in zip(right, result.batch[1]):
        assert abs(shown.sum() - 16 * every.mean()) <= 1
        assert sum_groups.mixed(shown, 16).any() >= (sum_groups.mixed(every, every.size).any() and k.K > 16)
    assert bool(rings(panel)) == (not result.batch[1].any())


@pytest.mark.parametrize("K", [4, 64])
def test_where_nothing_is_correct_the_break_is_ringed_in_the_answers(K):
    k = Knobs(K=K, prompts=HARD)
    result = catalogue.last(widget, **vars(k))
    at = widget.seen_at(k, result, widget.broken(k, result).cause)
    ringed = rings(widget.figure(k, result)[0])
    assert (at.panel == widget.GROUPS) == bool(ringed)
    assert all(at.words == ring["words"] for ring in ringed)
