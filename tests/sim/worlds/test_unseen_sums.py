"""Sums that the start of a run has never seen."""

import numpy as np
import pytest

from sim.worlds import tasks, unseen_sums


def test_sixty_sums_were_seen_and_forty_were_not():
    assert sorted([*unseen_sums.SEEN, *unseen_sums.UNSEEN]) == list(range(100)) and len(unseen_sums.UNSEEN) == 40
    assert np.isin(
        unseen_sums.demonstrations(500, np.random.default_rng(0))[0][:, [0, 2]] @ [10, 1], unseen_sums.SEEN
    ).all()


def test_a_demonstration_is_the_sum_except_for_the_share_that_is_off_by_one_to_three():
    prompt, tokens, mask = unseen_sums.demonstrations(4_000, np.random.default_rng(0))
    ended = (tokens == tasks.EOS).any(axis=1)
    texts = tasks.Add().answers(tokens, mask, ended)
    off = np.abs([int(text.removeprefix("Final: ")) for text in texts] - prompt[:, 0] - prompt[:, 2])
    assert ended.all() and off.max() == 3
    assert (off > 0).mean() == pytest.approx(unseen_sums.OFF, abs=0.02)


def test_the_start_knows_what_it_has_seen_and_guesses_the_rest():
    rates = tasks.exact_pass(unseen_sums.start())
    assert rates[unseen_sums.SEEN].mean() == pytest.approx(0.81, abs=0.02)
    assert np.median(rates[unseen_sums.UNSEEN]) < 0.03


def test_every_sum_is_in_a_batch_as_often_as_the_others_with_its_groups_side_by_side():
    few = unseen_sums.Few(np.array([31, 44, 87, 95]))
    np.testing.assert_array_equal(few.batch_prompts(8, None), [31, 31, 44, 44, 87, 87, 95, 95])
    np.testing.assert_array_equal(few.batch_prompts(4, None), [31, 44, 87, 95])
    assert few.exact(unseen_sums.start())["pass_rate"].shape == (4,)


def test_what_is_no_number_is_a_question_mark():
    class Batch:
        tokens = np.array(
            [
                [tasks.FINAL, 1, 2, tasks.EOS, *[tasks.PAD] * 4],
                [tasks.FINAL, 7, tasks.EOS, *[tasks.PAD] * 5],
                [tasks.FINAL, 1, 2, 3, tasks.EOS, *[tasks.PAD] * 3],
                [1, 2, tasks.EOS, *[tasks.PAD] * 5],
                [tasks.HMM] * 8,
            ]
        )
        response_mask = (tokens != tasks.PAD).astype(float)
        finished = np.array([True, True, True, True, False])

    assert unseen_sums.written(Batch) == ["12", "7", "?", "?", "?"]


@pytest.mark.when_changed()
def test_the_shipped_start_is_what_fitting_the_demonstrations_gives():
    shipped, made = (tasks.exact_pass(policy) for policy in (unseen_sums.start(), unseen_sums.fitted()))
    assert np.abs(shipped - made).max() < 0.02 and all(
        np.array_equal(array, array.astype(np.float32)) for array in unseen_sums.start().params.values()
    )
